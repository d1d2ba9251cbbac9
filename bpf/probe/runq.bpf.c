/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Run-queue latency: how long runnable threads wait for a CPU, from their wakeup or preemption
 * until they are switched to, and for whom.
 *
 * Each CPU keeps its last slices: who ran, since when. A thread that is switched to walks back over
 * those since it became runnable and charges each to who ran, so that the charges add up to the
 * wait. Not charged to a slice but to rows of their own:
 *
 *	since      +throttled                            now
 *	  | CPU quota  | slice | slice | slice ... | slice |    less interrupts and steal in each
 *	  | on another CPU | ...                             if it was migrated while waiting
 *	  | older than the slices kept | ...
 *
 * Before 6.17, a waiting thread may also be throttled in the middle of its wait. The time under
 * quota is then right, and slices at the end of the wait are charged for the remainder.
 *
 * Stacks: the thread that has waited is not current yet when it is switched to, so that only its
 * kernel stack can be taken. Its user stack must be taken when it leaves the CPU, which is before
 * it is known that it will wait long. A thread that has waited long is likely to do so again: its
 * next RUNQ_STACKS switches away take it. The first long wait of a thread has no user stack, and
 * the number of stacks taken is bounded by that of the long waits.
 */
#include "bpf/event.bpf.h"
#include "bpf/probe/runq.h"

const volatile __u64 runq_min_ns; /* waits of this length or more become events */

struct rq {
	__u64 clock;
	__u64 clock_task;
	__u64 clock_pelt, lost_idle_time;
	__u64 prev_irq_time;	  /* CONFIG_IRQ_TIME_ACCOUNTING */
	__u64 prev_steal_time_rq; /* CONFIG_PARAVIRT_TIME_ACCOUNTING */
} __attribute__((preserve_access_index));

struct cfs_rq {
	struct rq *rq; /* CONFIG_FAIR_GROUP_SCHED */
	/* CONFIG_CFS_BANDWIDTH: total time throttled, and the start of the current throttling. */
	int throttle_count;
	/* 6.6, 677ea015f231 ("sched: add throttled time stat for throttled children") */
	__u64 throttled_clock_self, throttled_clock_self_time;
	/* 5.19, 64eaf50731ac ("sched/fair: Fix cfs_rq_clock_pelt() for throttled cfs_rq") */
	__u64 throttled_clock_pelt, throttled_clock_pelt_time;
	__u64 throttled_clock_task, throttled_clock_task_time;
} __attribute__((preserve_access_index));

struct sched_entity {
	struct cfs_rq *cfs_rq;
} __attribute__((preserve_access_index));

struct task_struct___sched {
	struct sched_entity se;
	int on_cpu;
	bool throttled; /* 6.17: tasks are throttled one by one, when they return to user mode */
} __attribute__((preserve_access_index));

/* 7.2: on_cpu became a byte. */
struct task_struct___7_2 {
	unsigned char on_cpu;
} __attribute__((preserve_access_index));

#define GET(p, field) (typed ? (p)->field : BPF_CORE_READ(p, field))

/* Time taken from the threads of a CPU, so far. */
struct runq_taken {
	__u64 irq_ns, steal_ns;
};

#define NOT_THROTTLED ~0ULL

struct runq_wait {
	__u64 since_ns;	    /* became runnable; 0: it is running or sleeping */
	__u64 moved_ns;	    /* was migrated while waiting; 0: was not */
	__u64 throttled_ns; /* of its group on this CPU in total, at since_ns; or NOT_THROTTLED */
	struct runq_taken taken;
	__u32 tid;	  /* 0: the slot is free */
	__u32 stacks;	  /* switches away that are to take the user stack */
	__u64 user_stack; /* where it left the CPU; 0: not taken */
	__u64 pad;
};

/*
 * The slot of a thread is that of its tid, modulo RUNQ_SLOTS, or, if that is taken, in a hash
 * table. Slots are released when threads exit.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RUNQ_SLOTS);
	__type(key, __u32);
	__type(value, struct runq_wait);
} runq_slots SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, struct runq_wait);
} runq_since SEC(".maps");
bool runq_hashed; /* runq_since has been used */
bool runq_long;	  /* a thread has waited long */

static __always_inline struct runq_wait *slot_of(__u32 tid)
{
	__u32 at = tid & (RUNQ_SLOTS - 1);

	return bpf_map_lookup_elem(&runq_slots, &at);
}

static __always_inline struct runq_wait *wait_of(__u32 tid)
{
	struct runq_wait *w = slot_of(tid);

	if (w && w->tid == tid)
		return w;
	return runq_hashed ? bpf_map_lookup_elem(&runq_since, &tid) : NULL;
}

static __always_inline struct runq_wait *wait_new(__u32 tid)
{
	struct runq_wait *w = slot_of(tid), none = {.tid = tid};

	if (w && !w->tid) {
		w->tid = tid;
		return w;
	}
	runq_hashed = true;
	if (bpf_map_update_elem(&runq_since, &tid, &none, BPF_ANY)) {
		loss_count(LOSS_PENDING);
		return NULL;
	}
	return bpf_map_lookup_elem(&runq_since, &tid);
}

static __always_inline void wait_free(__u32 tid)
{
	struct runq_wait *w = slot_of(tid);

	if (w && w->tid == tid) {
		w->since_ns = w->user_stack = 0;
		w->tid = w->stacks = 0;
	} else if (runq_hashed) {
		bpf_map_delete_elem(&runq_since, &tid);
	}
}

struct runq_slice {
	__u64 from_ns;
	struct runq_taken taken;
	__u64 cgroup;
	__u64 who[2];
	__u64 tid;
	__u64 pad; /* a cache line */
};

/* By CPU. Only its switches use it. */
struct runq_cpu {
	struct runq_slice slice[RUNQ_SLICES];
	__u64 head;
	/* the wait that is charged now */
	__u64 from_ns, until_ns, cgroup, who[2];
	char comm[WIRE_COMM_LEN]; /* of the thread, if its wait is sent */
	struct runq_taken from, until;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, struct runq_cpu);
} runq_cpus SEC(".maps");

struct metric_own_map runq_cells SEC(".maps");

static __always_inline void cell_add(__u32 series, struct metric_key *key, __u64 value)
{
	key->series = SERIES_NUMBER(PROBE_runq, series);
	metric_own_add(&runq_cells, key, value);
}

/* Reads the name of the process; its last byte, which is 0, becomes the kind. */
static __always_inline void read_who(struct task_struct *task, bool typed, __u32 tid, __u64 who[2])
{
	if (!tid) {
		who[0] = 0;
		who[1] = RUNQ_KIND(RUNQ_IDLE);
		return;
	}
	task_process_name(who, task, typed);
	who[1] &= RUNQ_KIND(1) - 1;
	if (GET(task, flags) & PF_KTHREAD)
		who[1] |= RUNQ_KIND(RUNQ_KERNEL);
}

/* Total throttled time of the thread's group on its CPU. */
static __always_inline __u64 throttled_of(struct cfs_rq *c, bool typed)
{
	struct rq *rq = GET(c, rq);
	__u64 since;

	if (bpf_core_field_exists(c->throttled_clock_self_time)) {
		since = GET(c, throttled_clock_self);
		return GET(c, throttled_clock_self_time) + (since ? GET(rq, clock) - since : 0);
	}
	if (bpf_core_field_exists(c->throttled_clock_pelt_time)) {
		if (!GET(c, throttle_count))
			return GET(c, throttled_clock_pelt_time);
		return GET(c, throttled_clock_pelt_time) + GET(rq, clock_pelt) -
		       GET(rq, lost_idle_time) - GET(c, throttled_clock_pelt);
	}
	if (!bpf_core_field_exists(c->throttled_clock_task_time))
		return 0;
	if (!GET(c, throttle_count))
		return GET(c, throttled_clock_task_time);
	return GET(c, throttled_clock_task_time) + GET(rq, clock_task) -
	       GET(c, throttled_clock_task);
}

static __always_inline struct cfs_rq *group_of(struct task_struct *task, bool typed)
{
	struct task_struct___sched *t = (void *)task;

	return GET(t, se.cfs_rq);
}

/* Time on the run queue of the thread, which the scheduler updates at a wakeup, a switch and a
 * migration: less than the call of a helper. */
static __always_inline __u64 clock_of(struct task_struct *task, bool typed)
{
	struct cfs_rq *c = NULL;
	struct rq *rq;

	if (!typed || !bpf_core_field_exists(c->rq))
		return bpf_ktime_get_ns();
	rq = group_of(task, typed)->rq;
	return rq->clock;
}

static __always_inline void read_taken(struct task_struct *task, bool typed, struct runq_taken *to)
{
	struct cfs_rq *c = NULL;
	struct rq *rq;

	to->irq_ns = to->steal_ns = 0;
	if (!bpf_core_field_exists(c->rq))
		return;
	c = group_of(task, typed);
	rq = GET(c, rq);
	if (bpf_core_field_exists(rq->prev_irq_time))
		to->irq_ns = GET(rq, prev_irq_time);
	if (bpf_core_field_exists(rq->prev_steal_time_rq))
		to->steal_ns = GET(rq, prev_steal_time_rq);
}

static __always_inline __u64 throttled_now(struct task_struct *task, bool typed)
{
	struct task_struct___sched *t = (void *)task;
	struct cfs_rq *c = NULL;

	if (!bpf_core_field_exists(c->rq) || !bpf_core_field_exists(c->throttle_count))
		return NOT_THROTTLED;
	if (bpf_core_field_exists(t->throttled) && !GET(t, throttled))
		return NOT_THROTTLED;
	c = group_of(task, typed);
	return throttled_of(c, typed);
}

/* The group's total when the thread is switched to: it is no longer throttled itself. */
static __always_inline __u64 throttled_until(struct task_struct *task, bool typed)
{
	struct cfs_rq *c = group_of(task, typed);

	return throttled_of(c, typed);
}

static __always_inline bool is_running(struct task_struct *task, bool typed)
{
	struct task_struct___sched *t = (void *)task;
	struct task_struct___7_2 *newer = (void *)task;

	if (!bpf_core_field_exists(t->on_cpu)) /* CONFIG_SMP */
		return false;
	return bpf_core_field_size(t->on_cpu) == 1 ? GET(newer, on_cpu) : GET(t, on_cpu);
}

static __always_inline void runnable(struct task_struct *task, bool typed, bool woken, __u64 now)
{
	__u32 tid = task_pid(task, typed);
	struct runq_wait *w;

	if (!enabled || !tid)
		return;
	/* It is still running, and does not wait before it is switched away from. */
	if (woken && is_running(task, typed))
		return;
	w = wait_of(tid);
	if (!w && !is_recorded(task_tgid(task, typed)))
		return;
	if (w && w->since_ns) { /* waits already: preempted while about to sleep, then woken */
		if (woken)
			return;
		loss_count(LOSS_RUNQ_UNSEEN);
	}
	w = w ?: wait_new(tid);
	if (!w)
		return;
	w->since_ns = now ?: clock_of(task, typed);
	w->moved_ns = 0;
	w->throttled_ns = throttled_now(task, typed);
	read_taken(task, typed, &w->taken);
}

/* Charges a part of the wait in progress to a slice or, from RUNQ_SLICES on, to a kind. */
__noinline int runq_charge(__u32 cpu, __u32 to, __u64 ns)
{
	struct runq_cpu *c = bpf_map_lookup_elem(&runq_cpus, &cpu);
	struct metric_key key = {};
	struct runq_slice *s;
	__u64 cgroup;

	if (!c)
		return 0;
	if (to < RUNQ_SLICES) {
		s = &c->slice[to & (RUNQ_SLICES - 1)];
		key.part[2] = s->who[0];
		key.part[3] = s->who[1];
		cgroup = s->cgroup;
	} else {
		key.part[3] = RUNQ_KIND(to - RUNQ_SLICES);
		cgroup = RUNQ_KIND(to - RUNQ_SLICES);
	}
	key.part[0] = c->who[0];
	key.part[1] = c->who[1];
	cell_add(SERIES_runq_blame, &key, ns);
	key.part[0] = c->cgroup;
	key.part[1] = cgroup;
	key.part[2] = key.part[3] = 0;
	cell_add(SERIES_runq_blame_cgroup, &key, ns);
	return 0;
}

static __always_inline __u64 at_most(__u64 from, __u64 until, __u64 max)
{
	if (until <= from)
		return 0;
	return until - from < max ? until - from : max;
}

/* Charges the wait from from_ns to until_ns to who ran on this CPU meanwhile. */
__noinline int runq_blame(__u32 cpu)
{
	struct runq_cpu *c = bpf_map_lookup_elem(&runq_cpus, &cpu);
	__u64 irq = 0, steal = 0, begin, irq_part, steal_part, ns;
	struct runq_slice *s;
	__u32 at;

	if (!c)
		return 0;
	for (int i = 0; i < RUNQ_SLICES && c->until_ns > c->from_ns; i++) {
		at = (c->head - i) & (RUNQ_SLICES - 1);
		s = &c->slice[at];
		begin = s->from_ns;
		irq_part = s->taken.irq_ns;
		steal_part = s->taken.steal_ns;
		if (begin < c->from_ns) {
			begin = c->from_ns;
			irq_part = c->from.irq_ns;
			steal_part = c->from.steal_ns;
		}
		if (begin >= c->until_ns)
			continue;
		ns = c->until_ns - begin;
		irq_part = at_most(irq_part, c->until.irq_ns, ns);
		steal_part = at_most(steal_part, c->until.steal_ns, ns - irq_part);
		irq += irq_part;
		steal += steal_part;
		runq_charge(cpu, at, ns - irq_part - steal_part);
		c->until_ns = begin;
		c->until = s->taken;
	}
	if (c->until_ns > c->from_ns)
		runq_charge(cpu, RUNQ_SLICES + RUNQ_OLDER, c->until_ns - c->from_ns);
	if (irq)
		runq_charge(cpu, RUNQ_SLICES + RUNQ_IRQ, irq);
	if (steal)
		runq_charge(cpu, RUNQ_SLICES + RUNQ_STEAL, steal);
	return 0;
}

static __always_inline void charge(struct runq_cpu *c, __u32 cpu, struct runq_wait *w,
				   struct task_struct *task, bool typed, __u64 now)
{
	__u64 throttled;

	c->from_ns = w->since_ns;
	c->until_ns = now;
	c->from = w->taken;
	if (w->moved_ns) {
		runq_charge(cpu, RUNQ_SLICES + RUNQ_MOVED,
			    at_most(w->since_ns, w->moved_ns, ~0ULL));
		c->from_ns = w->moved_ns;
		c->from.irq_ns = c->from.steal_ns = ~0ULL; /* of the other CPU */
	} else if (w->throttled_ns != NOT_THROTTLED) {
		throttled =
			at_most(w->throttled_ns, throttled_until(task, typed), now - w->since_ns);
		if (throttled)
			runq_charge(cpu, RUNQ_SLICES + RUNQ_QUOTA, throttled);
		c->from_ns += throttled;
	}
	runq_blame(cpu);
}

/* The scratch has been claimed. 0: none can be taken. */
static __always_inline __u64 kernel_stack_of(struct task_struct *task)
{
	struct scratch *s = task ? scratch_of(ENTRY_TRACEPOINT) : NULL;
	long sz;

	if (!s)
		return 0;
	s->sample.hdr.probe = 0;
	sz = bpf_get_task_stack(task, s->kernel_frames, WIRE_MAX_KERNEL_FRAMES * 8, 0);
	if (sz <= 0)
		return 0;
	stack_take_kernel(ENTRY_TRACEPOINT, (__u64)sz / 8, false);
	return s->sample.kernel_stack;
}

/* Sends a row for the thread in c->who, which is seldom: not inlined. task: NULL if not typed. */
static __noinline int send_wait(struct task_struct *task, __u64 who, __u32 cpu, __u64 wait_ns,
				__u64 user_stack)
{
	struct runq_cpu *c = bpf_map_lookup_elem(&runq_cpus, &cpu);
	struct event_runq *e;

	if (!c)
		return 0;
	e = EVENT_BEGIN_AS(runq, ENTRY_TRACEPOINT, who, c->comm, (const char *)c->who);
	if (!e)
		return 0;
	e->wait_ns = wait_ns;
	e->cpu = cpu;
	e->user_stack = user_stack;
	e->kernel_stack = kernel_stack_of(task);
	EVENT_SEND(runq, e, ENTRY_TRACEPOINT, 0);
	return 0;
}

static __always_inline void waited(struct runq_cpu *c, __u32 cpu, struct task_struct *task,
				   __u32 tid, bool typed, __u64 now)
{
	struct metric_key key = {};
	__u64 wait_ns, user_stack;
	struct runq_wait *w;

	w = tid ? wait_of(tid) : NULL;
	if (!w)
		return;
	user_stack = w->user_stack;
	w->user_stack = 0;
	if (!w->since_ns)
		return;
	wait_ns = at_most(w->since_ns, now, ~0ULL);
	c->who[1] &= RUNQ_KIND(1) - 1;
	key.part[0] = c->who[0];
	key.part[1] = c->who[1];
	key.part[RUNQ_PART_CGROUP] = c->cgroup;
	key.bucket = metric_bucket_of(wait_ns);
	cell_add(SERIES_runq_latency, &key, wait_ns);
	charge(c, cpu, w, task, typed, now);
	w->since_ns = 0;
	if (wait_ns < runq_min_ns)
		return;
	w->stacks = RUNQ_STACKS;
	runq_long = true;
	if (typed)
		__builtin_memcpy(c->comm, task->comm, WIRE_COMM_LEN);
	else
		bpf_probe_read_kernel(c->comm, WIRE_COMM_LEN, task->comm);
	send_wait(typed ? task : NULL, (__u64)task_tgid(task, typed) << 32 | tid, cpu, wait_ns,
		  user_stack);
}

/* The thread whose slice ends has been preempted by the one whose slice begins. */
static __always_inline void preempted(struct task_struct *prev, __u32 tid, bool typed,
				      const struct runq_slice *s, const struct runq_slice *by)
{
	struct metric_key key = {};

	key.part[0] = s->who[0];
	key.part[1] = s->who[1];
	if (key.part[1] >> RUNQ_KIND_SHIFT == RUNQ_UNKNOWN)
		read_who(prev, typed, tid, key.part);
	key.part[1] &= RUNQ_KIND(1) - 1;
	key.part[2] = by->who[0];
	key.part[3] = by->who[1];
	cell_add(SERIES_runq_preemptions, &key, 0);
}

static __always_inline void leaves(struct task_struct *prev, __u32 tid, __u32 state, bool typed,
				   __u64 now)
{
	struct runq_wait *w;

	if (!state) {
		runnable(prev, typed, false, now);
		return;
	}
	if (state & TASK_DEAD) {
		wait_free(tid);
		return;
	}
	w = wait_of(tid);
	if (!w || !w->since_ns)
		return;
	w->since_ns = 0;
	loss_count(LOSS_RUNQ_UNSEEN);
}

static __always_inline int on_switch(bool preempt, struct task_struct *prev,
				     struct task_struct *next, bool typed)
{
	__u32 cpu = bpf_get_smp_processor_id(), tid = task_pid(prev, typed), next_tid, at;
	__u32 state = preempt ? 0 : task_state(prev, typed);
	struct runq_slice *s, *last;
	struct runq_cpu *c;
	__u64 now;

	c = enabled ? bpf_map_lookup_elem(&runq_cpus, &cpu) : NULL;
	if (!c)
		return 0;
	now = clock_of(prev, typed);
	next_tid = task_pid(next, typed);
	last = &c->slice[c->head & (RUNQ_SLICES - 1)];
	at = (c->head + 1) & (RUNQ_SLICES - 1);
	if (last->tid != tid || !last->from_ns) { /* no program ran at the switch to it */
		last->who[0] = 0;
		last->who[1] = RUNQ_KIND(RUNQ_UNKNOWN);
		last->cgroup = RUNQ_KIND(RUNQ_UNKNOWN);
	}
	read_taken(prev, typed, &c->until);
	s = &c->slice[at];
	leaves(prev, tid, state, typed, now);
	read_who(next, typed, next_tid, c->who);
	c->cgroup = next_tid ? task_cgroup(next, typed) : RUNQ_KIND(RUNQ_IDLE);
	/* The oldest slice is overwritten: the walk, which comes next, does not reach it. */
	s->from_ns = now;
	s->taken = c->until;
	s->tid = next_tid;
	s->who[0] = c->who[0];
	s->who[1] = c->who[1];
	s->cgroup =
		c->who[1] >> RUNQ_KIND_SHIFT == RUNQ_KERNEL ? RUNQ_KIND(RUNQ_KERNEL) : c->cgroup;
	if (!state && tid && next_tid && is_recorded(task_tgid(prev, typed)))
		preempted(prev, tid, typed, last, s);
	waited(c, cpu, next, next_tid, typed, now);
	c->head++;
	return 0;
}

/*
 * Takes the user stack of the current thread, which is switched away from. It runs only for those
 * that have waited long.
 */
static __always_inline void keep_stack(struct task_struct *prev, bool typed)
{
	struct runq_wait *w = enabled ? wait_of(task_pid(prev, typed)) : NULL;
	struct scratch *s = w && w->stacks ? scratch_claim(ENTRY_TRACEPOINT) : NULL;

	if (!s)
		return;
	user_stack_take(ENTRY_TRACEPOINT);
	w->user_stack = s->sample.user_stack;
	w->stacks--;
	scratch_release(s);
}

/* Functions of their own, as the walk needs the room on the stack that they take. */
static __noinline int switches(bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return on_switch(preempt, prev, next, true);
}

static __noinline int switches_raw(bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return on_switch(preempt, prev, next, false);
}

SEC("?tp_btf/sched_switch")
int runq_switch(__u64 *ctx)
{
	if (runq_long)
		keep_stack((void *)ctx[1], true);
	return switches(ctx[0], (void *)ctx[1], (void *)ctx[2]);
}

SEC("?tp_btf/sched_wakeup")
int runq_wakeup(__u64 *ctx)
{
	runnable((void *)ctx[0], true, true, 0);
	return 0;
}

SEC("?tp_btf/sched_wakeup_new")
int runq_new(__u64 *ctx)
{
	runnable((void *)ctx[0], true, true, 0);
	return 0;
}

/* The thread is about to be moved to another CPU: at its wakeup, or while it waits. */
static __always_inline void migrates(struct task_struct *task, bool typed)
{
	__u32 tid = task_pid(task, typed);
	struct metric_key key = {};
	struct runq_wait *w;

	if (!enabled || !is_recorded(task_tgid(task, typed)))
		return;
	w = wait_of(tid);
	read_who(task, typed, tid, key.part);
	key.part[1] &= RUNQ_KIND(1) - 1;
	if (w && w->since_ns) {
		w->moved_ns = clock_of(task, typed);
		key.part[RUNQ_PART_WAITING] = 1;
	}
	count_add(PROBE_runq, SERIES_runq_migrations, &key, 0);
}

SEC("?tp_btf/sched_migrate_task")
int runq_migrate(__u64 *ctx)
{
	migrates((void *)ctx[0], true);
	return 0;
}

/* For kernels without their own BTF. */
SEC("?raw_tp/sched_switch")
int runq_switch_raw(struct bpf_raw_tracepoint_args *ctx)
{
	if (runq_long)
		keep_stack((void *)ctx->args[1], false);
	return switches_raw(ctx->args[0], (void *)ctx->args[1], (void *)ctx->args[2]);
}

SEC("?raw_tp/sched_wakeup")
int runq_wakeup_raw(struct bpf_raw_tracepoint_args *ctx)
{
	runnable((void *)ctx->args[0], false, true, 0);
	return 0;
}

SEC("?raw_tp/sched_wakeup_new")
int runq_new_raw(struct bpf_raw_tracepoint_args *ctx)
{
	runnable((void *)ctx->args[0], false, true, 0);
	return 0;
}

SEC("?raw_tp/sched_migrate_task")
int runq_migrate_raw(struct bpf_raw_tracepoint_args *ctx)
{
	migrates((void *)ctx->args[0], false);
	return 0;
}
