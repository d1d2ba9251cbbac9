/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* What the probe wakers shares with offcpu, whose waits it explains. */
#ifndef BPF_OFFCPU_BPF_H
#define BPF_OFFCPU_BPF_H

#include "bpf/core.bpf.h"

struct offcpu_threads_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32); /* tid */
	__type(value, struct offcpu_thread);
};
extern struct offcpu_threads_map offcpu_threads SEC(".maps");
extern const volatile __u64 offcpu_period_ns, offcpu_min_ns, offcpu_max_ns;

extern const volatile bool wakers_on;
/* The wait of a thread, which began at `since`, becomes a sample with this weight: sends one with
 * the same weight and its waker's stacks. Uses the sample of the claimed ENTRY_TRACEPOINT scratch.
 */
int wakers_tell(__u32 tid, __u64 since, __u64 now, __u64 weight);

#endif
