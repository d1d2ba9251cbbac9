/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * What the owner of a lock is doing while another thread waits for it.
 *
 * If the owner is not running when a wait begins, the waiter takes the owner's user stack: its
 * registers are saved, and its memory is that of the same process. If it runs, its registers are on
 * another CPU. It then takes its own stacks as soon as it leaves its CPU or wakes up who waits for
 * the lock, whichever is first: the latter it does before the wait can end, unless that ends by a
 * timeout or signal. The stack of one moment stands for the whole wait.
 */
#include "bpf/probe/lock.bpf.h"

/* Not static: see block_ops. */
const char lock_hows[LOCK_HOW_CNT][LOCK_HOW_LEN] = {
#define X(name, text) [LOCK_##name] = text,
	LOCK_HOWS(X)
#undef X
};

struct task_struct___cpu {
	int on_cpu;
} __attribute__((preserve_access_index));

static __always_inline bool is_running(struct task_struct *task)
{
	struct task_struct___cpu *t = (void *)task;

	return !bpf_core_field_exists(t->on_cpu) || BPF_CORE_READ(t, on_cpu);
}

static __always_inline __u64 switches_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
}

/* Offset of the user registers in the stack of any task: as that of the current one. A typed
 * pointer is turned into a number by reading it from memory. */
static __always_inline __u64 regs_offset(void)
{
	const void *known;
	__u64 number = 0;

	if (!have_task_pt_regs)
		return ARCH_THREAD_SIZE - bpf_core_type_size(struct pt_regs);
	known = (void *)bpf_task_pt_regs((void *)bpf_get_current_task_btf());
	bpf_probe_read_kernel(&number, sizeof(number), &known);
	return number - (__u64)BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), stack);
}

/* Context switches of a thread that is not running; 0: it is. This and the next ones are functions
 * to keep the frame of lock_holder_asleep() small, as it takes a stack. */
static __noinline __u64 stands_since(__u64 task)
{
	return is_running((void *)task) ? 0 : switches_of((void *)task) | 1ULL << 63;
}

static __noinline int regs_take(__u64 task)
{
	struct unwind_walk *w = unwind_walk_of(unwind_slot(ENTRY_TRACEPOINT));
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (!w || bpf_probe_read_kernel(w->regs, sizeof(w->regs),
					(void *)BPF_CORE_READ((struct task_struct *)task, stack) +
						regs_offset()))
		return -1;
	copy_proc(&w->proc, bpf_map_lookup_elem(&procs, &tgid));
	return 0;
}

static __noinline int holder_keep(__u32 tid, __u64 task, __u64 user_stack)
{
	struct lock_holder *h = bpf_map_lookup_elem(&lock_holders, &tid);

	if (!h || !user_stack)
		return 0;
	h->user_stack = user_stack;
	h->kernel_stack = 0;
	h->how = task_state((void *)task, false) ? LOCK_BLOCKED : LOCK_RUNNABLE;
	h->taken_ns = bpf_ktime_get_ns();
	lock_asked[tid & (LOCK_ASKED - 1)] = 0;
	return 0;
}

/* Stores the stack of a thread of this process, unless it is running or begins to. */
__noinline int lock_holder_asleep(__u32 tid, __u64 task)
{
	__u64 since = stands_since(task);
	struct scratch *s;

	if (!since)
		return 0;
	s = scratch_claim(ENTRY_TRACEPOINT);
	if (!s)
		return 0;
	s->sample.hdr.probe = 0;
	s->sample.tgid = bpf_get_current_pid_tgid() >> 32;
	s->sample.user_stack = 0;
	if (!regs_take(task))
		stack_take_user(ENTRY_TRACEPOINT);
	if (stands_since(task) == since)
		holder_keep(tid, task, s->sample.user_stack);
	scratch_release(s);
	return 0;
}

/* A function, for its frame. */
static __noinline int holder_new(__u32 tid, struct lock_owner *owner)
{
	struct lock_holder h = {.tgid = bpf_get_current_pid_tgid() >> 32};

	if (owner) {
		bpf_probe_read_kernel(h.comm, sizeof(h.comm),
				      ((struct task_struct *)owner->task)->comm);
		task_process_name(h.process, (struct task_struct *)owner->task, false);
	}
	bpf_map_update_elem(&lock_holders, &tid, &h, BPF_NOEXIST);
	return 0;
}

__noinline int lock_holder_ask(__u32 tid)
{
	struct lock_thread key = {.tgid = bpf_get_current_pid_tgid() >> 32, .tid = tid};
	struct lock_owner *owner = bpf_map_lookup_elem(&lock_owners, &key);
	struct lock_holder *h;

	if (!owner)
		return 0;
	tid = owner->tid;
	h = bpf_map_lookup_elem(&lock_holders, &tid);
	if (!h || h->tgid != key.tgid) {
		bpf_map_delete_elem(&lock_holders, &tid);
		holder_new(tid, owner);
		h = bpf_map_lookup_elem(&lock_holders, &tid);
	}
	if (!h)
		return 0;
	h->asked_ns = bpf_ktime_get_ns();
	lock_asked[tid & (LOCK_ASKED - 1)] = 1;
	return 1;
}

/* The thread that leaves its CPU is still the current one. */
SEC("?raw_tp/sched_switch")
int lock_switch(void *ctx)
{
	__u32 tid = bpf_get_current_pid_tgid();

	if (lock_asked[tid & (LOCK_ASKED - 1)] && enabled)
		lock_holder_take(ctx, tid, LOCK_SWITCHED);
	return 0;
}

/* ---- the wait ends */

static __noinline int count_holder(struct lock_holder *h, __u32 how, __u64 ns)
{
	struct metric_key key = {};

	if (h)
		metric_key_comm(&key, h->process);
	key.part[LOCK_PART_HOW] = how;
	count_add(PROBE_lock, SERIES_lock_holders, &key, ns);
	return 0;
}

static __always_inline void holder_sample(struct lock_holder *h, __u32 tid, __u64 weight)
{
	struct scratch *s = scratch_claim(ENTRY_TRACEPOINT);

	if (!s)
		return;
	s->sample.hdr.probe = SAMPLE_holder;
	s->sample.ts_ns = bpf_ktime_get_ns();
	s->sample.tgid = h->tgid;
	s->sample.tid = tid;
	s->sample.user_stack = h->user_stack;
	s->sample.kernel_stack = h->kernel_stack;
	s->sample.value = weight;
	bpf_probe_read_kernel(s->sample.comm, sizeof(s->sample.comm), h->comm);
	sample_send(ENTRY_TRACEPOINT);
	scratch_release(s);
}

static __always_inline void holder_row(struct lock_holder *h, __u32 tid, __u64 ns,
				       const struct lock_call *call)
{
	struct event_lock_holder *e =
		EVENT_BEGIN_OF(lock, lock_holder, SERIES_lock_lock_holder_events, h->tgid,
			       ENTRY_TRACEPOINT, (__u64)h->tgid << 32 | tid, h->comm, h->process);
	__u32 how = h->how;
	long n;

	if (!e)
		return;
	e->user_stack = h->user_stack;
	e->kernel_stack = h->kernel_stack;
	e->waiter = (__u32)call->who;
	e->address = call->address;
	e->wait_ns = ns;
	e->after_ns = h->taken_ns - call->begin_ns;
	if (how >= LOCK_HOW_CNT)
		how = 0;
	n = bpf_probe_read_kernel_str(e->text, LOCK_HOW_LEN, lock_hows[how]);
	e->how = n > 0 ? (n - 1) & 31 : 0;
	EVENT_SEND(lock_holder, e, ENTRY_TRACEPOINT, e->how);
}

__noinline int lock_holder_tell(__u64 key, __u32 owner, __u64 ns, __u64 weight)
{
	struct lock_call *call = bpf_map_lookup_elem(&lock_calls, &key);
	struct lock_holder *h = bpf_map_lookup_elem(&lock_holders, &owner);

	if (!call)
		return 0;
	if (!h || h->taken_ns < call->begin_ns)
		return count_holder(h, LOCK_MISSED, ns);
	count_holder(h, h->how, ns);
	if (weight)
		holder_sample(h, owner, weight);
	if (ns >= lock_min_ns)
		holder_row(h, owner, ns, call);
	return 0;
}
