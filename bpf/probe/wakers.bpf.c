/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Who ended a wait. A wait becomes a sample of offcpu only when the thread runs again, which is
 * after its wakeup. Stacks of wakers are therefore taken, and kept by the woken thread, for those
 * waits that would become samples if they ended now. A wait that becomes one only because the
 * thread then waited for a CPU has no waker, and is counted.
 *
 * A wakeup by an interrupt was not caused by the thread that it interrupted: it has the interrupt's
 * kernel stack, no user stack and no thread. Softirqs count as interrupts where one started them.
 * At the end of a system call, as for packets over loopback, they act for the caller.
 */
#include "bpf/event.bpf.h"
#include "bpf/kernel_stack.bpf.h"
#include "bpf/probe/offcpu.bpf.h"
#include "bpf/probe/wakers.h"

const volatile bool wakers_on;
const volatile __u64 wakers_irq_from, wakers_irq_to; /* code of interrupt entries */

struct waker {
	__u64 since_ns; /* start of the wait that it ended */
	__u64 user_stack, kernel_stack;
	__u32 tgid, tid;
	__u32 woken; /* tgid of the woken thread */
	__u32 interrupt;
	char comm[WIRE_COMM_LEN];
};

/* By tid of the woken thread: waker of its last wait that would have become a sample. Those of
 * ended threads are replaced. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, struct waker);
} wakers SEC(".maps");

/* Whether weigh() in offcpu.bpf.c would return a weight. */
static __always_inline bool is_due(const struct offcpu_thread *t, __u64 wait)
{
	__u32 thin = OFFCPU_THIN(t->flags);

	if (wait < offcpu_min_ns || wait > offcpu_max_ns)
		return false;
	return t->carry_ns + (wait << thin) >= offcpu_period_ns << OFFCPU_PERIOD_SHIFT(thin);
}

/* Whether one of the raw addresses in the scratch is in the entry of an interrupt. */
__noinline int wakers_interrupt(__u32 cnt)
{
	struct scratch *s = scratch_of(ENTRY_TRACEPOINT);

	if (!s)
		return 0;
	for (__u32 i = 0; i < WIRE_MAX_KERNEL_FRAMES; i++) {
		if (i >= cnt)
			break;
		if (s->kernel_frames[i] >= wakers_irq_from && s->kernel_frames[i] < wakers_irq_to)
			return 1;
	}
	return 0;
}

/* Nobody else uses it: wakeups of a thread exclude each other, and it runs after them. */
static __always_inline struct waker *waker_of(__u32 tid)
{
	struct waker *w = bpf_map_lookup_elem(&wakers, &tid), none = {};

	if (w)
		return w;
	bpf_map_update_elem(&wakers, &tid, &none, BPF_ANY); /* failed: wakers_tell() counts it */
	return bpf_map_lookup_elem(&wakers, &tid);
}

/* Stores the current thread as the waker. */
static __always_inline void take_waker(void *ctx, __u32 tgid, __u32 tid, __u64 since)
{
	struct waker *w = waker_of(tid);
	struct scratch *s = w ? scratch_claim(ENTRY_TRACEPOINT) : NULL;
	__u64 who = bpf_get_current_pid_tgid();
	bool interrupt;
	int known;
	long sz;

	if (!s)
		return;
	s->sample = (struct wire_sample){.hdr.probe = SAMPLE_wakeup};
	known = kernel_stack_current(ctx, KERNEL_STACK_WAKER);
	interrupt = known & KERNEL_STACK_MARKED;
	if (!known) {
		sz = bpf_get_stack(ctx, s->kernel_frames, WIRE_MAX_KERNEL_FRAMES * 8, 0);
		sz = sz > 0 ? (__u64)sz / 8 : 0;
		interrupt = wakers_interrupt(sz);
		stack_take_kernel(ENTRY_TRACEPOINT, sz, false);
		kernel_stack_learn(sz, interrupt);
	}
	if (interrupt) {
		*w = (struct waker){.comm = WAKERS_INTERRUPT, .interrupt = 1};
	} else {
		w->interrupt = 0;
		s->sample.tgid = w->tgid = who >> 32;
		w->tid = who;
		bpf_get_current_comm(w->comm, sizeof(w->comm));
		if (is_recorded(w->tgid))
			event_user_stack(ENTRY_TRACEPOINT);
		else if (!task_is_kernel((void *)bpf_get_current_task(), false))
			stack_none_user(ENTRY_TRACEPOINT);
	}
	w->woken = tgid;
	w->user_stack = s->sample.user_stack;
	w->kernel_stack = s->sample.kernel_stack;
	w->since_ns = since;
	scratch_release(s);
}

static __always_inline int on_waking(void *ctx, struct task_struct *task, bool typed)
{
	__u32 tid = task_pid(task, typed);
	struct offcpu_thread *t = bpf_map_lookup_elem(&offcpu_threads, &tid);
	__u64 since;

	if (!enabled || !t)
		return 0;
	since = *(volatile __u64 *)&t->since_ns;
	if (since && is_due(t, bpf_ktime_get_ns() - since))
		take_waker(ctx, t->tgid, tid, since);
	return 0;
}

SEC("?tp_btf/sched_waking")
int wakers_waking(__u64 *ctx)
{
	return on_waking(ctx, (void *)ctx[0], true);
}

/* For kernels without their own BTF. */
SEC("?raw_tp/sched_waking")
int wakers_waking_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return on_waking(ctx, (void *)ctx->args[0], false);
}

static __noinline int count_pair(__u32 tid, __u64 weight)
{
	struct waker *w = bpf_map_lookup_elem(&wakers, &tid);
	struct metric_key key = {};

	if (!w)
		return 0;
	key.part[WAKERS_PART_WAKER] =
		w->interrupt ? WAKERS_NO_THREAD : (__u64)w->tgid << 32 | w->tid;
	key.part[WAKERS_PART_WOKEN] = (__u64)w->woken << 32 | tid;
	count_add(PROBE_wakers, SERIES_wakers_pairs, &key, weight);
	return 0;
}

__noinline int wakers_tell(__u32 tid, __u64 since, __u64 now, __u64 weight)
{
	struct waker *w = bpf_map_lookup_elem(&wakers, &tid);
	struct scratch *s = scratch_of(ENTRY_TRACEPOINT);

	if (!s)
		return 0;
	if (!w || w->since_ns != since) {
		loss_count(LOSS_WAKER_UNSEEN);
		return 0;
	}
	s->sample = (struct wire_sample){
		.hdr.probe = SAMPLE_wakeup,
		.ts_ns = now,
		.tgid = w->tgid,
		.tid = w->tid,
		.user_stack = w->user_stack,
		.kernel_stack = w->kernel_stack,
		.value = weight,
	};
	__builtin_memcpy(s->sample.comm, w->comm, WIRE_COMM_LEN);
	sample_send(ENTRY_TRACEPOINT);
	return count_pair(tid, weight);
}
