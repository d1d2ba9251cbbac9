/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/profile/tracing_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/strings.h"
#include "analyze/load/frames.h"
#include "analyze/load/sample_kinds.h"
#include "analyze/load/stacks.h"

/* Starts of names, from kernels 5.10 to 7.2. */
static const char *const starts[] = {
	"bpf_prog_",
	"bpf_trace_run",
	"bpf_trampoline_",
	"__bpf_trace_",
	"__traceiter_",
	"__probestub_",
	"trace_call_bpf",
	"perf_trace_",
	"perf_syscall_",
	"perf_call_bpf_",
	"syscall_exit_work",
	"syscall_trace_enter",
	"syscall_exit_to_user",
	"trace_syscall_exit",
	"trace_syscall_enter",
	NULL,
};

/* Starts of names of the first function of an interrupt: of x86-64, of arm64. */
static const char *const interrupts[] = {
	"asm_sysvec_", "asm_common_interrupt", "el1h_64_irq", "el0t_64_irq",
	"el1_irq",     "el0_irq",	       NULL,
};

/* Samples of such kinds were taken every so often, by a clock or counter, as the name of their
 * count says (kinds.def); others by a program that the thread had called. */
int tracing_frames__note(struct load *l, const struct weight *sample)
{
	const struct named_kind *kind = sample_kinds__get(l->kinds, sample->kind);

	if (!strcmp(kind->name, "wakeup"))
		return stacks__mark(l->stacks, sample->stack, STACK_OF_WAKER);
	return strncmp(kind->count_name, "sample", 6)
		       ? 0
		       : stacks__mark(l->stacks, sample->stack, STACK_OF_CLOCK);
}

static bool begins(const char *name, const char *const *starts)
{
	for (; *starts; starts++)
		if (!strncmp(name, *starts, strlen(*starts)))
			return true;
	return false;
}

uint8_t *tracing_frames__classes(const struct load *l)
{
	size_t cnt = frames__function_cnt(l->frames);
	uint8_t *class = calloc(cnt + 1, sizeof(*class));

	for (size_t i = 0; class && i < cnt; i++) {
		const char *name = strings__get(l->strings, frames__function(l->frames, i)->name);

		class[i] = begins(name, starts)	      ? TRACING_PROGRAM
			   : begins(name, interrupts) ? TRACING_INTERRUPT
						      : TRACING_NONE;
	}
	return class;
}

/* Inlined calls are within the last frame. */
enum tracing_class tracing_frames__class(const struct load *l, const uint8_t *classes,
					 const struct location *at)
{
	const struct frame *f =
		at->frame_cnt ? frames__get(l->frames, at->first_frame + at->frame_cnt - 1) : NULL;

	return f && f->kind == FRAME_KERNEL ? classes[f->function] : TRACING_NONE;
}

static void drop_innermost(const struct load *l, const uint8_t *classes, struct stack *s)
{
	const struct location *locations = stacks__locations(l->stacks);
	uint32_t location, caller;

	while (s->kernel) {
		caller = stacks__caller(l->stacks, s->kernel, &location);
		if (tracing_frames__class(l, classes, &locations[location]) != TRACING_PROGRAM)
			break;
		s->kernel = caller;
	}
}

/* Of an interrupt, drops what it interrupted. path: scratch. */
static int drop_interrupted(struct load *l, const uint8_t *classes, uint32_t stack,
			    struct stack_path *path)
{
	struct stack s = stacks__get(l->stacks, stack);
	struct stack_step step, last;
	uint32_t node = 0;
	size_t from;

	if (stacks__walk(l->stacks, stack, path) < 0)
		return -ENOMEM;
	for (from = path->cnt; from > path->user_cnt; from--)
		if (tracing_frames__class(l, classes,
					  &stacks__locations(l->stacks)[path->v[from - 1].location]) ==
		    TRACING_INTERRUPT)
			break;
	if (from == path->user_cnt || from == 1)
		return 0;
	for (size_t i = from - 1; i < path->cnt && node != STACK_NO_NODE; i++) {
		const struct location *at = &stacks__locations(l->stacks)[path->v[i].location];

		step = (struct stack_step){.address = at->address, .binary = at->binary};
		stacks__step(l->stacks, node ? &last : NULL, &step);
		node = stacks__node(l->stacks, node, &step);
		last = step;
	}
	if (node != STACK_NO_NODE) {
		s.user = 0;
		s.kernel = node;
		stacks__set(l->stacks, stack, s);
	}
	return 0;
}

static int drop_all(struct load *l, const uint8_t *classes)
{
	struct stack_path path = {0};
	int err = 0;

	for (size_t i = 0; i < stacks__cnt(l->stacks) && !err; i++) {
		struct stack s = stacks__get(l->stacks, i);

		if (stacks__marked(l->stacks, i, STACK_OF_CLOCK))
			continue;
		drop_innermost(l, classes, &s);
		stacks__set(l->stacks, i, s);
		if (stacks__marked(l->stacks, i, STACK_OF_WAKER))
			err = drop_interrupted(l, classes, i, &path);
	}
	stack_path_fini(&path);
	return err;
}

int tracing_frames__drop(struct load *l)
{
	int err = 0;
	uint8_t *classes;

	for (size_t i = 0; i < weights__cnt(l->weights) && !err; i++)
		err = tracing_frames__note(l, weights__get(l->weights, i));
	if (err)
		return err;
	classes = tracing_frames__classes(l);
	if (!classes)
		return -ENOMEM;
	err = drop_all(l, classes);
	free(classes);
	return err;
}
