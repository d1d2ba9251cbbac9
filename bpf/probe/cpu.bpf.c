/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* On-CPU sampling: one perf event per CPU; each period, a sample of the running thread. Or samples
 * of another event, with the number of its events since the last sample as weight. */
#include "bpf/perf_stacks.bpf.h"

const volatile __u64 cpu_period_ns = 10101010; /* weight of a sample */
const volatile bool cpu_by_event;
const volatile __u64 cpu_event_period; /* 0: at a frequency, by changing periods */

/* --cpu-budget: only every 2^n-th period is sampled, with 2^n times the weight. One cache line per
 * CPU. */
__u32 cpu_thin;
struct {
	__u64 seen;
	__u64 counted; /* events at the last sample */
	__u64 pad[6];
} cpu_periods[WIRE_MAX_CPUS];

static __always_inline bool passed_over(__u32 thin)
{
	__u64 *seen = &cpu_periods[bpf_get_smp_processor_id() & (WIRE_MAX_CPUS - 1)].seen;

	return thin && ++*seen & ((1ULL << thin) - 1);
}

/* Weight of a sample of an event. With changing periods the kernel tells the new one, which may be
 * a multiple of the one that has ended. */
static __always_inline __u64 event_weight(struct perf_event_ctx *ctx, __u32 thin)
{
	__u64 *last = &cpu_periods[bpf_get_smp_processor_id() & (WIRE_MAX_CPUS - 1)].counted;
	struct bpf_perf_event_value now = {};
	__u64 weight;

	if (cpu_event_period)
		return cpu_event_period << thin;
	if (bpf_perf_prog_read_value((void *)ctx, &now, sizeof(now)))
		return 0;
	weight = now.counter - *last;
	*last = now.counter;
	return weight;
}

SEC("?perf_event")
int cpu_sample(struct perf_event_ctx *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 thin = *(volatile __u32 *)&cpu_thin & 15;
	__u64 weight = cpu_period_ns << thin;
	struct proc proc;
	struct scratch *s;

	if (enabled && passed_over(thin))
		return 0;
	if (cpu_by_event)
		weight = event_weight(ctx, thin);
	if (!enabled || !perf_take_proc(&proc, id >> 32))
		return 0;
	s = scratch_claim_nested(ENTRY_PERF);
	if (!s)
		return 0;
	s->walk.proc = proc;
	s->sample = (struct wire_sample){
		.hdr.probe = cpu_by_event ? SAMPLE_event : SAMPLE_cpu,
		.ts_ns = bpf_ktime_get_ns(),
		.tgid = id >> 32,
		.tid = id,
		.value = weight,
	};
	bpf_get_current_comm(s->sample.comm, sizeof(s->sample.comm));
	perf_take_stacks(ctx, s, ENTRY_PERF);
	sample_send(ENTRY_PERF);
	scratch_release_nested(s);
	return 0;
}
