/* SPDX-License-Identifier: BSD-2-Clause */
/* The frames of the program that took a stack are dropped, but where they are what ran; of an interrupt
 * that woke a thread, those of whom it interrupted. */
#include "analyze/load/binaries.h"
#include "analyze/load/frames.h"
#include "analyze/load/stacks.h"
#include "analyze/profile/tracing_frames.h"
#include "format/text.h"
#include "check.h"

enum { KERNEL = 0xffff };
static const char *const names[] = {"main_of_thread", "try_to_wake_up", "bpf_trace_run1",
				    "bpf_prog_12ab_wakers", "asm_sysvec_reschedule_ipi"};

static uint64_t at(size_t name)
{
	return 0xffffffff81000000 + 0x100 * name;
}

/* A stack of those functions, from the root; the number. */
static uint32_t stack(struct load *l, uint32_t binary, const size_t *functions, size_t cnt)
{
	struct stack_step step[5];
	uint32_t node = 0;

	for (size_t i = 0; i < cnt; i++) {
		step[i] = (struct stack_step){.address = at(functions[i]) + 8, .binary = binary};
		stacks__step(l->stacks, i ? &step[i - 1] : NULL, &step[i]);
		node = stacks__node(l->stacks, node, &step[i]);
	}
	return stacks__add(l->stacks, (struct stack){.user = 0, .kernel = node});
}

static size_t depth(const struct load *l, uint32_t stack)
{
	struct stack_path p = {0};
	size_t cnt;

	CHECK(stacks__walk(l->stacks, stack, &p) >= 0);
	cnt = p.cnt;
	stack_path_fini(&p);
	return cnt;
}

int main(void)
{
	struct captures captures = {0};
	const struct symbolizer_opts opts = {0};
	struct load l = {0};
	uint32_t kernel, whole, taken, ran, all, interrupt, sampled;

	CHECK(!strings__new(&l.strings) && !binaries__new(&l.binaries, l.strings) &&
	      !stacks__new(&l.stacks) && !weights__new(&l.weights) &&
	      !frames__new(&l.frames, l.strings, l.binaries));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct rec_symbol s = {KERNEL, at(i), 0x100, span_of(names[i]), span_of("")};

		CHECK(!binaries__symbol(l.binaries, 0, &s));
	}
	kernel = binaries__find(l.binaries, 0, KERNEL);
	whole = stack(&l, kernel, (const size_t[]){0, 1}, 2);
	taken = stack(&l, kernel, (const size_t[]){0, 1, 2, 3}, 4);
	ran = stack(&l, kernel, (const size_t[]){1, 2, 3}, 3);
	all = stack(&l, kernel, (const size_t[]){2, 3}, 2);
	interrupt = stack(&l, kernel, (const size_t[]){0, 4, 1, 2, 3}, 5);
	sampled = stack(&l, kernel, (const size_t[]){0, 4, 1}, 3);
	CHECK(!stacks__mark(l.stacks, interrupt, STACK_OF_WAKER));
	CHECK(!stacks__mark(l.stacks, ran, STACK_OF_CLOCK));
	CHECK(!stacks__mark(l.stacks, taken, STACK_OF_EVENT), "another mark");
	CHECK(!frames__resolve(l.frames, l.stacks, &captures, &opts));
	CHECK(!tracing_frames__drop(&l));
	CHECK(depth(&l, whole) == 2, "without such frames: whole");
	CHECK(depth(&l, taken) == 2, "%zu frames", depth(&l, taken));
	CHECK(depth(&l, ran) == 3, "a sample of what ran: whole");
	CHECK(depth(&l, interrupt) == 2, "%zu frames", depth(&l, interrupt));
	CHECK(depth(&l, sampled) == 3, "an interrupt that is no waker: whole");
	CHECK(depth(&l, all) == 0, "nothing but such frames");
	frames__free(l.frames);
	weights__free(l.weights);
	stacks__free(l.stacks);
	binaries__free(l.binaries);
	strings__free(l.strings);
	return failed;
}
