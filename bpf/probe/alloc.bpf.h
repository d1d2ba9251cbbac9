/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* What the programs of the probe alloc share: what is sampled, and what of it is in use
 * (alloc.bpf.c). */
#ifndef BPF_ALLOC_BPF_H
#define BPF_ALLOC_BPF_H

#include "bpf/event.bpf.h"
#include "bpf/probe/alloc.h"

/* What a call has put on the stack. */
#if defined(__TARGET_ARCH_x86)
#define ALLOC_RETURN_SZ 8
#else
#define ALLOC_RETURN_SZ 0
#endif

extern const volatile __u64 alloc_rate;
extern const volatile __u64 alloc_age_ns; /* allocations freed later than that are reported */
extern const volatile bool alloc_follow;  /* remember sampled allocations */

extern __u64 alloc_cpus[WIRE_MAX_CPUS][sizeof(struct alloc_cpu) / 8]; /* struct alloc_cpu */
/* --cpu-budget: the probes are attached for a share of 1/2^alloc_level of the time. */
extern bool alloc_detached;
extern __u32 alloc_level;

struct alloc_live_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, struct alloc_key);
	__type(value, struct alloc_live);
};
extern struct alloc_live_map alloc_live SEC(".maps");

struct alloc_files_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, struct alloc_file);
};
extern struct alloc_files_map alloc_files SEC(".maps");

/* A call that is to return: its result is wanted, or whether it succeeds. By tid. */
struct alloc_call {
	__u64 sp;   /* at the entry */
	__u64 size; /* as ALLOC_SIZE; 0: not sampled */
	__u64 birth_ns, stack;
	__u64 old, old_birth_ns; /* of realloc: remembered; 0: not */
	__u64 result_at;	 /* of posix_memalign */
	__u64 near;		 /* as in alloc_live */
};
struct alloc_calls_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, struct alloc_call);
};
extern struct alloc_calls_map alloc_calls SEC(".maps");

/* As alloc_cpu.tail, by tid: the last call that was looked at. That of the CPU is lost when the
 * thread is preempted before it jumps. */
struct alloc_tails_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, struct alloc_tail);
};
extern struct alloc_tails_map alloc_tails SEC(".maps");

/* Takes the call's bytes off a gap. 1: they reach its end. */
int alloc_due(__u64 size);
#define ALLOC_WRAPPED 1
/* Sends a sample, unless an allocator of another file has called this one (ALLOC_WRAPPED). cookie:
 * of the function, 0: it is not called by others. Returns the hash of its stack; that of the
 * nearest frames is alloc_cpu()->near until the program is preempted. caller: where the function
 * returns to, 0: it has an unwind table. rate: as alloc_live.rate. size 0: nothing is sent yet but
 * the stack. */
__u64 alloc_send(__u64 birth_ns, __u64 size, __u64 caller, __u64 rate, __u64 cookie);
/* Whether the address lies in a function of the allocator; `at`: address in its file. */
int alloc_is_own(__u32 number, __u64 at);
/* Sends a sample of the current thread whose stack has been sent. */
int alloc_send_late(__u64 birth_ns, __u64 size, __u64 stack);
#define ALLOC_REMEMBER(rate, near) ((rate) | (__u64)(near) << 32)
/* Remembers a sampled allocation of the current process until it is freed. A function of its own,
 * as its frame is not to be below those of a walk (alloc_send). how: ALLOC_REMEMBER. */
int alloc_remember(__u64 birth_ns, __u64 size, __u64 stack, __u64 how, __u64 address);
/* The cookie of the place at ip, where the kernel passes none. 0: not known. */
__u64 alloc_cookie_at(__u64 ip);

static __always_inline struct alloc_cpu *alloc_cpu(void)
{
	return (void *)alloc_cpus[bpf_get_smp_processor_id() & (WIRE_MAX_CPUS - 1)];
}

static __always_inline void alloc_forget(__u64 address, __u64 birth_ns, __u64 id)
{
	struct alloc_key key = {.address = address, .tgid = id >> 32};
	struct alloc_live *live = bpf_map_lookup_elem(&alloc_live, &key);
	struct wire_alloc_freed freed = {
		.hdr = {.kind = WIRE_ALLOC_FREED, .size = sizeof(freed)},
		.tgid = id >> 32,
	};

	/* Another thread may have been given the address. */
	if (!live || (birth_ns && live->birth_ns != birth_ns))
		return;
	freed.freed_ns = bpf_ktime_get_ns();
	freed.birth_ns = live->birth_ns;
	freed.stack = live->stack;
	freed.near = live->near;
	bpf_map_delete_elem(&alloc_live, &key);
	if (freed.freed_ns - freed.birth_ns >= alloc_age_ns)
		ring_output(&freed, sizeof(freed), sizeof(freed), LOSS_RING_SAMPLE);
}

#endif
