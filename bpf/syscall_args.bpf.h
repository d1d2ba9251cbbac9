/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Contexts of programs on syscalls:sys_enter_NAME and sys_exit_NAME, as in the tracepoint's
 * `format` file in tracefs; the same for every call and on all 64-bit architectures. And calls in
 * progress, for probes that need the arguments at the exit.
 */
#ifndef BPF_SYSCALL_ARGS_BPF_H
#define BPF_SYSCALL_ARGS_BPF_H

#include "bpf/core.bpf.h"

struct syscall_enter {
	__u64 common;
	__u32 number, pad;
	__u64 args[6];
};

struct syscall_exit {
	__u64 common;
	__u32 number, pad;
	__s64 ret;
};

/* A map by tid of structs that start with the time of the entry. */
#define CALLS_IN_PROGRESS(name, call)                                                              \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(max_entries, 1); /* obrec sets it */                                        \
		__type(key, __u32);                                                                \
		__type(value, struct call);                                                        \
	} name SEC(".maps")

/* Adds the current thread's call, if its process is recorded. */
static __always_inline int call_begin(void *calls, void *call)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tid = id;

	if (!enabled || !is_recorded(id >> 32))
		return 0;
	*(__u64 *)call = bpf_ktime_get_ns();
	if (bpf_map_update_elem(calls, &tid, call, BPF_ANY))
		loss_count(LOSS_PENDING);
	return 0;
}

#endif
