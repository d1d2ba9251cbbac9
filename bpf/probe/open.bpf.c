/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * File opens: open, openat, openat2 and creat, each with its own tracepoints, so that other system
 * calls have no overhead. The path is read at the exit, when the kernel has already paged it in.
 */
#include "bpf/event.bpf.h"
#include "bpf/syscall_args.bpf.h"

const volatile bool open_failed; /* only failed calls */
const volatile bool open_stack;
const volatile __u64 open_min_ns;

struct open_call {
	__u64 begin_ns;
	const char *path;
	__u64 flags, mode;
	const __u64 *how; /* openat2: struct open_how, which contains both */
};
CALLS_IN_PROGRESS(open_calls, open_call);

SEC("?tracepoint/syscalls/sys_enter_open")
int open_enter_open(struct syscall_enter *ctx)
{
	struct open_call call = {
		.path = (void *)ctx->args[0], .flags = ctx->args[1], .mode = ctx->args[2]};

	call_begin(&open_calls, &call);
	return KEEP_SAMPLES;
}

SEC("?tracepoint/syscalls/sys_enter_creat")
int open_enter_creat(struct syscall_enter *ctx)
{
	struct open_call call = {.path = (void *)ctx->args[0],
				 .flags = 01 | 0100 | 01000, /* O_WRONLY | O_CREAT | O_TRUNC */
				 .mode = ctx->args[1]};

	call_begin(&open_calls, &call);
	return KEEP_SAMPLES;
}

SEC("?tracepoint/syscalls/sys_enter_openat")
int open_enter_openat(struct syscall_enter *ctx)
{
	struct open_call call = {
		.path = (void *)ctx->args[1], .flags = ctx->args[2], .mode = ctx->args[3]};

	call_begin(&open_calls, &call);
	return KEEP_SAMPLES;
}

SEC("?tracepoint/syscalls/sys_enter_openat2")
int open_enter_openat2(struct syscall_enter *ctx)
{
	struct open_call call = {.path = (void *)ctx->args[1], .how = (void *)ctx->args[2]};

	call_begin(&open_calls, &call);
	return KEEP_SAMPLES;
}

/* Sends the event of a call that ended. Changes *call, which is not copied: the stack is short of
 * room below it. */
static __always_inline void open_send(struct syscall_exit *ctx, struct open_call *call, __u64 id)
{
	__u64 how[2] = {}, now = bpf_ktime_get_ns();
	struct event_open *e;
	long ret = ctx->ret;

	if (!enabled || (open_failed && ret >= 0) || now - call->begin_ns < open_min_ns)
		return;
	e = EVENT_BEGIN(open, ENTRY_TRACEPOINT, id);
	if (!e)
		return;
	if (call->how && !bpf_probe_read_user(how, sizeof(how), call->how)) {
		call->flags = how[0];
		call->mode = how[1];
	}
	e->flags = call->flags;
	if (call->flags & (0100 | 020000000)) /* O_CREAT, O_TMPFILE: else not used */
		e->mode = call->mode & 07777;
	if (ret < 0)
		e->error = -ret;
	else
		e->fd = ret;
	e->duration_ns = now - call->begin_ns;
	if (open_stack)
		event_stacks(ctx, ENTRY_TRACEPOINT, e);
	e->path = EVENT_LEN(
		event_user_text(ENTRY_TRACEPOINT, EVENT_TEXT_AT(open), (__u64)call->path));
	EVENT_SEND(open, e, ENTRY_TRACEPOINT, e->path);
}

static __always_inline int open_exit(struct syscall_exit *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tid = id;
	struct open_call *call = bpf_map_lookup_elem(&open_calls, &tid);

	if (!call)
		return 0;
	open_send(ctx, call, id);
	bpf_map_delete_elem(&open_calls, &tid);
	return 0;
}

#define OPEN_EXIT(name)                                                                            \
	SEC("?tracepoint/syscalls/sys_exit_" #name)                                                \
	int open_exit_##name(struct syscall_exit *ctx)                                             \
	{                                                                                          \
		open_exit(ctx);                                                                    \
		return KEEP_SAMPLES;                                                               \
	}
OPEN_EXIT(open)
OPEN_EXIT(creat)
OPEN_EXIT(openat)
OPEN_EXIT(openat2)
