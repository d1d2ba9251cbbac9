/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* What lock.bpf.c (futexes) and lock_contention.bpf.c (locks of the kernel) have in common. */
#ifndef BPF_LOCK_BPF_H
#define BPF_LOCK_BPF_H

#include "bpf/event.bpf.h"
#include "bpf/probe/lock.h"

struct list_head {
	struct list_head *next;
} __attribute__((preserve_access_index));
struct signal_struct {
	struct list_head thread_head;
} __attribute__((preserve_access_index));
struct upid {
	int nr;
} __attribute__((preserve_access_index));
struct pid {
	unsigned int level;
	struct upid numbers[1];
} __attribute__((preserve_access_index));
struct task_struct___lock {
	int pid;
	struct signal_struct *signal;
	struct list_head thread_node;
	struct pid *thread_pid;
} __attribute__((preserve_access_index));

/* Where the struct pid of a thread has its tid in its own pid namespace: for all of a process. */
static __always_inline __u64 tid_place(struct task_struct___lock *task)
{
	return BPF_CORE_READ(task, thread_pid, level) * bpf_core_type_size(struct upid) +
	       bpf_core_field_offset(struct pid, numbers) + bpf_core_field_offset(struct upid, nr);
}

static __always_inline __u32 tid_in_namespace(struct task_struct___lock *task, __u64 place)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 nr = 0;

	bpf_probe_read_kernel(&nr, sizeof(nr), (void *)pid + place);
	return nr;
}

/* Threads of the current process, by their tids in its pid namespace. */
struct lock_owners_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, struct lock_thread);
	__type(value, struct lock_owner);
};
extern struct lock_owners_map lock_owners SEC(".maps");
struct lock_calls_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u64);
	__type(value, struct lock_call);
};
extern struct lock_calls_map lock_calls SEC(".maps");

/* Real tid of the current process's thread `tid`; 0: it has none. */
int lock_owner(__u32 tid);

/* lock_holder.bpf.c. A wait for that owner begins, as lock_owner() knows it; 0: it does not. */
int lock_holder_ask(__u32 tid);
/* Takes the owner's stack, if it is not running. By real tid, and task_struct. */
int lock_holder_asleep(__u32 tid, __u64 task);
/* The wait for the owner has ended: a sample and an event. key: of the wait, in lock_calls. */
int lock_holder_tell(__u64 key, __u32 owner, __u64 ns, __u64 weight);

/* One flag of each tid's low bits: threads whose stacks are wanted. */
#define LOCK_ASKED 4096
extern __u8 lock_asked[LOCK_ASKED];

struct lock_holders_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);	/* tid */
	__type(value, struct lock_holder);
};
extern struct lock_holders_map lock_holders SEC(".maps");

extern const volatile __u64 lock_min_ns;    /* waits of this length or more become events */
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

/* Sends a sample of the current task with its user stack; 0: takes its stacks, in a system call
 * only the user's. Claims and releases the scratch, and returns whether the sample was sent; its
 * stacks are still there then. */
static __always_inline bool lock_sample(void *ctx, __u32 entry, __u32 kind, __u64 user_stack,
					__u64 weight)
{
	struct scratch *s = scratch_claim(entry);

	if (!s)
		return false;
	if (user_stack) {
		s->sample.tgid = bpf_get_current_pid_tgid() >> 32;
		s->sample.user_stack = user_stack;
		s->sample.kernel_stack = 0;
	} else if (entry == ENTRY_TRACEPOINT) {
		user_stack_take(entry);
	} else {
		stacks_take(ctx, entry);
	}
	s->sample.hdr.probe = kind;
	s->sample.ts_ns = bpf_ktime_get_ns();
	s->sample.tid = bpf_get_current_pid_tgid();
	s->sample.value = weight;
	bpf_get_current_comm(s->sample.comm, sizeof(s->sample.comm));
	sample_send(entry);
	scratch_release(s);
	return true;
}

/* Takes the stacks of the current thread if they are wanted. */
static __always_inline void lock_holder_take(void *ctx, __u32 tid, __u32 how)
{
	struct lock_holder *h = bpf_map_lookup_elem(&lock_holders, &tid);
	struct scratch *s;

	if (!h || h->taken_ns >= h->asked_ns)
		return;
	s = scratch_claim(ENTRY_TRACEPOINT);
	if (!s)
		return;
	stacks_take(ctx, ENTRY_TRACEPOINT);
	h->user_stack = s->sample.user_stack;
	h->kernel_stack = s->sample.kernel_stack;
	scratch_release(s);
	h->how = how;
	h->taken_ns = bpf_ktime_get_ns();
	lock_asked[tid & (LOCK_ASKED - 1)] = 0;
}

#endif
