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
/* FUTEX_CMD_MASK, and whether the rest is an operation of futex(2) that waits. */
#define LOCK_CMD_MASK 127
#define LOCK_IS_WAIT(op)                                                                           \
	((op) <= LOCK_LOCK_PI2 &&                                                                  \
	 1u << (op) & (1 << LOCK_WAIT | 1 << LOCK_LOCK_PI | 1 << LOCK_WAIT_BITSET |                \
		       1 << LOCK_WAIT_REQUEUE_PI | 1 << LOCK_LOCK_PI2))
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
	X(RELEASED, "released it")                                                                 \
	X(STILL, "blocked at the end")
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
	__u32 early;	 /* began before the capture: begin_ns is when that started */
	__u64 before_ns; /* early: how long before; 0: not known */
	char comm[WIRE_COMM_LEN], process[WIRE_COMM_LEN];
};

/* A thread of a target, written by the BPF iterator `lock_threads`. */
struct lock_standing {
	struct offcpu_open thread; /* without a kernel stack */
	__u64 ran_ns;		   /* when it last got a CPU; 0: not known */
	__u64 address;
	__u32 value;
	__u32 operation;
	__u32 tid_within; /* in its pid namespace */
	__u32 state;	  /* enum lock_standing_state */
	char process[WIRE_COMM_LEN];
};
enum lock_standing_state { LOCK_RUNS, LOCK_SLEEPS, LOCK_WAITS /* for a futex: the fields above */ };

/*
 * Which words are mutexes that tell their owner. glibc (sysdeps/nptl/bits/struct_mutex.h,
 * nptl/pthreadP.h): its lock word is 2 while threads wait, or for robust ones the owner with
 * FUTEX_WAITERS. musl (src/internal/pthread_impl.h): the owner with FUTEX_WAITERS, but EBUSY for
 * those of type 0; the type is in the word before. Words of others, a thread of a container having
 * a small tid, look alike: all fields have to be sound.
 */
struct glibc_mutex {
	__u32 lock, count, owner, nusers, kind;
};
#define GLIBC_TYPE 3 /* PTHREAD_MUTEX_RECURSIVE_NP is 1; it and robust ones count */
#define GLIBC_ROBUST 0x10
#define GLIBC_FLAGS (0x80 | 0x100 | 0x200) /* shared, elision, no elision */
#define MUSL_TYPES 0x0f			   /* nonzero: has an owner */
#define MUSL_SHARED 0x80
/* futex(2) */
#define LOCK_WAITERS 0x80000000
#define LOCK_TID_MASK 0x3fffffff

static inline __attribute__((always_inline)) int lock_is_pi(__u32 operation)
{
	return operation == LOCK_LOCK_PI || operation == LOCK_LOCK_PI2;
}

/* Whether a wait for such a word may be one for a mutex. */
static inline __attribute__((always_inline)) int lock_may_own(__u32 value, __u32 operation)
{
	return lock_is_pi(operation) || value == 2 || value & LOCK_WAITERS;
}

static inline __attribute__((always_inline)) int lock_is_glibc(const struct glibc_mutex *m,
							       __u32 robust)
{
	int counts = robust || (m->kind & GLIBC_TYPE) == 1;

	return (m->kind & ~(GLIBC_TYPE | GLIBC_FLAGS)) == robust && m->nusers &&
	       !m->count == !counts;
}

static inline __attribute__((always_inline)) int lock_is_musl(__u32 type)
{
	return type & MUSL_TYPES && !(type & ~(MUSL_TYPES | MUSL_SHARED));
}

/* A thread that held a lock, by the tid that it has in its pid namespace: map `lock_owners`. */
struct lock_thread {
	__u32 tgid, tid;
};
struct lock_owner {
	__u64 task;
	__u32 tid; /* real */
	__u32 pad;
};

/* What it did: map `lock_holders`, by real tid. */
struct lock_holder {
	__u64 asked_ns, taken_ns; /* last time its stack was wanted, and was taken */
	__u64 user_stack, kernel_stack;
	__u32 tgid, how; /* enum lock_how */
	char comm[WIRE_COMM_LEN], process[WIRE_COMM_LEN];
};

#endif
