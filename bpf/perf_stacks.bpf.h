/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Target filter and stacks for programs on perf events. */
#ifndef BPF_PERF_STACKS_BPF_H
#define BPF_PERF_STACKS_BPF_H

#include "bpf/core.bpf.h"

/* Takes the stacks of the interrupted task. Only a sample in kernel mode has a kernel stack. */
static __always_inline void perf_take_stacks(struct perf_event_ctx *ctx, struct scratch *s,
					     __u32 entry)
{
	struct arch_regs *regs = (void *)s->walk.regs;
	long sz;

	if (USER_MODE(&ctx->regs)) {
		COPY_CTX_REGS(regs, &ctx->regs);
	} else {
		sz = bpf_get_stack(ctx, s->kernel_frames, WIRE_MAX_KERNEL_FRAMES * 8, 0);
		stack_take_kernel(entry, sz > 0 ? (__u64)sz / 8 : 0, true);
		if (task_is_kernel((void *)bpf_get_current_task(), false) ||
		    current_user_regs(regs))
			return;
	}
	if (!regs->ip) /* an io_uring worker: has an mm but no user registers */
		return;
	stack_take_user(entry);
}

/* Whether the process is recorded; if so, copies its entry for the walk. */
static __always_inline bool perf_take_proc(struct proc *to, __u32 tgid)
{
	struct proc *p;

	if (target_take(to, tgid))
		return is_target_proc(to);
	if (!is_target(tgid, &p))
		return false;
	copy_proc(to, p);
	return true;
}

#endif
