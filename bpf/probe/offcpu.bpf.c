/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Off-CPU time: from the switch away from a thread that blocks to the switch back to it (its
 * run-queue wait after the wake-up included; a preempted thread is not blocked).
 *
 * Which waits become samples: every wait of a period or more, with its own length; shorter ones add
 * up in a counter of the thread that starts at a random place below the period, and the wait that
 * carries it over the period stands for one period. So each wait's expected weight is exactly its
 * length, however short, and the overhead is bounded.
 *
 * Where the stacks come from: at the switch back the thread is not current yet, so only its kernel
 * stack can be taken. Its user stack is walked when it next runs in a hook of its own, with the
 * same user registers: at the exit of the system call it waited in, or at its next switch away,
 * whichever comes first. A wait outside system calls (a page fault, a stop signal) has no such hook
 * behind it and is walked when it begins.
 */
#include "bpf/core.bpf.h"

const volatile __u64 offcpu_period_ns = 10000000;
const volatile __u64 offcpu_min_ns = 0;
const volatile __u64 offcpu_max_ns = ~0ULL;

/* Under --cpu-budget one wait in 2^n is looked at, at random, and stands for as many; the period
 * grows with it. */
__u32 offcpu_thin;
/* Nobody looks at the end of system calls: stacks are walked when a wait begins. */
bool offcpu_early;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32); /* tid */
	__type(value, struct offcpu_thread);
} offcpu_threads SEC(".maps");

/* The thread now running on this CPU has a sample due; a cache line each. Spares the others the
 * look-up. */
struct {
	__u64 due;
	__u64 pad[7];
} offcpu_cpu[WIRE_MAX_CPUS];

static __always_inline __u64 *due_here(void)
{
	return &offcpu_cpu[bpf_get_smp_processor_id() & (WIRE_MAX_CPUS - 1)].due;
}

/* What a wait adds to the record: 0 for nothing yet. */
static __always_inline __u64 weigh(struct offcpu_thread *t, __u64 wait)
{
	__u32 thin = OFFCPU_THIN(t->flags);
	__u64 period = offcpu_period_ns << OFFCPU_PERIOD_SHIFT(thin), weight;

	if (wait < offcpu_min_ns || wait > offcpu_max_ns)
		return 0;
	wait <<= thin;
	if (wait >= period)
		return wait;
	t->carry_ns += wait;
	if (t->carry_ns < period)
		return 0;
	weight = t->carry_ns - t->carry_ns % period;
	t->carry_ns -= weight;
	return weight;
}

static __always_inline void begin_sample(struct scratch *s, const struct offcpu_thread *t,
					 __u32 tid, __u64 weight, __u64 ts_ns)
{
	s->sample = (struct wire_sample){
		.hdr.probe = SAMPLE_offcpu,
		.ts_ns = ts_ns,
		.tgid = t->tgid,
		.tid = tid,
		.value = weight,
	};
}

/*
 * The steps are global functions (verified once, scalars only); what needs a typed task pointer
 * stays in the programs, between arrive_begin() and arrive_end().
 */

/* A hook in the context of a thread with a sample due: its stack can be walked. */
__noinline int offcpu_resolve(__u32 tid)
{
	struct offcpu_thread *t = bpf_map_lookup_elem(&offcpu_threads, &tid);
	struct unwind_walk *w = unwind_walk_of(unwind_slot(ENTRY_TRACEPOINT));
	struct arch_regs *regs;
	struct scratch *s;

	if (!t || !w || !t->due_ns)
		return 0;
	s = scratch_claim(ENTRY_TRACEPOINT);
	if (!s)
		return 0;
	begin_sample(s, t, tid, t->due_ns, t->ended_ns);
	bpf_get_current_comm(s->sample.comm, sizeof(s->sample.comm));
	t->due_ns = 0;
	s->sample.kernel_stack = t->kernel_stack;
	regs = (void *)w->regs;
	if (!current_user_regs(regs) && regs->ip == t->ip && regs->sp == t->sp) {
		copy_proc(&w->proc, bpf_map_lookup_elem(&procs, &t->tgid));
		stack_take_user(ENTRY_TRACEPOINT);
	} else {
		stack_none_user(ENTRY_TRACEPOINT);
	}
	sample_send(ENTRY_TRACEPOINT);
	scratch_release(s);
	return 0;
}

/* The current thread goes to sleep outside a system call: nothing of its own will run before it is
 * back in user mode. */
static __always_inline void walk_now(struct offcpu_thread *t, __u32 tid)
{
	struct unwind_walk *w = unwind_walk_of(unwind_slot(ENTRY_TRACEPOINT));
	struct scratch *s = w ? scratch_claim(ENTRY_TRACEPOINT) : NULL;

	if (!s)
		return;
	begin_sample(s, t, tid, 0, 0);
	if (!current_user_regs((void *)w->regs) && ((struct arch_regs *)w->regs)->ip) {
		copy_proc(&w->proc, bpf_map_lookup_elem(&procs, &t->tgid));
		stack_take_user(ENTRY_TRACEPOINT);
		t->user_stack = s->sample.user_stack;
		t->flags |= OFFCPU_WALKED;
	}
	scratch_release(s);
}

/* The counter stays at a random place of the period when that changes. */
static __always_inline void set_thin(struct offcpu_thread *t, __u32 thin)
{
	__u32 from = OFFCPU_PERIOD_SHIFT(OFFCPU_THIN(t->flags)), to = OFFCPU_PERIOD_SHIFT(thin);

	t->carry_ns = t->carry_ns << to >> from;
	t->flags = thin << OFFCPU_THIN_SHIFT;
}

static __noinline int thread_new(__u32 tid, __u32 tgid)
{
	struct offcpu_thread init = {
		.tgid = tgid,
		.carry_ns = bpf_get_prandom_u32() * (offcpu_period_ns >> 8) >> 24,
	};

	long err = bpf_map_update_elem(&offcpu_threads, &tid, &init, BPF_NOEXIST);

	if (!err || err == -17) /* EEXIST: the iterator and a switch met */
		return 1;
	loss_count(LOSS_OFFCPU_STATE);
	return 0;
}

/* The current thread goes to sleep. Returns 1 when it is recorded. */
__noinline int offcpu_leave(__u32 tid, __u32 tgid, __u32 state, __u32 is_kernel)
{
	__u32 thin = *(volatile __u32 *)&offcpu_thin & 15;
	struct offcpu_thread *t;
	struct proc *p;

	if (state & TASK_DEAD) {
		bpf_map_delete_elem(&offcpu_threads, &tid);
		return 0;
	}
	if (thin && bpf_get_prandom_u32() & ((1u << thin) - 1))
		return 0;
	t = bpf_map_lookup_elem(&offcpu_threads, &tid);
	if (!t) {
		if (!is_target(tgid, &p) || !thread_new(tid, tgid))
			return 0;
		t = bpf_map_lookup_elem(&offcpu_threads, &tid);
		if (!t)
			return 0;
	}
	set_thin(t, thin);
	t->since_ns = bpf_ktime_get_ns();
	if (!is_kernel && (*(volatile bool *)&offcpu_early || !current_in_syscall() ||
			   state & TASK_STOPPED_OR_TRACED))
		walk_now(t, tid);
	return 1;
}

/* A thread, not current yet, runs again after a wait. Returns 1, with the scratch claimed, when a
 * sample is due. */
__noinline int offcpu_arrive_begin(__u32 tid)
{
	struct offcpu_thread *t = bpf_map_lookup_elem(&offcpu_threads, &tid);
	__u64 now, weight;
	struct scratch *s;

	if (!t || !t->since_ns)
		return 0;
	now = bpf_ktime_get_ns();
	weight = weigh(t, now - t->since_ns);
	t->since_ns = 0;
	if (!weight)
		return 0;
	s = scratch_claim(ENTRY_TRACEPOINT);
	if (!s)
		return 0;
	begin_sample(s, t, tid, weight + t->due_ns,
		     now); /* due_ns: of a wait that no hook followed */
	s->sample.kernel_stack = t->kernel_stack;
	t->due_ns = 0;
	return 1;
}

/* Its kernel stack is in the sample, its registers in the unwind slot: sends it, or leaves it for
 * offcpu_resolve(). */
__noinline int offcpu_arrive_end(__u32 tid, __u32 is_kernel)
{
	struct offcpu_thread *t = bpf_map_lookup_elem(&offcpu_threads, &tid);
	struct unwind_walk *w = unwind_walk_of(unwind_slot(ENTRY_TRACEPOINT));
	struct scratch *s = scratch_of(ENTRY_TRACEPOINT);
	struct arch_regs *regs;

	if (!s)
		return 0;
	if (!t || !w)
		goto out;
	regs = (void *)w->regs;
	if (is_kernel || !regs->ip || t->flags & OFFCPU_WALKED) {
		if (t->flags & OFFCPU_WALKED)
			s->sample.user_stack = t->user_stack;
		sample_send(ENTRY_TRACEPOINT);
	} else {
		t->due_ns = s->sample.value;
		t->ended_ns = s->sample.ts_ns;
		t->kernel_stack = s->sample.kernel_stack;
		t->ip = regs->ip;
		t->sp = regs->sp;
		*due_here() = 1;
	}
out:
	scratch_release(s);
	return 0;
}

static __always_inline void arrive(struct task_struct *task, __u32 tid, bool typed)
{
	struct scratch *s = scratch_of(ENTRY_TRACEPOINT);
	struct unwind_walk *w = unwind_walk_of(unwind_slot(ENTRY_TRACEPOINT));
	bool is_kernel = task_is_kernel(task, typed);
	long sz;

	if (!s || !w || !offcpu_arrive_begin(tid))
		return;
	if (typed) {
		sz = bpf_get_task_stack(task, s->kernel_frames, WIRE_MAX_KERNEL_FRAMES * 8, 0);
		stack_take_kernel(ENTRY_TRACEPOINT, sz > 0 ? (__u64)sz / 8 : 0, false);
	}
	if (!is_kernel && task_user_regs(task, typed, (void *)w->regs))
		is_kernel = true;
	bpf_probe_read_kernel(s->sample.comm, sizeof(s->sample.comm), task->comm);
	offcpu_arrive_end(tid, is_kernel);
}

/* The classic form sees a thread's kernel stack only when it goes to sleep. */
static __always_inline void keep_kernel_stack(void *ctx, __u32 tid)
{
	struct offcpu_thread *t = bpf_map_lookup_elem(&offcpu_threads, &tid);
	struct scratch *s = t ? scratch_claim(ENTRY_TRACEPOINT) : NULL;
	long sz;

	if (!s)
		return;
	begin_sample(s, t, tid, 0, 0);
	sz = bpf_get_stack(ctx, s->kernel_frames, WIRE_MAX_KERNEL_FRAMES * 8, 0);
	stack_take_kernel(ENTRY_TRACEPOINT, sz > 0 ? (__u64)sz / 8 : 0, false);
	t->kernel_stack = s->sample.kernel_stack;
	scratch_release(s);
}

static __always_inline int on_switch(void *ctx, bool preempt, struct task_struct *prev,
				     struct task_struct *next, bool typed)
{
	struct offcpu_thread *t;
	__u64 *due = due_here();
	__u32 tid, state;

	if (!enabled)
		return 0;
	if (*due) {
		*due = 0;
		offcpu_resolve(bpf_get_current_pid_tgid());
	}
	state = preempt ? 0 : task_state(prev, typed);
	tid = task_pid(prev, typed);
	if (state && tid &&
	    offcpu_leave(tid, task_tgid(prev, typed), state, task_is_kernel(prev, typed)) && !typed)
		keep_kernel_stack(ctx, tid);
	tid = task_pid(next, typed);
	if (!tid)
		return 0;
	t = bpf_map_lookup_elem(&offcpu_threads, &tid);
	if (t && t->since_ns)
		arrive(next, tid, typed);
	return 0;
}

/* (preempt, prev, next, ...) on every kernel but 5.18.0: 9c2136be0878 put prev_state behind them.
 */
SEC("?tp_btf/sched_switch")
int offcpu_switch(__u64 *ctx)
{
	return on_switch(ctx, ctx[0], (void *)ctx[1], (void *)ctx[2], true);
}

/* For kernels without BTF of their own. */
SEC("?raw_tp/sched_switch")
int offcpu_switch_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return on_switch(ctx, ctx->args[0], (void *)ctx->args[1], (void *)ctx->args[2], false);
}

SEC("?raw_tp/sys_exit")
int offcpu_sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 *due = due_here();

	if (!*due || !enabled)
		return 0;
	*due = 0;
	offcpu_resolve(bpf_get_current_pid_tgid());
	return 0;
}

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

__u64 offcpu_start_ns;

/* Run once after the start: threads asleep since before it get a wait that begins with the
 * recording. */
SEC("?iter/task")
int offcpu_asleep(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct offcpu_thread *t;
	__u32 tid, tgid;
	struct proc *p;

	if (!task || !task_state(task, true) || task_state(task, true) & TASK_DEAD)
		return 0;
	tid = task->pid;
	tgid = task->tgid;
	if (!tid || !is_target(tgid, &p) || bpf_map_lookup_elem(&offcpu_threads, &tid))
		return 0;
	if (!thread_new(tid, tgid))
		return 0;
	t = bpf_map_lookup_elem(&offcpu_threads, &tid);
	if (!t || t->since_ns)
		return 0;
	t->since_ns = offcpu_start_ns;
	if (!task_state(task, true)) /* woken up meanwhile: its switch back may have been before */
		t->since_ns = 0;
	return 0;
}

/* Run once at the end: the threads still asleep, with kernel stack and user registers. */
SEC("?iter/task")
int offcpu_open(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct offcpu_thread *t;
	struct offcpu_open open = {};
	struct scratch *s;
	long sz;

	if (!task)
		return 0;
	open.tid = task->pid;
	open.tgid = task->tgid;
	t = bpf_map_lookup_elem(&offcpu_threads, &open.tid);
	if (!t || !t->since_ns || !task_state(task, true))
		return 0;
	open.switches = task->nvcsw + task->nivcsw;
	bpf_probe_read_kernel(open.comm, sizeof(open.comm), task->comm);
	if (!task_is_kernel(task, true))
		task_user_regs(task, true, (void *)open.regs);
	s = scratch_claim(ENTRY_UPROBE);
	if (s) {
		begin_sample(s, t, open.tid, 0, 0);
		sz = bpf_get_task_stack(task, s->kernel_frames, WIRE_MAX_KERNEL_FRAMES * 8, 0);
		stack_take_kernel(ENTRY_UPROBE, sz > 0 ? (__u64)sz / 8 : 0, false);
		open.kernel_stack = s->sample.kernel_stack;
		scratch_release(s);
	}
	bpf_seq_write(ctx->meta->seq, &open, sizeof(open));
	return 0;
}
