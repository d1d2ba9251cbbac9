/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* On-CPU sampling: one perf event per CPU; each period, a sample of the running thread. */
#include "bpf/core.bpf.h"

const volatile __u64 cpu_period_ns = 10101010; /* weight of a sample */

/* --cpu-budget: only every 2^n-th period is sampled, with 2^n times the weight. One cache line per
 * CPU. */
__u32 cpu_thin;
struct {
	__u64 seen;
	__u64 pad[7];
} cpu_periods[WIRE_MAX_CPUS];

static __always_inline bool passed_over(__u32 thin)
{
	__u64 *seen = &cpu_periods[bpf_get_smp_processor_id() & (WIRE_MAX_CPUS - 1)].seen;

	return thin && ++*seen & ((1ULL << thin) - 1);
}

/* Takes the stacks of the interrupted task. Only a sample in kernel mode has a kernel stack. */
static __always_inline void take_stacks(struct perf_event_ctx *ctx, struct scratch *s)
{
	struct arch_regs *regs = (void *)s->walk.regs;
	long sz;

	if (USER_MODE(&ctx->regs)) {
		COPY_CTX_REGS(regs, &ctx->regs);
	} else {
		sz = bpf_get_stack(ctx, s->kernel_frames, WIRE_MAX_KERNEL_FRAMES * 8, 0);
		stack_take_kernel(ENTRY_PERF, sz > 0 ? (__u64)sz / 8 : 0, true);
		if (task_is_kernel((void *)bpf_get_current_task(), false) ||
		    current_user_regs(regs))
			return;
	}
	if (!regs->ip) /* an io_uring worker: has an mm but no user registers */
		return;
	stack_take_user(ENTRY_PERF);
}

/* Whether the process is recorded; if so, copies its entry for the walk. */
static __always_inline bool take_proc(struct proc *to, __u32 tgid)
{
	struct proc *p;

	if (target_take(to, tgid))
		return is_target_proc(to);
	if (!is_target(tgid, &p))
		return false;
	copy_proc(to, p);
	return true;
}

SEC("?perf_event")
int cpu_sample(struct perf_event_ctx *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 thin = *(volatile __u32 *)&cpu_thin & 15;
	struct proc proc;
	struct scratch *s;

	if (!enabled || passed_over(thin) || !take_proc(&proc, id >> 32))
		return 0;
	s = scratch_claim_nested(ENTRY_PERF);
	if (!s)
		return 0;
	s->walk.proc = proc;
	s->sample = (struct wire_sample){
		.hdr.probe = SAMPLE_cpu,
		.ts_ns = bpf_ktime_get_ns(),
		.tgid = id >> 32,
		.tid = id,
		.value = cpu_period_ns << thin,
	};
	bpf_get_current_comm(s->sample.comm, sizeof(s->sample.comm));
	take_stacks(ctx, s);
	sample_send(ENTRY_PERF);
	scratch_release_nested(s);
	return 0;
}
