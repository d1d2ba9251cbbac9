/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Off-CPU time: from the context switch away from a blocking thread to the switch back to it. This
 * includes its run-queue wait after the wakeup. A preempted thread is not blocked.
 *
 * Sampling: every wait of one period or more becomes a sample with its own length. Shorter waits
 * are added up in a counter per thread that starts at a random value below the period. The wait
 * that makes the counter exceed the period becomes a sample of one period. The expected weight of
 * each wait is thus exactly its length, however short, and the overhead is bounded.
 *
 * Stacks: at the switch back, the thread is not current yet, so only its kernel stack can be taken.
 * Its user stack is walked in the thread's next own hook, when it has the same user registers: at
 * the exit of the system call in which it waited, or at its next switch away, whichever comes
 * first. A wait outside system calls (page fault, stop signal) is not followed by such a hook; its
 * stack is walked when the wait starts.
 */
#include "bpf/kernel_stack.bpf.h"
#include "bpf/probe/offcpu.bpf.h"

const volatile __u64 offcpu_period_ns = 10000000;
const volatile __u64 offcpu_min_ns = 0;
const volatile __u64 offcpu_max_ns = ~0ULL;

/* --cpu-budget: one wait in 2^n, selected at random, is used, with 2^n times the weight; the period
 * grows with n. */
__u32 offcpu_thin;
/* System call exits are not hooked: stacks are walked when a wait starts. */
bool offcpu_early;

struct offcpu_threads_map offcpu_threads SEC(".maps");

/* The thread running on this CPU has a pending sample; avoids the map lookup for all others. One
 * cache line per CPU. */
struct {
	__u64 due;
	__u64 pad[7];
} offcpu_cpu[WIRE_MAX_CPUS];

static __always_inline __u64 *due_here(void)
{
	return &offcpu_cpu[bpf_get_smp_processor_id() & (WIRE_MAX_CPUS - 1)].due;
}

/* Weight of the sample that a wait produces; 0: no sample. */
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

/* The steps are global functions (verified once, scalar arguments only). Code that needs a typed
 * task pointer is in the programs, between arrive_begin() and arrive_end(). */

/* Called in the context of a thread with a pending sample: walks its user stack and sends the
 * sample. */
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

/* The current thread goes to sleep outside a system call: no other hook of it runs before it
 * returns to user mode. */
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

/* Changes the throttling level; the counter keeps a random value within the new period. */
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

	if (!err || err == -17) /* EEXIST: the iterator and a switch inserted it */
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
	if (t->since_ns)
		loss_count(LOSS_OFFCPU_UNSEEN);
	t->since_ns = bpf_ktime_get_ns();
	if (!is_kernel && (*(volatile bool *)&offcpu_early || !current_in_syscall() ||
			   state & TASK_STOPPED_OR_TRACED))
		walk_now(t, tid);
	return 1;
}

/* A thread that is not current yet runs again after a wait. Returns 1 and claims the scratch when a
 * sample is due. */
__noinline int offcpu_arrive_begin(__u32 tid)
{
	struct offcpu_thread *t = bpf_map_lookup_elem(&offcpu_threads, &tid);
	__u64 now, since, weight;
	struct scratch *s;

	if (!t || !t->since_ns)
		return 0;
	now = bpf_ktime_get_ns();
	since = t->since_ns;
	weight = weigh(t, now - since);
	t->since_ns = 0;
	if (!weight)
		return 0;
	s = scratch_claim(ENTRY_TRACEPOINT);
	if (!s)
		return 0;
	if (wakers_on)
		wakers_tell(tid, since, now, weight);
	begin_sample(s, t, tid, weight + t->due_ns,
		     now); /* due_ns: pending from a wait without a later hook */
	s->sample.kernel_stack = t->kernel_stack;
	t->due_ns = 0;
	return 1;
}

/* The thread's kernel stack is in the sample and its registers are in the unwind slot. Sends the
 * sample or leaves it to offcpu_resolve(). */
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
	if (typed && !kernel_stack_sleeper(task, KERNEL_STACK_SLEEPER)) {
		sz = bpf_get_task_stack(task, s->kernel_frames, WIRE_MAX_KERNEL_FRAMES * 8, 0);
		sz = sz > 0 ? (__u64)sz / 8 : 0;
		stack_take_kernel(ENTRY_TRACEPOINT, sz, false);
		kernel_stack_learn(sz, false);
	}
	if (!is_kernel && task_user_regs(task, typed, (void *)w->regs))
		is_kernel = true;
	bpf_probe_read_kernel(s->sample.comm, sizeof(s->sample.comm), task->comm);
	offcpu_arrive_end(tid, is_kernel);
}

/* The classic variant can take a thread's kernel stack only when it goes to sleep. */
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

/* The arguments are (preempt, prev, next, ...) on every kernel except 5.18.0: 9c2136be0878 appended
 * prev_state. */
SEC("?tp_btf/sched_switch")
int offcpu_switch(__u64 *ctx)
{
	return on_switch(ctx, ctx[0], (void *)ctx[1], (void *)ctx[2], true);
}

/* For kernels without their own BTF. */
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
	return UNPREEMPTED(offcpu_resolve(bpf_get_current_pid_tgid()));
}

__u64 offcpu_start_ns;

/* Runs once after the start: a thread already asleep gets a wait that starts with the capture. */
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
	if (!task_state(task, true)) /* woken up meanwhile: its switch back may have been missed */
		t->since_ns = 0;
	return 0;
}

/* Runs once at the end: writes the threads still asleep, with kernel stack and user registers. */
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
