/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Calls in progress, of programs (func.bpf.c) and of the kernel (func_in_kernel.bpf.c): they are
 * noted at the entry, and found again at the return by their frames.
 */
#ifndef BPF_FUNC_CALLS_BPF_H
#define BPF_FUNC_CALLS_BPF_H

#include "bpf/probe/func.bpf.h"

extern const volatile __u64 func_min_ns; /* calls of this length or more become events */
extern const volatile __u64
	func_min_values_ns; /* likewise of functions with arguments or a result */
extern const volatile bool func_any_args, func_any_untimed;

struct func_threads_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u64);
	__type(value, struct func_thread);
};
extern struct func_threads_map func_threads SEC(".maps");

struct func_places_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, struct func_place);
	__type(value, __u32);
};
extern struct func_places_map func_places SEC(".maps");

/* A new thread's; too large for the stack. */
struct func_no_calls_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct func_thread);
};
extern struct func_no_calls_map func_no_calls SEC(".maps");

/* Why a call's frame is gone: functions of the kernel neither throw nor jump. */
#define FUNC_LEFT(kernel) ((kernel) ? FUNC_MISSED : FUNC_SKIPPED)
#define CALL_AT(t, i) (&(t)->call[(i) & (FUNC_DEPTH - 1)])

/* Count a call that has returned, or has not. */
int func_count(__u32 function, __u64 ns);
int func_count_unfinished(__u32 function, __u32 reason, __u64 ns);

/* A call that has ended. */
struct func_done {
	__u64 thread;
	__u32 function, depth; /* thread, depth: of its arguments */
	__u64 ns, result, wants;
};

/* Appends arguments and result to the text, which is `at` bytes long. Returns its new length. */
static __always_inline __u32 func_put_values(struct event_func *e, __u32 entry,
					     const struct func_done *d, __u32 at)
{
#define PUT(i, field)                                                                              \
	do {                                                                                       \
		if (!FUNC_WANTED(d->wants, i))                                                     \
			break;                                                                     \
		e->field = func_put_arg(entry | (i) << 8, EVENT_TEXT_AT(func) + at, d->thread,     \
					d->depth, FUNC_WANTED(d->wants, i)) &                      \
			   (FUNC_STR_MAX - 1);                                                     \
		at += e->field;                                                                    \
	} while (0)
	PUT(0, arg1);
	PUT(1, arg2);
	PUT(2, arg3);
	PUT(3, arg4);
	PUT(4, arg5);
	PUT(5, arg6);
#undef PUT
	if (FUNC_WANTED(d->wants, FUNC_RESULT)) {
		e->ret = func_put_value(entry, EVENT_TEXT_AT(func) + at, d->result,
					FUNC_WANTED(d->wants, FUNC_RESULT)) &
			 (FUNC_STR_MAX - 1);
		at += e->ret;
	}
	return at;
}

/* entry: ENTRY_UPROBE, or that of functions of the kernel. */
static __always_inline void func_send(void *ctx, __u32 entry, const struct func_done *d)
{
	struct event_func *e = EVENT_BEGIN(func, entry, bpf_get_current_pid_tgid());
	struct scratch *s = scratch_of(entry);
	__u32 names;

	if (!e)
		return;
	e->duration_ns = d->ns;
	if (entry != ENTRY_UPROBE) {
		event_stacks(ctx, entry, e);
	} else if (s) {
		user_stack_take(ENTRY_UPROBE);
		e->user_stack = s->sample.user_stack;
	}
	names = func_put_names(entry, EVENT_TEXT_AT(func), d->function);
	e->function = names & (FUNC_NAME_LEN - 1);
	e->binary = names >> 16 & (FUNC_BINARY_LEN - 1);
	EVENT_SEND(func, e, entry, func_put_values(e, entry, d, e->function + e->binary));
}

/* ---- calls in progress */

static __always_inline struct func_thread *func_thread_of(__u64 key)
{
	struct func_thread *t = bpf_map_lookup_elem(&func_threads, &key), *none;
	__u32 zero = 0;

	if (t)
		return t;
	none = bpf_map_lookup_elem(&func_no_calls, &zero);
	if (!none || bpf_map_update_elem(&func_threads, &key, none, BPF_NOEXIST))
		return NULL;
	return bpf_map_lookup_elem(&func_threads, &key);
}

/* Removes the calls whose frames are below `frame`, by which they did not return; `kernel`: only
 * of the same stack, as interrupts have others. */
static __always_inline void func_drop(struct func_thread *t, __u64 thread, __u64 frame,
				      __u32 reason, __u64 now, bool kernel)
{
	for (int i = 0; i < FUNC_DEPTH && t->depth; i++) {
		struct func_call *c = CALL_AT(t, t->depth - 1);

		if (c->frame >= frame || (kernel && (c->frame ^ frame) >= FUNC_KERNEL_STACK))
			break;
		func_count_unfinished(c->function, c->missed ? FUNC_MISSED : reason,
				      now - c->begin_ns);
		t->depth--;
		if (func_any_args)
			func_drop_args(thread, t->depth);
	}
}

/* Both are read: the compiler would choose their offset, and that of a context must be constant. */
static __always_inline __u64 func_arg_of(bool go, __u64 of_go, __u64 of_c)
{
	asm volatile("" : "+r"(of_go), "+r"(of_c));
	return go ? of_go : of_c;
}

/* arg: of the call; NULL: in its registers. */
static __always_inline void func_save_args(struct arch_ctx_regs *regs, const __u64 *arg,
					   __u64 wants, __u64 thread, __u32 depth)
{
	bool go = FUNC_KEY_TGID(thread);

#define SAVE(i)                                                                                    \
	do {                                                                                       \
		if (FUNC_WANTED(wants, i))                                                         \
			func_save_arg(                                                             \
				thread, FUNC_ARG_AT(depth, i),                                     \
				arg ? arg[i]                                                       \
				    : func_arg_of(go, CTX_GO_ARG##i(regs), CTX_ARG##i(regs)),      \
				FUNC_WANTED(wants, i));                                            \
	} while (0)
	if (!(wants & FUNC_WANTS_ARGS))
		return;
	SAVE(0);
	SAVE(1);
	SAVE(2);
	SAVE(3);
	SAVE(4);
	SAVE(5);
#undef SAVE
}

/* Whose calls these are, and a frame of its stack. */
struct func_frame {
	__u64 thread, at;
};

static __always_inline struct func_frame func_frame_of(__u64 sp, bool kernel)
{
	__u32 tid = bpf_get_current_pid_tgid();

	return (struct func_frame){tid | (kernel ? FUNC_KERNEL : 0), sp};
}

/*
 * As above, of a function of Go. A goroutine's descriptor begins with the bounds of its stack
 * (runtime2.go of Go's runtime: struct g, struct stack).
 */
static __always_inline struct func_frame func_frame_of_go(struct arch_ctx_regs *regs, __u64 sp)
{
	__u64 g = CTX_GO(regs), top = 0;

	bpf_probe_read_user(&top, sizeof(top), (void *)g + 8);
	return (struct func_frame){FUNC_KEY_GOROUTINE(bpf_get_current_pid_tgid() >> 32, g),
				   (1ULL << 62) + sp - top};
}

/* missed: the return will not be seen. */
static __always_inline int func_enter_at(struct arch_ctx_regs *regs, const __u64 *arg,
					 struct func_frame frame, __u32 cookie, bool kernel,
					 bool missed)
{
	__u64 id = bpf_get_current_pid_tgid(), depth, thread = frame.thread;
	__u32 function = FUNC_COOKIE_NUMBER(cookie);
	__u32 most = cookie & FUNC_SHARES_FRAME && !kernel ? FUNC_RETPROBES : FUNC_DEPTH;
	struct func_thread *t;
	struct func_call *c;
	bool shares;

	keep_task_stack();
	if (!enabled || !is_recorded(id >> 32))
		return 0;
	t = func_thread_of(thread);
	if (!t) {
		loss_count(LOSS_PENDING);
		return 0;
	}
	/* A call in the same frame is over as well, unless it ended in this one. */
	c = CALL_AT(t, t->depth - 1);
	if (cookie & FUNC_LOOPS && !kernel && t->depth && c->frame == frame.at &&
	    c->function == function)
		return 0;
	shares = cookie & FUNC_SHARES_FRAME && c->function != function && !c->missed;
	func_drop(t, thread, frame.at + !shares, FUNC_LEFT(kernel), bpf_ktime_get_ns(), kernel);
	depth = t->depth;
	if (depth >= most)
		return func_count_unfinished(function, FUNC_DEEP, 0);
	if (!depth)
		task_process_name(t->process, (void *)bpf_get_current_task(), false);
	c = CALL_AT(t, depth);
	c->frame = frame.at;
	c->function = function;
	c->missed = missed;
	t->depth = depth + 1;
	if (func_any_args)
		func_save_args(regs, arg, func_wants(function), thread, depth);
	c->begin_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int func_enter(struct arch_ctx_regs *regs, __u32 cookie, bool kernel,
				      bool missed)
{
	__u64 sp = regs->sp + FUNC_COOKIE_BELOW(cookie);
	bool go = !kernel && cookie & FUNC_GO;

	if (go && CTX_GO_GROWS(regs)) /* and then begins again */
		return 0;
	return func_enter_at(regs, NULL,
			     go ? func_frame_of_go(regs, sp) : func_frame_of(sp, kernel), cookie,
			     kernel, missed);
}

/* Counts the call, and sends it if it was long enough. known: its result is. */
static __always_inline void func_tell(void *ctx, struct func_done *d, bool known, bool kernel)
{
	__u32 entry = kernel ? ENTRY_TRACEPOINT : ENTRY_UPROBE;
	bool send = true;

	if (FUNC_WANTED(d->wants, FUNC_RESULT))
		func_count_result(d->function, d->result,
				  known ? FUNC_WANTED(d->wants, FUNC_RESULT) : FUNC_TYPE_NONE);
	if (d->wants & FUNC_UNTIMED)
		d->ns = 0;
	else
		func_count(d->function, d->ns);
	if (!(d->wants & FUNC_UNTIMED) &&
	    d->ns < (d->wants & FUNC_WANTS_VALUES ? func_min_values_ns : func_min_ns))
		send = false;
	if (!known)
		d->wants &= ~FUNC_WANTS(FUNC_RESULT, 15);
	if (send && !(func_thin && func_is_thinned(SERIES_EVENTS)))
		func_send(ctx, entry, d);
	if (func_any_args && d->wants & FUNC_WANTS_ARGS)
		func_drop_args(d->thread, d->depth);
}

/* A goroutine without calls in progress is forgotten, as its end is not seen. */
static __always_inline int func_idle(__u64 thread)
{
	if (FUNC_KEY_TGID(thread))
		bpf_map_delete_elem(&func_threads, &thread);
	return 0;
}

/* function < 0: not known. known: the result is, else the function ends in another one. below: how
 * far `frame` may be below that of the entry. */
static __always_inline int func_leave_near(void *ctx, __u64 result, struct func_frame frame,
					   __u32 below, __s64 function, bool known, bool kernel)
{
	__u64 id = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();
	struct func_done d = {.thread = frame.thread, .result = result};
	struct func_thread *t;
	struct func_call *c;

	keep_task_stack();
	if (!enabled)
		return 0;
	if (function >= 0 && func_any_untimed) {
		d.function = function;
		d.wants = func_wants(function);
		if (d.wants & FUNC_UNTIMED) {
			if (is_recorded(id >> 32))
				func_tell(ctx, &d, known, kernel);
			return 0;
		}
	}
	t = bpf_map_lookup_elem(&func_threads, &d.thread);
	if (!t || !t->depth)
		return 0;
	func_drop(t, d.thread, frame.at, FUNC_LEFT(kernel), now, kernel);
	if (!t->depth)
		return func_idle(d.thread);
	c = CALL_AT(t, t->depth - 1);
	if (c->frame - frame.at > below || (function >= 0 && c->function != function))
		return 0;
	t->depth--;
	d.depth = t->depth;
	d.function = c->function;
	d.ns = now - c->begin_ns;
	d.wants = func_wants(d.function);
	func_tell(ctx, &d, known, kernel);
	return t->depth ? 0 : func_idle(d.thread);
}

static __always_inline int func_leave(struct arch_ctx_regs *regs, __u64 sp, __s64 function,
				      bool known, bool kernel)
{
	return func_leave_near(regs, CTX_RET(regs), func_frame_of(sp, kernel), 0, function, known,
			       kernel);
}

static __always_inline int func_leave_go(struct arch_ctx_regs *regs, __s64 function, bool known)
{
	return func_leave_near(regs, CTX_RET(regs), func_frame_of_go(regs, regs->sp), 0, function,
			       known, false);
}

/* The stack pointer of a uretprobe is that behind the return. */
#if defined(__TARGET_ARCH_x86)
#define FUNC_RETURN_SZ 8
#else
#define FUNC_RETURN_SZ 0
#endif

#endif
