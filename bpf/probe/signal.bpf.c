/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Signals: who sent which to whom, why, and what became of it; and how long each was pending until
 * its receiver handled it. Signals are also sent by interrupts (timers), which may occur in any
 * other program.
 */
#include "bpf/event.bpf.h"
#include "bpf/probe/signal.h"

const volatile bool signal_failed; /* only those that were not queued */
const volatile bool signal_stack;
const volatile __u64 signal_only; /* only these: bit number - 1; 0: all */

#define X(number, text) [number] = text,
static const char signal_results[SIGNAL_TEXTS][SIGNAL_TEXT_LEN] = {SIGNAL_RESULTS(X)};
static const char signal_causes[SIGNAL_TEXTS][SIGNAL_TEXT_LEN] = {SIGNAL_CAUSES(X)};
#undef X
enum { CAUSE_KERNEL, CAUSE_KILL, CAUSE_TGKILL, CAUSE_SIGQUEUE, CAUSE_TIMER, CAUSE_FAULT };
enum { CAUSE_CHILD = 6, CAUSE_OTHER };
enum { RESULT_QUEUED, RESULT_NO_DETAILS = 4, RESULT_BLOCKED, RESULT_OTHER };

/* Of the uapi: siginfo codes, and signals that are the same on all architectures of obrec. */
enum { SI_USER_ = 0, SI_QUEUE_ = -1, SI_TIMER_ = -2, SI_TKILL_ = -6, SI_KERNEL_ = 0x80 };
enum { SIGILL_ = 4, SIGTRAP_ = 5, SIGBUS_ = 7, SIGFPE_ = 8, SIGSEGV_ = 11, SIGALRM_ = 14 };
enum { SIGCHLD_ = 17, SIGVTALRM_ = 26, SIGPROF_ = 27, SIGRTMIN_ = 32 };

struct kernel_siginfo {
	int si_code;
} __attribute__((preserve_access_index));

struct task_struct___signals {
	struct {
		unsigned long sig[1];
	} blocked;
} __attribute__((preserve_access_index));

/* When a pending signal was sent. One for the whole process has the tgid of its leader, as one for
 * the leader itself. LRU: some are never handled, such as those that signalfd reads. */
struct signal_key {
	__u32 tid, number;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, struct signal_key);
	__type(value, __u64);
} signal_pending SEC(".maps");

/* `info` is NULL, or 1 for the kernel itself, or a pointer (kernel: is_si_special()). */
static __always_inline int signal_code(__u64 info)
{
	if (info == 0)
		return SI_USER_;
	if (info == 1)
		return SI_KERNEL_;
	return BPF_CORE_READ((struct kernel_siginfo *)info, si_code);
}

static __always_inline bool is_fault(__u32 number)
{
	return number == SIGILL_ || number == SIGTRAP_ || number == SIGBUS_ || number == SIGFPE_ ||
	       number == SIGSEGV_;
}

static __always_inline __u32 signal_cause(__u32 number, int code)
{
	if (code == SI_USER_)
		return CAUSE_KILL;
	if (code == SI_QUEUE_)
		return CAUSE_SIGQUEUE;
	if (code == SI_TKILL_)
		return CAUSE_TGKILL;
	if (code == SI_TIMER_)
		return CAUSE_TIMER;
	if (code == SI_KERNEL_) /* interval timers have no code of their own */
		return number == SIGALRM_ || number == SIGVTALRM_ || number == SIGPROF_
			       ? CAUSE_TIMER
			       : CAUSE_KERNEL;
	if (code > 0 && is_fault(number))
		return CAUSE_FAULT;
	return code > 0 && number == SIGCHLD_ ? CAUSE_CHILD : CAUSE_OTHER;
}

static __always_inline __u32 signal_result(struct task_struct *to, __u32 number, __u64 result)
{
	struct task_struct___signals *t = (void *)to;

	if ((result == RESULT_QUEUED || result == RESULT_NO_DETAILS) &&
	    BPF_CORE_READ(t, blocked.sig[0]) >> (number - 1) & 1)
		return RESULT_BLOCKED;
	return result < RESULT_BLOCKED ? result : RESULT_OTHER;
}

/* Copies a string of at most SIGNAL_TEXT_LEN bytes to the event's text; returns its length. */
static __always_inline __u32 signal_text(struct event_signal *e, __u32 at, const void *from)
{
	long n = bpf_probe_read_kernel_str(e->text + at, SIGNAL_TEXT_LEN, from);

	return n > 0 ? (n - 1) & (SIGNAL_TEXT_LEN - 1) : 0;
}

static __always_inline __u32 signal_texts(struct event_signal *e, struct task_struct *to,
					  __u32 cause, __u32 result)
{
	__u32 a, b, c;

	a = signal_text(e, 0, signal_causes[cause & (SIGNAL_TEXTS - 1)]);
	b = signal_text(e, a, signal_results[result & (SIGNAL_TEXTS - 1)]);
	c = signal_text(e, a + b, to->comm);
	e->cause = a;
	e->result = b;
	e->target = c;
	return a + b + c;
}

/* A function, as its key would be too much for the stack of a program that also takes stacks. */
static __noinline int signal_count(const char *process, struct task_struct *to, __u32 number,
				   __u32 what)
{
	struct metric_key key = {};
	char *sender = (char *)key.part, *receiver = (char *)&key.part[SIGNAL_PART_RECEIVER];

	metric_key_comm(&key, process);
	task_process_name(receiver, to, false);
	sender[SIGNAL_LAST] = number;
	receiver[SIGNAL_LAST] = what;
	count_add(PROBE_signal, SERIES_signal_sent, &key, 0);
	return 0;
}

SEC("?raw_tp/signal_generate")
int signal_generate(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 number = ctx->args[0], tgid, tid, cause, result;
	struct task_struct *to = (void *)ctx->args[2];
	__u64 who = bpf_get_current_pid_tgid(), now;
	struct signal_key key = {.number = number};
	char comm[WIRE_COMM_LEN], process[WIRE_COMM_LEN];
	struct event_signal *e;
	int code;

	if (!enabled || number - 1 >= 64 || (signal_only && !(signal_only >> (number - 1) & 1)))
		return 0;
	tgid = task_tgid(to, false);
	tid = task_pid(to, false);
	if (!is_recorded(who >> 32) && !is_recorded(tgid))
		return 0;
	code = signal_code(ctx->args[1]);
	cause = signal_cause(number, code);
	result = signal_result(to, number, ctx->args[4]);
	now = bpf_ktime_get_ns();
	key.tid = ctx->args[3] ? tgid : tid;
	if (ctx->args[4] == RESULT_QUEUED)
		bpf_map_update_elem(&signal_pending, &key, &now,
				    number < SIGRTMIN_ ? BPF_ANY : BPF_NOEXIST);
	if (signal_failed && result == RESULT_QUEUED)
		return 0;
	if (cause == CAUSE_TIMER) { /* an interrupt: who runs did not send it */
		who = (__u64)tgid << 32 | tid;
		bpf_probe_read_kernel(comm, sizeof(comm), to->comm);
		task_process_name(process, to, false);
	} else {
		bpf_get_current_comm(comm, sizeof(comm));
		task_process_name(process, (void *)bpf_get_current_task(), false);
	}
	signal_count(process, to, number, SIGNAL_WHAT(cause, result));
	e = EVENT_BEGIN_AS(signal, ENTRY_INTERRUPT, who, comm, process);
	if (!e)
		return 0;
	e->signal = number;
	e->code = code > 0 ? code : 0;
	e->target_pid = tgid;
	e->target_tid = ctx->args[3] ? 0 : tid;
	if (signal_stack && cause != CAUSE_TIMER)
		event_stacks(ctx, ENTRY_INTERRUPT, e);
	EVENT_SEND(signal, e, ENTRY_INTERRUPT, signal_texts(e, to, cause, result));
	return 0;
}

SEC("?raw_tp/signal_deliver")
int signal_deliver(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 who = bpf_get_current_pid_tgid(), *sent;
	struct signal_key key = {.tid = who, .number = ctx->args[0]};
	struct metric_key cell = {};

	sent = bpf_map_lookup_elem(&signal_pending, &key);
	if (!sent) {
		key.tid = who >> 32;
		sent = bpf_map_lookup_elem(&signal_pending, &key);
	}
	if (!sent)
		return 0;
	if (enabled && is_recorded(who >> 32)) {
		metric_key_process(&cell);
		cell.part[SIGNAL_PART_NUMBER] = key.number;
		hist_add(PROBE_signal, SERIES_signal_delivery, &cell, bpf_ktime_get_ns() - *sent);
	}
	bpf_map_delete_elem(&signal_pending, &key);
	return 0;
}
