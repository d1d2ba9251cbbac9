/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Run-queue latency: how long runnable threads wait for a CPU, from their wakeup or preemption
 * until they are switched to.
 */
#include "bpf/event.bpf.h"
#include "bpf/probe/runq.h"

const volatile __u64 runq_min_ns; /* waits of this length or more become events */

/* By tid: time when the thread became runnable; 0: it is running or sleeping. Entries are removed
 * when threads exit. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, __u64);
} runq_since SEC(".maps");

static __always_inline void runnable(struct task_struct *task, bool typed)
{
	__u32 tid = task_pid(task, typed);
	__u64 *since, now;

	if (!enabled || !tid)
		return;
	since = bpf_map_lookup_elem(&runq_since, &tid);
	if (!since && !is_recorded(task_tgid(task, typed)))
		return;
	now = bpf_ktime_get_ns();
	if (since)
		*since = now;
	else if (bpf_map_update_elem(&runq_since, &tid, &now, BPF_ANY))
		loss_count(LOSS_PENDING);
}

static __always_inline void waited(struct task_struct *task, bool typed)
{
	__u32 tid = task_pid(task, typed);
	struct metric_key key = {};
	struct event_runq *e;
	__u64 *since, wait_ns;
	char comm[WIRE_COMM_LEN];

	since = tid ? bpf_map_lookup_elem(&runq_since, &tid) : NULL;
	if (!since || !*since)
		return;
	wait_ns = bpf_ktime_get_ns() - *since;
	*since = 0;
	bpf_probe_read_kernel(comm, sizeof(comm), task->comm);
	metric_key_comm(&key, comm);
	key.part[RUNQ_PART_CGROUP] = task_cgroup(task, typed);
	hist_add(PROBE_runq, SERIES_runq_latency, &key, wait_ns);
	if (wait_ns < runq_min_ns)
		return;
	e = EVENT_BEGIN_AS(runq, ENTRY_TRACEPOINT, (__u64)task_tgid(task, typed) << 32 | tid, comm);
	if (!e)
		return;
	e->wait_ns = wait_ns;
	e->cpu = bpf_get_smp_processor_id();
	EVENT_SEND(runq, e, ENTRY_TRACEPOINT, 0);
}

static __always_inline int on_switch(bool preempt, struct task_struct *prev,
				     struct task_struct *next, bool typed)
{
	__u32 tid = task_pid(prev, typed), state = preempt ? 0 : task_state(prev, typed);
	__u64 *since;

	if (!enabled)
		return 0;
	if (!state) {
		runnable(prev, typed);
	} else if (state & TASK_DEAD) {
		bpf_map_delete_elem(&runq_since, &tid);
	} else { /* it may have been woken up while still running */
		since = bpf_map_lookup_elem(&runq_since, &tid);
		if (since)
			*since = 0;
	}
	waited(next, typed);
	return 0;
}

SEC("?tp_btf/sched_switch")
int runq_switch(__u64 *ctx)
{
	return on_switch(ctx[0], (void *)ctx[1], (void *)ctx[2], true);
}

SEC("?tp_btf/sched_wakeup")
int runq_wakeup(__u64 *ctx)
{
	runnable((void *)ctx[0], true);
	return 0;
}

SEC("?tp_btf/sched_wakeup_new")
int runq_new(__u64 *ctx)
{
	runnable((void *)ctx[0], true);
	return 0;
}

/* For kernels without their own BTF. */
SEC("?raw_tp/sched_switch")
int runq_switch_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return on_switch(ctx->args[0], (void *)ctx->args[1], (void *)ctx->args[2], false);
}

SEC("?raw_tp/sched_wakeup")
int runq_wakeup_raw(struct bpf_raw_tracepoint_args *ctx)
{
	runnable((void *)ctx->args[0], false);
	return 0;
}

SEC("?raw_tp/sched_wakeup_new")
int runq_new_raw(struct bpf_raw_tracepoint_args *ctx)
{
	runnable((void *)ctx->args[0], false);
	return 0;
}
