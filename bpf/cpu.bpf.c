/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* On-CPU sampling: one perf event a CPU, a sample each period for whoever runs there. */
#include "core.bpf.h"

const volatile __u64 cpu_period_ns = 10101010; /* what a sample stands for */

/* The stacks of the current task as interrupted; only a sample from kernel mode has a kernel stack.
 */
static __always_inline void take_stacks(struct perf_event_ctx *ctx, struct scratch *s)
{
	long sz;

	if (USER_MODE(&ctx->regs)) {
		COPY_CTX_REGS(&s->regs, &ctx->regs);
	} else {
		sz = bpf_get_stack(ctx, s->kernel.frames, WIRE_MAX_KERNEL_FRAMES * 8, 0);
		stack_take_kernel(ENTRY_PERF, sz > 0 ? (__u64)sz / 8 : 0, true);
		if (task_is_kernel((void *)bpf_get_current_task(), false) ||
		    current_user_regs(&s->regs))
			return;
	}
	if (s->regs.ip) /* 0: an io_uring worker, which has an mm but no user side */
		stack_take_user(ENTRY_PERF);
}

SEC("?perf_event")
int cpu_sample(struct perf_event_ctx *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct scratch *s;
	struct proc *p;

	if (!enabled || !is_target(id >> 32, &p))
		return 0;
	s = scratch_claim(ENTRY_PERF);
	if (!s)
		return 0;
	s->sample.hdr.probe = 1; /* SAMPLE_cpu */
	s->sample.ts_ns = bpf_ktime_get_ns();
	s->sample.tgid = id >> 32;
	s->sample.tid = id;
	s->sample.user_stack = 0;
	s->sample.kernel_stack = 0;
	s->sample.value = cpu_period_ns;
	bpf_get_current_comm(s->sample.comm, sizeof(s->sample.comm));
	if (p)
		s->proc = *p;
	else
		s->proc = (struct proc){};
	take_stacks(ctx, s);
	sample_send(ENTRY_PERF);
	scratch_release(s);
	return 0;
}
