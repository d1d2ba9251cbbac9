/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Interface between the programs of the probe func and obrec. */
#ifndef BPF_FUNC_H
#define BPF_FUNC_H

#include "bpf/metric.h"
#include "bpf/wire.h"

enum { SERIES_func_latency = SERIES_OWN, SERIES_func_unfinished };
/* Key parts after the process name. */
enum { FUNC_PART_FUNCTION = 2, FUNC_PART_REASON = 3 };

/* Functions are numbered in the order in which they are attached. */
#define FUNC_MAX 1024 /* a power of two */
#define FUNC_NAME_LEN 256
#define FUNC_BINARY_LEN 64
struct func_name {
	char function[FUNC_NAME_LEN], binary[FUNC_BINARY_LEN];
};

/*
 * Cookie of a place: the function's number; how far the stack pointer there is below that at the
 * function's start; whether its returns are seen by uretprobes. Then a function that another one
 * ends in (tail call) returns from the same frame as that one.
 */
#define FUNC_SHARES_FRAME (1u << 31)
#define FUNC_BELOW_MAX (1u << 24)
#define FUNC_COOKIE(number, below) ((number) | (below) / 8 * FUNC_MAX)
#define FUNC_COOKIE_NUMBER(cookie) ((cookie) & (FUNC_MAX - 1))
#define FUNC_COOKIE_BELOW(cookie) (((cookie) & ~FUNC_SHARES_FRAME) / FUNC_MAX * 8)

/* Why a call did not return. */
#define FUNC_REASONS(X)                                                                            \
	X(SKIPPED, "frame left without a return")                                                  \
	X(EXIT, "thread ended")                                                                    \
	X(EXEC, "exec")                                                                            \
	X(DEEP, "recursion too deep to follow")                                                    \
	X(RUNNING, "still running")
enum func_reason {
#define X(name, text) FUNC_##name,
	FUNC_REASONS(X)
#undef X
};

/* Calls in progress of a thread: map `func_threads`, by tid. The innermost is the last. Stacks grow
 * downwards, so that `frame` decreases from call to call. */
#define FUNC_DEPTH 128		/* a power of two */
#define FUNC_RETPROBES 64	/* MAX_URETPROBE_DEPTH of the kernel: deeper calls have none */
#define FUNC_KERNEL (1u << 31)	/* in the key: calls of functions of the kernel */
#define FUNC_KERNEL_STACK 16384 /* its size and alignment */
struct func_call {
	__u64 frame; /* stack pointer at the entry */
	__u64 begin_ns;
	__u64 function;
};
struct func_thread {
	__u64 depth;
	char comm[WIRE_COMM_LEN];
	struct func_call call[FUNC_DEPTH];
};

/* Identifies a place where the kernel passes no cookie: the position in its page, and the code
 * behind the probed instruction. Of a function of the kernel, position is its address. Map
 * `func_places`. */
#define FUNC_CODE_AT 4 /* the probed instruction may be replaced up to there */
struct func_place {
	__u64 code[2];
	__u64 position;
};

#endif
