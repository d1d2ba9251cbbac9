/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Shared by the programs of the probe mem: mem_faults, mem_calls, mem_resident. */
#ifndef BPF_MEM_BPF_H
#define BPF_MEM_BPF_H

#include "bpf/perf_stacks.bpf.h"

extern const volatile __u64 mem_page_sz;

/* --cpu-budget: one sample in 2^n, selected at random, is used, with 2^n times the weight. */
extern __u32 mem_thin;

static __always_inline __u32 mem_thinned(void)
{
	return *(volatile __u32 *)&mem_thin & 15;
}

/* Whether the sample is left out; if not, its weight is multiplied by 2^*thin. */
static __always_inline bool passed_over(__u32 *thin)
{
	*thin = mem_thinned();
	return *thin && bpf_get_prandom_u32() & ((1u << *thin) - 1);
}

/* Claims the scratch of tracepoints, not that of the CPU timer, which may interrupt this program.
 */
static __always_inline struct scratch *begin(__u32 kind, __u64 id, __u64 value)
{
	struct scratch *s = scratch_claim(ENTRY_TRACEPOINT);

	if (!s)
		return NULL;
	s->sample = (struct wire_sample){
		.hdr.probe = kind,
		.ts_ns = bpf_ktime_get_ns(),
		.tgid = id >> 32,
		.tid = id,
		.value = value,
	};
	bpf_get_current_comm(s->sample.comm, sizeof(s->sample.comm));
	return s;
}

/* The user stack of the current thread, which is in the kernel. */
static __always_inline void mem_take_user(struct scratch *s)
{
	if (!current_user_regs((void *)s->walk.regs))
		stack_take_user(ENTRY_TRACEPOINT);
}

/* Sends a sample with the user stack of the current thread, which is in the kernel. */
static __noinline int mem_send(__u32 kind, __u64 bytes)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct scratch *s;
	struct proc proc;

	if (!bytes || !enabled || !perf_take_proc(&proc, id >> 32))
		return 0;
	s = begin(kind, id, bytes);
	if (!s)
		return 0;
	s->walk.proc = proc;
	mem_take_user(s);
	sample_send(ENTRY_TRACEPOINT);
	scratch_release(s);
	return 0;
}

#endif
