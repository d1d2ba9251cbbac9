/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Programs run, and processes ended. A successful exec is reported by sched_process_exec, when its
 * arguments are in the new program's memory, one after the other; a failed one at the exit of its
 * system call, where path and arguments are read from the caller's memory. Their rate is limited by
 * parent: each process has only few of them.
 */
#include "bpf/event.bpf.h"
#include "bpf/probe/exec.h"
#include "bpf/syscall_args.bpf.h"

const volatile bool exec_failed; /* only failed calls and abnormal ends */
const volatile __u32 exec_page_sz = 4096;

#define ARGS_MAX 128   /* of a failed exec */
#define THREADS_MAX 64 /* of a process that ends, all at once */

struct mm_struct___args {
	unsigned long arg_start, arg_end;
} __attribute__((preserve_access_index));
struct linux_binprm {
	int argc;
	const char *filename;
} __attribute__((preserve_access_index));
struct list_head {
	struct list_head *next;
} __attribute__((preserve_access_index));
struct signal_struct {
	struct {
		int counter;
	} live;
	int group_exit_code;
	unsigned int flags;
	unsigned long maxrss;		      /* pages */
	unsigned long long sum_sched_runtime; /* of threads that are gone */
	struct list_head thread_head;
} __attribute__((preserve_access_index));
struct cred {
	struct {
		unsigned int val;
	} uid;
} __attribute__((preserve_access_index));
struct task_struct___exec {
	struct task_struct *real_parent;
	struct signal_struct *signal;
	struct cred *real_cred;
	__u64 start_time;
	int exit_code;
	struct {
		__u64 sum_exec_runtime, exec_start;
		struct cfs_rq___exec *cfs_rq;
	} se;
	struct list_head thread_node;
} __attribute__((preserve_access_index));
struct cfs_rq___exec {
	struct rq___exec *rq; /* CONFIG_FAIR_GROUP_SCHED */
} __attribute__((preserve_access_index));
struct rq___exec {
	__u64 clock, clock_task;
} __attribute__((preserve_access_index));

#define SIGNAL_GROUP_EXIT 4

struct exec_call {
	__u64 begin_ns;
	__u64 path, args;
};
CALLS_IN_PROGRESS(exec_calls, exec_call);

static __always_inline struct task_struct *parent_of(struct task_struct *task)
{
	return BPF_CORE_READ((struct task_struct___exec *)task, real_parent);
}

static __always_inline __u32 uid_of(struct task_struct *task)
{
	return BPF_CORE_READ((struct task_struct___exec *)task, real_cred, uid.val);
}

/* ---- exec ---- */

static __always_inline int exec_enter(__u64 path, __u64 args)
{
	struct exec_call call = {.path = path, .args = args};

	return call_begin(&exec_calls, &call);
}

SEC("?tracepoint/syscalls/sys_enter_execve")
int exec_enter_execve(struct syscall_enter *ctx)
{
	exec_enter(ctx->args[0], ctx->args[1]);
	return KEEP_SAMPLES;
}

SEC("?tracepoint/syscalls/sys_enter_execveat")
int exec_enter_execveat(struct syscall_enter *ctx)
{
	exec_enter(ctx->args[1], ctx->args[2]);
	return KEEP_SAMPLES;
}

/* Returns a new event, with all but path and arguments; *at: where the path is to be appended. */
static __always_inline struct event_exec *exec_begin(__u64 begin_ns, __u32 *at)
{
	struct task_struct *task = (void *)bpf_get_current_task(), *parent = parent_of(task);
	__u32 ppid = task_tgid(parent, false);
	struct event_exec *e;

	e = EVENT_BEGIN_OF(exec, exec, SERIES_EVENTS, ppid, ENTRY_TRACEPOINT,
			   bpf_get_current_pid_tgid(), NULL, NULL);
	if (!e)
		return NULL;
	e->ppid = ppid;
	e->uid = uid_of(task);
	if (begin_ns)
		e->duration_ns = bpf_ktime_get_ns() - begin_ns;
	*at = EVENT_TEXT_AT(exec);
	e->parent = EVENT_LEN(event_kernel_text(ENTRY_TRACEPOINT, *at, (__u64)parent->comm));
	*at += e->parent;
	e->cwd = EVENT_LEN(event_cwd(ENTRY_TRACEPOINT, *at));
	*at += e->cwd;
	return e;
}

SEC("?raw_tp/sched_process_exec")
int exec_done(struct bpf_raw_tracepoint_args *ctx)
{
	struct mm_struct___args *mm = (void *)BPF_CORE_READ((struct task_struct *)ctx->args[0], mm);
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, tid = ctx->args[1], at, n;
	struct exec_call *call = bpf_map_lookup_elem(&exec_calls, &tid);
	struct linux_binprm *bprm = (void *)ctx->args[2];
	__u64 begin_ns = 0, from, sz;
	struct event_exec *e;

	if (call) {
		begin_ns = call->begin_ns;
		bpf_map_delete_elem(&exec_calls, &tid);
	}
	if (!enabled || exec_failed || !is_recorded(tgid))
		return 0;
	e = exec_begin(begin_ns, &at);
	if (!e)
		return 0;
	e->path = EVENT_LEN(
		event_kernel_text(ENTRY_TRACEPOINT, at, (__u64)BPF_CORE_READ(bprm, filename)));
	at += e->path;
	from = BPF_CORE_READ(mm, arg_start);
	sz = BPF_CORE_READ(mm, arg_end) - from;
	e->argc = BPF_CORE_READ(bprm, argc);
	e->args_sz = sz ? sz - 1 : 0; /* without the last NUL */
	n = EVENT_LEN(event_user_bytes(ENTRY_TRACEPOINT, at, from, sz));
	if (n && n == sz)
		n--;
	e->args = n;
	EVENT_SEND(exec, e, ENTRY_TRACEPOINT, at + n - EVENT_TEXT_AT(exec));
	return 0;
}

/* Appends argument i of a failed exec. Returns its size with the NUL, and EVENT_CUT; 0: there is no
 * such argument. */
__noinline int exec_argument(__u32 at, __u64 args, __u32 i)
{
	__u64 from = 0;

	if (bpf_probe_read_user(&from, sizeof(from), (void *)(args + i * 8)) || !from)
		return 0;
	return event_user_text(ENTRY_TRACEPOINT, at, from) + 1;
}

static __always_inline void exec_arguments(struct event_exec *e, __u32 at, __u64 args)
{
	__u32 n = 0, sz = 0;

	for (__u32 i = 0; i <= ARGS_MAX; i++) {
		n = exec_argument(i < ARGS_MAX ? at + sz : EVENT_END, args, i);
		if (!n)
			break;
		sz += EVENT_LEN(n);
		if (n & EVENT_CUT)
			break;
		e->argc = i + 1;
	}
	e->args = sz ? sz - 1 : 0; /* without the last NUL */
	e->args_sz = e->args + (n & EVENT_CUT ? 1 : 0);
}

static __always_inline int exec_exit(struct syscall_exit *ctx)
{
	__u32 tid = bpf_get_current_pid_tgid(), at;
	struct exec_call *found = bpf_map_lookup_elem(&exec_calls, &tid), call;
	struct event_exec *e;

	if (!found)
		return 0;
	call = *found;
	bpf_map_delete_elem(&exec_calls, &tid);
	if (!enabled || ctx->ret >= 0)
		return 0;
	event_count_error(PROBE_exec, SERIES_exec_failed, -ctx->ret);
	e = exec_begin(call.begin_ns, &at);
	if (!e)
		return 0;
	e->error = -ctx->ret;
	e->path = EVENT_LEN(event_user_text(ENTRY_TRACEPOINT, at, call.path));
	at += e->path;
	exec_arguments(e, at, call.args);
	EVENT_SEND(exec, e, ENTRY_TRACEPOINT, at + e->args - EVENT_TEXT_AT(exec));
	return 0;
}

SEC("?tracepoint/syscalls/sys_exit_execve")
int exec_exit_execve(struct syscall_exit *ctx)
{
	exec_exit(ctx);
	return KEEP_SAMPLES;
}

SEC("?tracepoint/syscalls/sys_exit_execveat")
int exec_exit_execveat(struct syscall_exit *ctx)
{
	exec_exit(ctx);
	return KEEP_SAMPLES;
}

/* ---- exit ---- */

/*
 * The kernel adds up a thread's CPU time when it is switched away from, and at each tick: a process
 * may end before the first. What the thread has used since then is known by the clock of its run
 * queue, which a program cannot read, but which has just been updated when a new thread is woken
 * up: it then differs by this from the clock that a program can read.
 */
__u64 exec_clock_ahead;

static __always_inline struct rq___exec *exec_queue_of(struct task_struct *task)
{
	struct cfs_rq___exec *none = NULL;

	if (!bpf_core_field_exists(none->rq))
		return NULL;
	return BPF_CORE_READ((struct task_struct___exec *)task, se.cfs_rq, rq);
}

SEC("?raw_tp/sched_wakeup_new")
int exec_new(struct bpf_raw_tracepoint_args *ctx)
{
	struct rq___exec *rq = exec_queue_of((void *)ctx->args[0]);

	if (enabled && rq)
		exec_clock_ahead = bpf_ktime_get_ns() - BPF_CORE_READ(rq, clock);
	return 0;
}

/* CPU time of the current thread that the kernel has not added up yet. More than two ticks are a
 * mistake. */
static __always_inline __u64 exec_cpu_since_ns(struct task_struct *task)
{
	struct task_struct___exec *t = (void *)task;
	struct rq___exec *rq = exec_queue_of(task);
	__u64 now = bpf_ktime_get_ns() - exec_clock_ahead;
	__s64 ns;

	if (!rq || !exec_clock_ahead)
		return 0;
	ns = now - BPF_CORE_READ(rq, clock) + BPF_CORE_READ(rq, clock_task) -
	     BPF_CORE_READ(t, se.exec_start);
	return ns > 0 && ns < 20000000 ? ns : 0;
}

/* CPU time of all threads of the process: of those that are gone, and of those still listed. */
static __always_inline __u64 exec_cpu_ns(struct signal_struct *signal)
{
	__u64 head = (__u64)&signal->thread_head, sum = BPF_CORE_READ(signal, sum_sched_runtime);
	__u64 node = (__u64)BPF_CORE_READ(signal, thread_head.next);
	struct task_struct___exec *task;

	for (int i = 0; i < THREADS_MAX && node && node != head; i++) {
		task = (void *)node - bpf_core_field_offset(struct task_struct___exec, thread_node);
		sum += BPF_CORE_READ(task, se.sum_exec_runtime);
		node = (__u64)BPF_CORE_READ(task, thread_node.next);
	}
	return sum;
}

static __always_inline void exec_count_exit(struct task_struct *leader, __u32 code, __u64 lifetime,
					    __u64 cpu_ns)
{
	struct metric_key key = {};

	bpf_probe_read_kernel(key.part, WIRE_COMM_LEN, leader->comm);
	hist_add(PROBE_exec, SERIES_exec_lifetime, &key, lifetime);
	key.part[EXEC_PART_CODE] = code;
	count_add(PROBE_exec, SERIES_exec_exits, &key, cpu_ns);
}

/*
 * 4f6fc7821283 ("perf: Fix sample vs do_exit()", 6.16 and stable kernels from 5.10 on) moved perf's
 * exit record, by which obrec learns of the end, before the tracepoint. 6.16 moved that as well
 * (see e80abd3dc0c1, "exit: move and extend sched_process_exit() tracepoint").
 */
static __always_inline bool exec_was_recorded(__u32 tgid)
{
	struct proc *p = bpf_map_lookup_elem(&procs, &tgid);

	return p && p->flags & PROC_ENDED;
}

/* A process by its leader: pids are used again. */
struct exec_process {
	__u64 start_ns, tgid;
};
/* Those that ended a moment ago. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, struct exec_process);
	__type(value, __u8);
} exec_ended SEC(".maps");

/*
 * Whether this is the first thread to find that none is left. Threads that end at the same time may
 * all do: each is no longer counted when its tracepoint comes.
 */
static __always_inline bool exec_is_first(__u64 start_ns, __u32 tgid)
{
	struct exec_process process = {.start_ns = start_ns, .tgid = tgid};
	__u8 ended = 1;

	return !bpf_map_update_elem(&exec_ended, &process, &ended, BPF_NOEXIST);
}

SEC("?raw_tp/sched_process_exit")
int exec_end(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0], *leader, *parent;
	__u32 tid = task_pid(task, false), tgid = task_tgid(task, false), ppid, code, at;
	struct task_struct___exec *t;
	struct signal_struct *signal;
	char comm[WIRE_COMM_LEN];
	struct event_exit *e;
	__u64 start_ns, lifetime, cpu_ns;

	bpf_map_delete_elem(&exec_calls, &tid);
	t = (void *)task;
	signal = BPF_CORE_READ(t, signal);
	if (!enabled || BPF_CORE_READ(signal, live.counter))
		return 0;
	if (!is_recorded(tgid) && !exec_was_recorded(tgid))
		return 0;
	leader = BPF_CORE_READ(task, group_leader);
	t = (void *)leader;
	start_ns = BPF_CORE_READ(t, start_time);
	if (!exec_is_first(start_ns, tgid))
		return 0;
	if (BPF_CORE_READ(signal, flags) & SIGNAL_GROUP_EXIT)
		code = BPF_CORE_READ(signal, group_exit_code);
	else
		code = BPF_CORE_READ(t, exit_code);
	lifetime = bpf_ktime_get_ns() - start_ns;
	cpu_ns = exec_cpu_ns(signal) + exec_cpu_since_ns(task);
	exec_count_exit(leader, code, lifetime, cpu_ns);
	if (exec_failed && !code)
		return 0;
	parent = parent_of(leader);
	ppid = task_tgid(parent, false);
	bpf_probe_read_kernel(comm, sizeof(comm), leader->comm);
	e = EVENT_BEGIN_OF(exec, exit, SERIES_exec_exit_events, ppid, ENTRY_TRACEPOINT,
			   (__u64)tgid << 32 | tgid, comm, comm);
	if (!e)
		return 0;
	e->ppid = ppid;
	e->uid = uid_of(leader);
	e->status = code >> 8 & 255;
	e->signal = code & 127;
	e->core = code >> 7 & 1;
	e->lifetime_ns = lifetime;
	e->cpu_ns = cpu_ns;
	e->peak_rss = BPF_CORE_READ(signal, maxrss) * exec_page_sz;
	at = EVENT_TEXT_AT(exit);
	e->parent = EVENT_LEN(event_kernel_text(ENTRY_TRACEPOINT, at, (__u64)parent->comm));
	EVENT_SEND(exit, e, ENTRY_TRACEPOINT, e->parent);
	return 0;
}
