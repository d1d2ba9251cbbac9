/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* What lock.bpf.c (futexes) and lock_kernel.bpf.c (locks of the kernel) have in common. */
#ifndef BPF_LOCK_BPF_H
#define BPF_LOCK_BPF_H

#include "bpf/event.bpf.h"
#include "bpf/probe/lock.h"

extern const volatile __u64 lock_period_ns; /* shorter waits are sampled; 0: each is one */

/* Waits of a period or more weigh as much as they are long. A shorter one is a sample of one period
 * with the probability length / period, so that its expected weight is its length. 0: no sample. */
static __always_inline __u64 lock_weight(__u64 ns)
{
	if (ns >= lock_period_ns)
		return ns;
	return ((__u64)bpf_get_prandom_u32() * (lock_period_ns >> 8) >> 24) < ns ? lock_period_ns
										 : 0;
}

/* Sends a sample of the current task, whose stacks it takes. Claims and releases the scratch, and
 * returns whether the sample was sent; its stacks are still there then. */
static __always_inline bool lock_sample(void *ctx, __u32 entry, __u32 kind, __u64 weight)
{
	struct scratch *s = scratch_claim(entry);

	if (!s)
		return false;
	stacks_take(ctx, entry);
	s->sample.hdr.probe = kind;
	s->sample.ts_ns = bpf_ktime_get_ns();
	s->sample.tid = bpf_get_current_pid_tgid();
	s->sample.value = weight;
	bpf_get_current_comm(s->sample.comm, sizeof(s->sample.comm));
	sample_send(entry);
	scratch_release(s);
	return true;
}

#endif
