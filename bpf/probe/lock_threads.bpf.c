/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Threads of the targets as they stand when the capture starts and when it ends: who sleeps in
 * futex(), and who may hold what these wait for. No tracepoint is passed by a wait that begins
 * before the one and ends after the other.
 */
#include "bpf/probe/lock.bpf.h"

struct sched_info {
	unsigned long long last_arrival;
} __attribute__((preserve_access_index));
struct task_struct___threads {
	int on_cpu;		      /* CONFIG_SMP, before 6.17 */
	struct sched_info sched_info; /* CONFIG_SCHED_INFO */
} __attribute__((preserve_access_index));

#ifdef __TARGET_ARCH_x86
#define CALL_NR(regs) ((__s32)(regs)->orig_ax)
enum { NR_FUTEX = 202 };
#else
#define CALL_NR(regs) ((regs)->syscallno)
enum { NR_FUTEX = 98 };
#endif
enum { NR_FUTEX_WAITV = 449, NR_FUTEX_WAIT = 455 };

/* The system call that the thread sleeps in; as lock.bpf.c records those that begin later. */
static __always_inline void futex_of(struct lock_standing *t, const struct arch_regs *regs)
{
	__s32 nr = CALL_NR(regs);
	__u32 operation = CTX_ARG1(regs) & LOCK_CMD_MASK;

	if (nr == NR_FUTEX && LOCK_IS_WAIT(operation)) {
		t->value = CTX_ARG2(regs);
		t->operation = operation;
	} else if (nr == NR_FUTEX_WAIT) {
		t->value = CTX_ARG1(regs);
		t->operation = LOCK_CALL_WAIT;
	} else if (nr == NR_FUTEX_WAITV) {
		t->operation = LOCK_CALL_WAITV;
	} else {
		return;
	}
	t->address = CTX_ARG0(regs);
	t->state = LOCK_WAITS;
}

/* The clock of run queues is not ours, but their difference is that of a thread that runs now. */
static __always_inline __u64 ran_at(struct task_struct *task)
{
	struct task_struct___threads *self = (void *)bpf_get_current_task(), *t = (void *)task;
	__u64 ran;

	if (!bpf_core_field_exists(t->sched_info))
		return 0;
	ran = BPF_CORE_READ(t, sched_info.last_arrival);
	return ran ? bpf_ktime_get_ns() - (BPF_CORE_READ(self, sched_info.last_arrival) - ran) : 0;
}

static __always_inline bool is_on_cpu(struct task_struct *task)
{
	struct task_struct___threads *t = (void *)task;

	return bpf_core_field_exists(t->on_cpu) && BPF_CORE_READ(t, on_cpu);
}

/* Runs once after the start, to see whether that was still so later, and at the end. */
SEC("?iter/task")
int lock_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct lock_standing t = {};

	if (!task || !is_recorded(task->tgid) || task_is_kernel(task, true))
		return 0;
	t.thread.tid = task->pid;
	t.thread.tgid = task->tgid;
	t.thread.switches = task->nvcsw + task->nivcsw;
	bpf_probe_read_kernel(t.thread.comm, sizeof(t.thread.comm), task->comm);
	task_process_name(t.process, task, false);
	t.tid_within = tid_in_namespace((void *)task, tid_place((void *)task));
	if (task_state(task, true) && !is_on_cpu(task) &&
	    !task_user_regs(task, true, (void *)t.thread.regs)) {
		t.state = LOCK_SLEEPS;
		t.ran_ns = ran_at(task);
		futex_of(&t, (void *)t.thread.regs);
	}
	bpf_seq_write(ctx->meta->seq, &t, sizeof(t));
	return 0;
}
