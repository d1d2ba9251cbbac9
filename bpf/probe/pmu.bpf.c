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
const volatile __u32 pmu_timed;	   /* hardware events, likewise */

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

/* A counter of the processor may be another event's for a while: those have times, which take
 * another 40 ns. False: it cannot be read. */
static __always_inline bool read_event(__u32 i, __u32 cpu, struct pmu_value *to)
{
	struct bpf_perf_event_value now;
	__u32 at = i * pmu_cpu_cnt + cpu;

	if (!(pmu_timed >> i & 1)) {
		to->counted = bpf_perf_event_read(&pmu_events, at);
		return to->counted < -4095UL;
	}
	if (bpf_perf_event_read_value(&pmu_events, at, &now, sizeof(now)))
		return false;
	*to = (struct pmu_value){now.counter, now.enabled, now.running};
	return true;
}

/* Reads the events of this CPU. `t`: whose they have been since they were read last; NULL:
 * nobody's. */
static __always_inline void charge(struct pmu_cpu *c, __u32 cpu, struct pmu_task *t)
{
	struct pmu_value now = {};

	for (__u32 i = 0; i < PMU_EVENTS; i++) {
		struct pmu_value *last = &c->last[i];

		if (i >= pmu_cnt)
			break;
		if (pmu_switches >> i & 1 || !read_event(i, cpu, &now))
			continue;
		if (t) {
			t->value[i].counted += now.counted - last->counted;
			t->value[i].enabled_ns += now.enabled_ns - last->enabled_ns;
			t->value[i].running_ns += now.running_ns - last->running_ns;
		}
		*last = now;
	}
}

/*
 * The event of a switch comes after its tracepoint, amid the time of the next thread; perf counts
 * it for the one that is switched out, as the kernel does in its task_struct. `first`: t is new,
 * and this is its first switch.
 */
static __always_inline void count_switches(struct pmu_task *t, struct task_struct *task, bool typed,
					   bool first)
{
	__u64 cnt = typed ? task->nvcsw + task->nivcsw
			  : BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);

	if (!t->switches)
		t->switches = cnt + 1 - first; /* never 0 */
	for (__u32 i = 0; i < PMU_EVENTS; i++)
		if (pmu_switches >> i & 1)
			t->value[i].counted = cnt + 1 - t->switches;
}

/* Kernels now and then run no program at a switch: what was counted since the last one seen is of
 * several threads. */
static __noinline int count_unseen(__u64 who, __u64 key)
{
	if (who || bpf_map_lookup_elem(&pmu_tasks, &key))
		loss_count(LOSS_PMU_UNSEEN);
	return 0;
}

static __always_inline int on_switch(struct task_struct *prev, struct task_struct *next, bool typed)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct pmu_task *t = NULL;
	struct pmu_cpu *c;
	__u64 key;
	bool to;

	if (!pmu_on)
		return 0;
	c = bpf_map_lookup_elem(&pmu_cpus, &cpu);
	if (!c)
		return 0;
	/* Not whether `prev` is recorded now: obrec may have forgotten it, as it has ended. */
	if (c->who || is_recorded(task_tgid(prev, typed))) {
		key = key_of(prev, typed);
		if (c->who == key)
			t = task_of(key, prev, typed);
		else
			count_unseen(c->who, key);
	}
	to = is_recorded(task_tgid(next, typed));
	if (t || to)
		charge(c, cpu, t);
	if (t) {
		count_switches(t, prev, typed, true);
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
	struct pmu_task *t = NULL;
	__u64 key = 0;

	if (!c)
		return 0;
	if (is_recorded(task_tgid(task, false)))
		key = key_of(task, false);
	if (key && c->who == key)
		t = task_of(key, task, false);
	charge(c, cpu, t);
	if (t)
		count_switches(t, task, false, false);
	c->who = key;
	return 0;
}
