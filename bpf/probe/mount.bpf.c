/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Mounts: mount(), umount2(), pivot_root() and the calls that build a mount in steps (5.2), each
 * with its own tracepoints. Text is read at the exit, when the kernel has already paged it in.
 */
#include "bpf/event.bpf.h"
#include "bpf/probe/mount.h"
#include "bpf/syscall_args.bpf.h"

const volatile bool mount_failed; /* only failed calls */
const volatile bool mount_stack;

#define X(tracepoint, name, ...) CALL_##tracepoint,
enum mount_number { MOUNT_CALLS(X) };
#undef X
#define X(tracepoint, name, ...) [CALL_##tracepoint] = name,
static const char mount_names[MOUNT_CALL_CNT][MOUNT_CALL_LEN] = {MOUNT_CALLS(X)};
#undef X

/* enum fsconfig_command of the uapi: those whose value is a string. */
enum { FSCONFIG_SET_STRING_ = 1, FSCONFIG_SET_PATH_ = 3, FSCONFIG_SET_PATH_EMPTY_ = 4 };

struct mount_attr {
	__u64 set, clear, propagation, userns_fd;
};

struct ns_common {
	unsigned int inum;
} __attribute__((preserve_access_index));
struct mnt_namespace {
	struct ns_common ns;
} __attribute__((preserve_access_index));
struct nsproxy {
	struct mnt_namespace *mnt_ns;
} __attribute__((preserve_access_index));
struct task_struct___mount {
	struct nsproxy *nsproxy;
} __attribute__((preserve_access_index));

struct mount_call {
	__u64 begin_ns;
	__u32 number, fd;
	__u64 source, target, type; /* strings; 0: the call has none */
	__u64 data, value;	    /* settings; of fsconfig its key and value */
	__u64 flags, attributes;
	__u64 change; /* struct mount_attr */
};
CALLS_IN_PROGRESS(mount_calls, mount_call);

/* ENTER(tracepoint, fields of struct mount_call from the arguments `a`) */
#define ENTER(name, ...)                                                                           \
	SEC("?tracepoint/syscalls/sys_enter_" #name)                                               \
	int mount_enter_##name(struct syscall_enter *ctx)                                          \
	{                                                                                          \
		const __u64 *a = ctx->args;                                                        \
		struct mount_call call = {.number = CALL_##name, __VA_ARGS__};                     \
                                                                                                   \
		call_begin(&mount_calls, &call);                                                   \
		return KEEP_SAMPLES;                                                               \
	}
ENTER(mount, .source = a[0], .target = a[1], .type = a[2], .flags = a[3], .data = a[4])
ENTER(umount, .target = a[0], .flags = (__u32)a[1])
ENTER(pivot_root, .source = a[0], .target = a[1])
ENTER(fsopen, .type = a[0], .flags = (__u32)a[1])
ENTER(fspick, .fd = a[0], .target = a[1], .flags = (__u32)a[2])
ENTER(fsconfig, .fd = a[0], .flags = (__u32)a[1], .data = a[2], .value = a[3])
ENTER(fsmount, .fd = a[0], .flags = (__u32)a[1], .attributes = (__u32)a[2])
ENTER(open_tree, .fd = a[0], .source = a[1], .flags = (__u32)a[2])
ENTER(move_mount, .fd = a[0], .source = a[1], .target = a[3], .flags = (__u32)a[4])
ENTER(mount_setattr, .fd = a[0], .target = a[1], .flags = (__u32)a[2], .change = a[3])
ENTER(open_tree_attr, .fd = a[0], .source = a[1], .flags = (__u32)a[2], .change = a[3])

static __always_inline bool mount_has_value(const struct mount_call *call)
{
	return call->number == CALL_fsconfig && call->value &&
	       (call->flags == FSCONFIG_SET_STRING_ || call->flags == FSCONFIG_SET_PATH_ ||
		call->flags == FSCONFIG_SET_PATH_EMPTY_);
}

static __always_inline __u32 mount_text(__u32 at, __u64 from)
{
	return from ? EVENT_LEN(event_user_text(ENTRY_TRACEPOINT, at, from)) : 0;
}

/* Returns the size of all text. */
static __noinline __u32 mount_put_text(struct event_mount *e, const struct mount_call *call)
{
	long n = bpf_probe_read_kernel_str(e->text, MOUNT_CALL_LEN,
					   mount_names[call->number & (MOUNT_CALL_CNT - 1)]);
	__u32 at = EVENT_TEXT_AT(mount);

	e->call = n > 0 ? n - 1 : 0;
	at += e->call;
	e->source = mount_text(at, call->source);
	at += e->source;
	e->target = mount_text(at, call->target);
	at += e->target;
	e->type = mount_text(at, call->type);
	at += e->type;
	e->data = mount_text(at, call->data);
	if (mount_has_value(call)) /* behind the NUL of its name */
		e->data += 1 + mount_text(at + e->data + 1, call->value);
	return at + e->data - EVENT_TEXT_AT(mount);
}

static __noinline void mount_put_numbers(struct event_mount *e, const struct mount_call *call,
					 long ret)
{
	struct task_struct___mount *task = (void *)bpf_get_current_task();
	struct mount_attr change = {};

	e->flags = call->flags;
	e->attributes = call->attributes;
	if (call->change && !bpf_probe_read_user(&change, sizeof(change), (void *)call->change)) {
		e->attributes = change.set;
		e->cleared = change.clear;
		e->propagation = change.propagation;
	}
	if ((int)call->fd > 0)
		e->fd = call->fd;
	if (ret < 0)
		e->error = -ret;
	else
		e->new_fd = ret;
	e->mntns = BPF_CORE_READ(task, nsproxy, mnt_ns, ns.inum);
	e->duration_ns = bpf_ktime_get_ns() - call->begin_ns;
}

static __always_inline void mount_end(struct syscall_exit *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct event_mount *e = NULL;
	struct mount_call *call;
	long ret = ctx->ret;
	__u32 tid = id;

	call = bpf_map_lookup_elem(&mount_calls, &tid);
	if (!call)
		return;
	if (enabled && ret < 0)
		event_count_error(PROBE_mount, SERIES_mount_failed, -ret);
	if (enabled && (!mount_failed || ret < 0))
		e = EVENT_BEGIN(mount, ENTRY_TRACEPOINT, id);
	if (e) {
		mount_put_numbers(e, call, ret);
		if (mount_stack)
			event_stacks(ctx, ENTRY_TRACEPOINT, e);
		EVENT_SEND(mount, e, ENTRY_TRACEPOINT, mount_put_text(e, call));
	}
	bpf_map_delete_elem(&mount_calls, &tid);
}

SEC("?tracepoint")
int mount_exit(struct syscall_exit *ctx)
{
	mount_end(ctx);
	return KEEP_SAMPLES;
}
