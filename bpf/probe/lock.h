/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_LOCK_H
#define BPF_LOCK_H

#include "bpf/metric.h"
#include "bpf/wire.h"

enum {
	SERIES_lock_latency = SERIES_OWN,
	SERIES_lock_ended,
	SERIES_lock_kernel,
	SERIES_lock_kernel_locks,
	SERIES_lock_klock_events, /* and, after it, those throttled */
	SERIES_lock_holders = SERIES_lock_klock_events + 2,
	SERIES_lock_lock_holder_events, /* likewise */
};
/* Key parts after the process name. */
enum { LOCK_PART_OPERATION = 2, LOCK_PART_ERROR = 3, LOCK_PART_HOW = 2 };
/* Of locks of the kernel: their kind, LCB_F_*; without a process, what else is known of them. */
enum { LOCK_PART_LOCK = 0, LOCK_PART_CALLER = 1, LOCK_PART_KIND = 2 };

/* A lock that is no variable of the kernel: what it is part of, in place of its address. */
#define LOCK_CLASSES(X)                                                                            \
	X(MMAP, "mmap_lock")                                                                       \
	X(SIGNALS, "siglock")                                                                      \
	X(FILES, "file_lock")
enum lock_class {
	LOCK_CLASS_NONE,
#define X(name, text) LOCK_CLASS_##name,
	LOCK_CLASSES(X)
#undef X
};
enum {
	LOCK_VARIABLES = 2,
	LOCK_FUNCTIONS = 2,
	LOCK_CALLERS = 16, /* frames within which the caller is looked for */
};

/* include/trace/events/lock.h */
enum {
	LCB_F_SPIN = 1,
	LCB_F_READ = 2,
	LCB_F_WRITE = 4,
	LCB_F_RT = 8,
	LCB_F_PERCPU = 16,
	LCB_F_MUTEX = 32,
};

/* Those that wait; numbers up to 13 are futex(2)'s own. */
#define LOCK_OPERATIONS(X)                                                                         \
	X(0, WAIT, "wait")                                                                         \
	X(6, LOCK_PI, "lock_pi")                                                                   \
	X(9, WAIT_BITSET, "wait_bitset")                                                           \
	X(11, WAIT_REQUEUE_PI, "wait_requeue_pi")                                                  \
	X(13, LOCK_PI2, "lock_pi2")                                                                \
	X(14, CALL_WAIT, "futex_wait()")                                                           \
	X(15, CALL_WAITV, "futex_waitv()")                                                         \
	X(16, URING_WAIT, "io_uring wait")                                                         \
	X(17, URING_WAITV, "io_uring waitv")
#define LOCK_OPERATION_LEN 16
#define LOCK_OPERATION_CNT 32
enum lock_operation {
#define X(number, name, text) LOCK_##name = number,
	LOCK_OPERATIONS(X)
#undef X
};

/* When the stack of who held a lock was taken. */
#define LOCK_HOWS(X)                                                                               \
	X(MISSED, "not taken")                                                                     \
	X(BLOCKED, "blocked")                                                                      \
	X(RUNNABLE, "waiting for a CPU")                                                           \
	X(SWITCHED, "left its CPU")                                                                \
	X(RELEASED, "released it")
#define LOCK_HOW_LEN 24
enum lock_how {
#define X(name, text) LOCK_##name,
	LOCK_HOWS(X)
#undef X
		LOCK_HOW_CNT
};

#define LOCK_EINTR 4
#define LOCK_UNFINISHED 4096 /* in place of an errno */

/* A wait in progress: map `lock_calls`, by tid; of io_uring by the address of the request. */
struct lock_call {
	__u64 begin_ns;
	__u64 user_stack; /* where it began; 0: is to be taken where it ends */
	__u64 address;
	__u64 who;	 /* tgid << 32 | tid */
	__u32 value;	 /* expected */
	__u32 operation; /* enum lock_operation */
	__u32 owner;	 /* may be the tid of one, in the process's pid namespace; 0: none */
	__u32 pad;
	char comm[WIRE_COMM_LEN];
};

/* A thread that held a lock, by the tid that it has in its pid namespace: map `lock_owners`. */
struct lock_thread {
	__u32 tgid, tid;
};
struct lock_owner {
	__u64 task;
	__u32 tid; /* real */
	__u32 pad;
};

#endif
