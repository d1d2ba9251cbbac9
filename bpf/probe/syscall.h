/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_PROBE_SYSCALL_H
#define BPF_PROBE_SYSCALL_H

#include "bpf/metric.h"

enum { SERIES_syscall_latency = SERIES_OWN, SERIES_syscall_errors, SERIES_syscall_unreturned };
/* Key parts after the process name. */
enum { SYSCALL_PART_NUMBER = 2, SYSCALL_PART_ERROR = 3 };

/*
 * A call's number as the probe uses it: that of the kernel, in the second half that of a 32-bit
 * program (x86: i386, arm64: arm). An x32 program's are in the first half. Larger numbers, which
 * hardly any kernel has, are SYSCALL_UNKNOWN.
 */
#define SYSCALL_NUMBERS 1024
#define SYSCALL_COMPAT 512
#define SYSCALL_UNKNOWN 1023
#define SYSCALL_ENDS 4 /* exit and exit_group, of both halves */

enum syscall_flags {
	SYSCALL_WAITS = 1,    /* waits for an event by design: a row only if wanted */
	SYSCALL_RESTORES = 2, /* the return value is a register of the interrupted program */
};

/* Map `syscall_infos`, by number; written by obrec. */
#define SYSCALL_NAME_LEN 32
struct syscall_info {
	char name[SYSCALL_NAME_LEN];
	__u8 flags;
	__u8 args;     /* number of arguments */
	__u8 paths[2]; /* 1 + index of the first two arguments that are paths; 0: none */
	__u8 pad[4];
};

/*
 * Map `syscall_threads`: a thread's call in progress, in the slot of a hash of `id`, an address
 * that only this thread has: of its saved user registers, or its task_struct. A slot belongs to the
 * first thread that takes it until that thread exits; threads without a slot are in map
 * `syscall_others`.
 */
struct syscall_thread {
	__u64 id;	/* 0: free */
	__u64 begin_ns; /* 0: not in a call */
	char comm[16], process[16];
	__u64 who;
	__u32 number;
	__u32 pad; /* a cache line */
};
#define SYSCALL_THREADS 8192

#endif
