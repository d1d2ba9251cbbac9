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

/* Samples of such kinds were taken every so often, by a clock or counter, as the name of their
 * count says (kinds.def); others by a program that the thread had called. */
int tracing_frames__note(struct load *l, const struct weight *sample)
{
	const char *name = sample_kinds__get(l->kinds, sample->kind)->count_name;

	return strncmp(name, "sample", 6) ? 0
					  : stacks__mark(l->stacks, sample->stack, STACK_OF_CLOCK);
}

/* By function. Malloc'ed. */
static bool *match(const struct load *l)
{
	size_t cnt = frames__function_cnt(l->frames);
	bool *is = calloc(cnt + 1, sizeof(*is));

	for (size_t i = 0; is && i < cnt; i++) {
		const char *name = strings__get(l->strings, frames__function(l->frames, i)->name);

		for (const char *const *s = starts; *s && !is[i]; s++)
			is[i] = !strncmp(name, *s, strlen(*s));
	}
	return is;
}

/* Whether the location is in such a function; inlined calls are within it. */
static bool is_tracing(const struct load *l, const struct location *at, const bool *is)
{
	const struct frame *f =
		at->frame_cnt ? frames__get(l->frames, at->first_frame + at->frame_cnt - 1) : NULL;

	return f && f->kind == FRAME_KERNEL && is[f->function];
}

int tracing_frames__drop(struct load *l)
{
	const struct location *locations = stacks__locations(l->stacks);
	int err = 0;
	bool *is;

	for (size_t i = 0; i < weights__cnt(l->weights) && !err; i++)
		err = tracing_frames__note(l, weights__get(l->weights, i));
	if (err)
		return err;
	is = match(l);
	for (size_t i = 0; is && i < stacks__cnt(l->stacks); i++) {
		struct stack s = stacks__get(l->stacks, i);
		uint32_t location, caller;

		if (stacks__marked(l->stacks, i, STACK_OF_CLOCK))
			continue;
		while (s.kernel) {
			caller = stacks__caller(l->stacks, s.kernel, &location);
			if (!is_tracing(l, &locations[location], is))
				break;
			s.kernel = caller;
		}
		stacks__set(l->stacks, i, s);
	}
	free(is);
	return is ? 0 : -ENOMEM;
}
