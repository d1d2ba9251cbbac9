/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * System calls: count, time, errors and latency by process and call; slow and failed calls also as
 * events. Two programs run at each call, of which there may be a million per second, so a call that
 * is only counted uses one cache line of its thread and one cell: no hash map, no lock, and apart
 * from the clock one helper.
 */
#include "bpf/event.bpf.h"
#include "bpf/probe/syscall.h"

const volatile __u64 syscall_min_ns;		 /* calls from this on are events */
const volatile bool syscall_failed;		 /* failed calls are events */
const volatile bool syscall_waits;		 /* also slow calls that wait by design */
const volatile bool syscall_stack;		 /* failed calls have stacks too */
const volatile __u32 syscall_ends[SYSCALL_ENDS]; /* numbers of calls that do not return */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, struct syscall_thread);
} syscall_threads SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u64);
	__type(value, struct syscall_thread);
} syscall_others SEC(".maps");
/* Slots that have an owner: who adds the key may take the slot. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, __u32);
} syscall_owned SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, struct syscall_info);
} syscall_infos SEC(".maps");
struct metric_own_map syscall_cells SEC(".maps");
__u64 syscall_other_cnt; /* in syscall_others */

static __always_inline __u32 slot_of(__u64 id)
{
	return (id >> 6) * 0x9e3779b97f4a7c15ULL >> 51; /* 13 bits: SYSCALL_THREADS */
}

/* The thread's entry; NULL: it has none. */
static __always_inline struct syscall_thread *thread_of(__u64 id)
{
	__u32 at = slot_of(id);
	struct syscall_thread *t = bpf_map_lookup_elem(&syscall_threads, &at);

	if (t && t->id == id)
		return t;
	return syscall_other_cnt ? bpf_map_lookup_elem(&syscall_others, &id) : NULL;
}

static __always_inline struct syscall_thread *thread_new(__u64 id)
{
	__u32 at = slot_of(id);
	struct syscall_thread *t = bpf_map_lookup_elem(&syscall_threads, &at), other = {};

	if (t && !t->id && !bpf_map_update_elem(&syscall_owned, &at, &at, BPF_NOEXIST)) {
		t->begin_ns = 0;
		t->id = id;
		return t;
	}
	other.id = id;
	if (bpf_map_update_elem(&syscall_others, &id, &other, BPF_NOEXIST)) {
		loss_count(LOSS_PENDING);
		return NULL;
	}
	add_atomically(&syscall_other_cnt, 1);
	return bpf_map_lookup_elem(&syscall_others, &id);
}

static __always_inline void thread_free(__u64 id)
{
	__u32 at = slot_of(id);
	struct syscall_thread *t = bpf_map_lookup_elem(&syscall_threads, &at);

	if (t && t->id == id) {
		t->id = 0;
		bpf_map_delete_elem(&syscall_owned, &at);
	} else if (!bpf_map_delete_elem(&syscall_others, &id)) {
		add_atomically(&syscall_other_cnt, -1);
	}
}

struct thread_info {
	__u32 status; /* x86 */
	unsigned long flags;
} __attribute__((preserve_access_index));
struct task_struct___info {
	struct thread_info thread_info;
} __attribute__((preserve_access_index));

/* Whether the current call is one of a 32-bit program. */
static __always_inline bool is_compat(struct task_struct *task)
{
	struct task_struct___info *t = (void *)task;
#if defined(__TARGET_ARCH_x86)
	enum { TS_COMPAT = 2 };

	return (have_task_pt_regs ? t->thread_info.status : BPF_CORE_READ(t, thread_info.status)) &
	       TS_COMPAT;
#else
	enum { TIF_32BIT = 22 };

	return (have_task_pt_regs ? t->thread_info.flags : BPF_CORE_READ(t, thread_info.flags)) >>
		       TIF_32BIT &
	       1;
#endif
}

static __always_inline __u32 number_of(__u64 nr, struct task_struct *task)
{
	nr &= ~0x40000000ULL; /* x32 */
	if (nr >= SYSCALL_COMPAT)
		return SYSCALL_UNKNOWN;
	return is_compat(task) ? nr + SYSCALL_COMPAT : nr;
}

static __always_inline bool is_end(__u32 nr)
{
	bool is = false;

	for (int i = 0; i < SYSCALL_ENDS; i++)
		is |= nr == syscall_ends[i];
	return is;
}

/* Takes whose call it is. */
static __always_inline void take_who(struct syscall_thread *t, struct task_struct *task, __u64 who)
{
	t->who = who;
	if (have_task_pt_regs) {
		__builtin_memcpy(t->comm, task->comm, sizeof(t->comm));
		task_process_name(t->process, task, true);
	} else {
		bpf_get_current_comm(t->comm, sizeof(t->comm));
		task_process_name(t->process, (void *)bpf_get_current_task(), false);
	}
}

/* exit() and exit_group() do not return. */
static __always_inline void on_end(struct syscall_thread *t, __u64 id, __u32 nr)
{
	struct metric_key key = {.part[SYSCALL_PART_NUMBER] = nr};

	metric_key_process(&key);
	count_add(PROBE_syscall, SERIES_syscall_unreturned, &key, 0);
	if (t)
		thread_free(id);
}

static __always_inline int on_enter(__u64 id, __u64 number)
{
	struct syscall_thread *t;
	struct task_struct *task;
	__u64 who;
	__u32 nr;

	if (!enabled)
		return 0;
	if (have_task_pt_regs) {
		task = (void *)bpf_get_current_task_btf();
		who = task_who_typed(task);
	} else {
		task = (void *)bpf_get_current_task();
		who = bpf_get_current_pid_tgid();
	}
	if (!is_recorded(who >> 32))
		return 0;
	nr = number_of(number, task);
	t = thread_of(id);
	if (is_end(nr)) {
		on_end(t, id, nr);
		return 0;
	}
	if (!t)
		t = thread_new(id);
	if (!t)
		return 0;
	take_who(t, task, who);
	t->number = nr;
	t->begin_ns = bpf_ktime_get_ns();
	return 0;
}

/* The saved registers with the arguments; they keep them until the call returns. */
struct call_regs {
#if defined(__TARGET_ARCH_x86)
	__u64 bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
#else
	__u64 x[6], orig_x0;
#endif
};

/* Not inline: its stack is free again when the stacks are taken. */
static __noinline int take_args(struct event_syscall *e, bool compat)
{
	const struct arch_regs *regs = current_regs_place();
	struct call_regs r = {};

#if defined(__TARGET_ARCH_x86)
	bpf_probe_read_kernel(&r, sizeof(r), &regs->bp);
	e->arg0 = compat ? r.bx : r.di;
	e->arg1 = compat ? r.cx : r.si;
	e->arg2 = r.dx;
	e->arg3 = compat ? r.si : r.r10;
	e->arg4 = compat ? r.di : r.r8;
	e->arg5 = compat ? r.bp : r.r9;
#else
	bpf_probe_read_kernel(&r.x, sizeof(r.x), regs->regs);
	bpf_probe_read_kernel(&r.orig_x0, sizeof(r.orig_x0), &regs->orig_x0);
	e->arg0 = r.orig_x0; /* regs[0] is the result */
	e->arg1 = r.x[1];
	e->arg2 = r.x[2];
	e->arg3 = r.x[3];
	e->arg4 = r.x[4];
	e->arg5 = r.x[5];
#endif
	return 0;
}

/* Clears what the registers of further arguments hold. */
static __always_inline void cut_args(struct event_syscall *e, __u32 cnt)
{
	e->args = cnt;
	e->arg0 = cnt > 0 ? e->arg0 : 0;
	e->arg1 = cnt > 1 ? e->arg1 : 0;
	e->arg2 = cnt > 2 ? e->arg2 : 0;
	e->arg3 = cnt > 3 ? e->arg3 : 0;
	e->arg4 = cnt > 4 ? e->arg4 : 0;
	e->arg5 = cnt > 5 ? e->arg5 : 0;
}

/* Copies argument `n` - 1, a path; 0: none. It was paged in by the call. */
static __always_inline __u32 take_path(struct event_syscall *e, __u32 at, __u32 n)
{
	const __u64 *args = &e->arg0;

	if (!n)
		return 0;
	n--;
	asm volatile("%0 &= 7" : "+r"(n)); /* what follows the six is a number too */
	return EVENT_LEN(event_user_text(ENTRY_TRACEPOINT, EVENT_TEXT_AT(syscall) + at, args[n]));
}

static __always_inline __u32 take_texts(struct event_syscall *e, const struct syscall_info *info)
{
	long n = bpf_probe_read_kernel_str(e->text, SYSCALL_NAME_LEN, info->name);

	e->call = n > 0 ? (n - 1) & (SYSCALL_NAME_LEN - 1) : 0;
	e->path = take_path(e, e->call, info->paths[0]);
	e->path2 = take_path(e, e->call + e->path, info->paths[1]);
	return e->call + e->path + e->path2;
}

static __always_inline void syscall_send(void *ctx, const struct syscall_thread *t,
					 const struct syscall_info *info, long ret, __u32 error,
					 __u64 ns, bool stacks)
{
	struct event_syscall *e =
		EVENT_BEGIN_AS(syscall, ENTRY_TRACEPOINT, t->who, t->comm, t->process);

	if (!e)
		return;
	/* First, so that they need not be kept on the stack. */
	e->ret = error ? 0 : ret;
	e->error = error;
	e->duration_ns = ns;
	take_args(e, t->number >= SYSCALL_COMPAT);
	cut_args(e, info->args);
	if (stacks)
		event_stacks(ctx, ENTRY_TRACEPOINT, e);
	EVENT_SEND(syscall, e, ENTRY_TRACEPOINT, take_texts(e, info));
}

/* A call that took long or returned what may be an error. `key`: of its latency. */
static __always_inline void notable(void *ctx, const struct syscall_thread *t,
				    struct metric_key *key, long ret, __u64 ns)
{
	__u32 nr = t->number, error = (unsigned long)ret >= -4095UL ? -ret : 0;
	struct syscall_info *info = bpf_map_lookup_elem(&syscall_infos, &nr);
	bool slow;

	if (!info)
		return;
	if (info->flags & SYSCALL_RESTORES)
		error = 0;
	if (error) {
		key->series = SERIES_NUMBER(PROBE_syscall, SERIES_syscall_errors);
		key->bucket = 0;
		key->part[SYSCALL_PART_ERROR] = error;
		metric_own_add(&syscall_cells, key, 0);
	}
	slow = ns >= syscall_min_ns && (syscall_waits || !(info->flags & SYSCALL_WAITS));
	if (slow || (error && syscall_failed))
		syscall_send(ctx, t, info, ret, error, ns, slow || syscall_stack);
}

/* The number of the call that returns. */
static __always_inline __u64 number_returned(void)
{
	const struct arch_regs *regs = current_regs_place();
	__u64 nr = -1;

#if defined(__TARGET_ARCH_x86)
	bpf_probe_read_kernel(&nr, sizeof(nr), &regs->orig_ax);
#else
	bpf_probe_read_kernel(&nr, sizeof(regs->syscallno), &regs->syscallno);
	nr = (__u32)nr;
#endif
	return nr;
}

/* Whether a call that was not entered fails: seccomp, a tracer or the program's own dispatch has
 * rejected it before sys_enter (syscall_trace_enter() in kernel/entry/). */
static __noinline int take_rejected(struct syscall_thread *t, long ret)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 who = bpf_get_current_pid_tgid();

	if (!enabled || (unsigned long)ret < -4095UL || !is_recorded(who >> 32))
		return 0;
	if (have_task_pt_regs)
		task = (void *)bpf_get_current_task_btf();
	take_who(t, task, who);
	t->number = number_of(number_returned(), task);
	return 1;
}

static __always_inline int on_exit(void *ctx, __u64 id, long ret)
{
	struct syscall_thread *t = thread_of(id);
	struct metric_key key = {};
	__u64 ns = 0;

	if (!t)
		return 0;
	if (t->begin_ns)
		ns = bpf_ktime_get_ns() - t->begin_ns;
	else if (!take_rejected(t, ret))
		return 0;
	t->begin_ns = 0;
	if (!enabled)
		return 0;
	metric_key_comm(&key, t->process);
	key.part[SYSCALL_PART_NUMBER] = t->number;
	key.series = SERIES_NUMBER(PROBE_syscall, SERIES_syscall_latency);
	key.bucket = METRIC_COARSE(metric_bucket(ns));
	metric_own_add(&syscall_cells, &key, ns);
	if (ns >= syscall_min_ns || (unsigned long)ret >= -4095UL)
		notable(ctx, t, &key, ret, ns);
	return 0;
}

SEC("?raw_tp/sys_enter")
int syscall_enter(struct bpf_raw_tracepoint_args *ctx)
{
	return on_enter(ctx->args[0], ctx->args[1]);
}

SEC("?raw_tp/sys_exit")
int syscall_exit(struct bpf_raw_tracepoint_args *ctx)
{
	return on_exit(ctx, ctx->args[0], ctx->args[1]);
}

/* tracefs: events/raw_syscalls/sys_enter/format and sys_exit/format */
struct raw_syscall {
	__u64 common;
	__s64 id;
	__u64 arg0; /* at the exit the result */
};

SEC("?tracepoint/raw_syscalls/sys_enter")
int syscall_enter_perf(struct raw_syscall *ctx)
{
	on_enter(bpf_get_current_task(), ctx->id);
	return KEEP_SAMPLES;
}

SEC("?tracepoint/raw_syscalls/sys_exit")
int syscall_exit_perf(struct raw_syscall *ctx)
{
	on_exit(ctx, bpf_get_current_task(), ctx->arg0);
	return KEEP_SAMPLES;
}
