/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Contexts of programs on syscalls:sys_enter_NAME and sys_exit_NAME, as in the tracepoint's
 * `format` file in tracefs; the same for every call and on all 64-bit architectures. */
#ifndef BPF_SYSCALL_ARGS_BPF_H
#define BPF_SYSCALL_ARGS_BPF_H

#include "bpf/wire.h"

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

#endif
