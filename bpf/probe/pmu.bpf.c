/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Counts of perf events by thread. Each event is counted by every CPU, for any process; at a
 * context switch what has been added since the last one belongs to the thread that is switched out.
 * obrec runs pmu_flush on each CPU every second, so that threads that stay on a CPU have theirs.
 *
 * The counters are thus not switched with the threads, as those of perf_event_open(pid) are, and
 * one set of them serves any number of processes.
 */
#include "bpf/core.bpf.h"
#include "bpf/probe/pmu.h"

const volatile __u32 pmu_cnt;	   /* events */
const volatile __u32 pmu_cpu_cnt;  /* possible CPUs */
const volatile __u32 pmu_switches; /* events that count context switches, as bits */

bool pmu_on; /* set by obrec between its first and last run of pmu_flush */

struct task_struct___start {
	__u64 start_time;
} __attribute__((preserve_access_index));

/* Event i of a CPU is at i * pmu_cpu_cnt + CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1); /* obrec sets it */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} pmu_events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u64);
	__type(value, struct pmu_task);
} pmu_tasks SEC(".maps");

struct pmu_cpu {
	__u64 who; /* key of the thread that is counted; 0: none */
	struct pmu_value last[PMU_EVENTS];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, struct pmu_cpu);
} pmu_cpus SEC(".maps");

/* A new thread's; too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pmu_task);
} pmu_no_counts SEC(".maps");

static __always_inline __u64 key_of(struct task_struct *task, bool typed)
{
	struct task_struct___start *t = (void *)task;
	__u64 start_ns = typed ? t->start_time : BPF_CORE_READ(t, start_time);

	return PMU_KEY(task_pid(task, typed), start_ns);
}

static __noinline struct pmu_task *task_new(__u64 key)
{
	__u32 zero = 0;
	struct pmu_task *none = bpf_map_lookup_elem(&pmu_no_counts, &zero);

	if (!none || bpf_map_update_elem(&pmu_tasks, &key, none, BPF_NOEXIST)) {
		loss_count(LOSS_PMU_TASK);
		return NULL;
	}
	return bpf_map_lookup_elem(&pmu_tasks, &key);
}

static __always_inline struct pmu_task *task_of(__u64 key, struct task_struct *task, bool typed)
{
	struct pmu_task *t = bpf_map_lookup_elem(&pmu_tasks, &key);

	t = t ?: task_new(key);
	if (!t)
		return NULL;
	t->tgid = task_tgid(task, typed);
	t->tid = task_pid(task, typed);
	if (typed) {
		__builtin_memcpy(t->thread, task->comm, WIRE_COMM_LEN);
		__builtin_memcpy(t->process, task->group_leader->comm, WIRE_COMM_LEN);
	} else {
		struct task_struct *leader = BPF_CORE_READ(task, group_leader);

		bpf_probe_read_kernel(t->thread, WIRE_COMM_LEN, task->comm);
		bpf_probe_read_kernel(t->process, WIRE_COMM_LEN, leader->comm);
	}
	return t;
}

/* Reads the events of this CPU. `t`: whose they have been since they were read last; NULL:
 * nobody's. */
static __always_inline void charge(struct pmu_cpu *c, __u32 cpu, struct pmu_task *t)
{
	struct bpf_perf_event_value now;

	for (__u32 i = 0; i < PMU_EVENTS; i++) {
		struct pmu_value *last = &c->last[i];

		if (i >= pmu_cnt)
			break;
		if (pmu_switches >> i & 1 ||
		    bpf_perf_event_read_value(&pmu_events, i * pmu_cpu_cnt + cpu, &now,
					      sizeof(now)))
			continue;
		if (t) {
			t->value[i].counted += now.counter - last->counted;
			t->value[i].enabled_ns += now.enabled - last->enabled_ns;
			t->value[i].running_ns += now.running - last->running_ns;
		}
		last->counted = now.counter;
		last->enabled_ns = now.enabled;
		last->running_ns = now.running;
	}
}

/* The kernel counts a switch after its tracepoint, amid the time of the next thread; perf counts it
 * for the one that is switched out. */
static __always_inline void count_switch(struct pmu_task *t)
{
	for (__u32 i = 0; i < PMU_EVENTS; i++)
		if (pmu_switches >> i & 1)
			t->value[i].counted++;
}

static __always_inline int on_switch(struct task_struct *prev, struct task_struct *next, bool typed)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct pmu_task *t = NULL;
	struct pmu_cpu *c;
	bool from, to;
	__u64 key;

	if (!pmu_on)
		return 0;
	c = bpf_map_lookup_elem(&pmu_cpus, &cpu);
	if (!c)
		return 0;
	from = is_recorded(task_tgid(prev, typed));
	to = is_recorded(task_tgid(next, typed));
	if (from) {
		key = key_of(prev, typed);
		t = c->who == key ? task_of(key, prev, typed) : NULL;
	}
	if (from || to)
		charge(c, cpu, t);
	if (t) {
		count_switch(t);
		t->ended = task_state(prev, typed) & TASK_DEAD;
	}
	c->who = to ? key_of(next, typed) : 0;
	return 0;
}

SEC("?tp_btf/sched_switch")
int pmu_switch(__u64 *ctx)
{
	return on_switch((void *)ctx[1], (void *)ctx[2], true);
}

SEC("?raw_tp/sched_switch")
int pmu_switch_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return on_switch((void *)ctx->args[1], (void *)ctx->args[2], false);
}

/* Run by obrec on each CPU (BPF_PROG_TEST_RUN): no context switch happens meanwhile. */
SEC("?raw_tp")
int pmu_flush(void *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u32 cpu = bpf_get_smp_processor_id();
	struct pmu_cpu *c = bpf_map_lookup_elem(&pmu_cpus, &cpu);
	__u64 key = 0;

	if (!c)
		return 0;
	if (is_recorded(task_tgid(task, false)))
		key = key_of(task, false);
	charge(c, cpu, key && c->who == key ? task_of(key, task, false) : NULL);
	c->who = key;
	return 0;
}
