/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Interface between the programs of the probe func and obrec. */
#ifndef BPF_FUNC_H
#define BPF_FUNC_H

#include "bpf/metric.h"
#include "bpf/wire.h"

enum {
	SERIES_func_latency = SERIES_OWN,
	SERIES_func_unfinished,
	SERIES_func_returned,
	SERIES_func_returned_other,
	SERIES_func_usdt,
	SERIES_func_usdt_events,
	SERIES_func_usdt_throttled,
};
/* Key parts after the process name. */
enum { FUNC_PART_FUNCTION = 2, FUNC_PART_REASON = 3, FUNC_PART_RESULT = 3 };

/* Functions are numbered in the order in which they are attached. */
#define FUNC_MAX 1024 /* a power of two */
#define FUNC_NAME_LEN 256
#define FUNC_BINARY_LEN 64
struct func_name {
	char function[FUNC_NAME_LEN], binary[FUNC_BINARY_LEN];
	__u64 wants;
};

/* Types of arguments and results: name, how its rows are described. */
#define FUNC_TYPES(X)                                                                              \
	X(INT, "int")	  /* 32 bits */                                                            \
	X(UINT, "uint")	  /* 32 bits */                                                            \
	X(LONG, "long")	  /* 64 bits */                                                            \
	X(ULONG, "ulong") /* 64 bits */                                                            \
	X(PTR, "ptr")                                                                              \
	X(STR, "str")                                                                              \
	X(BOOL, "bool")                                                                            \
	X(INT8, "int8")                                                                            \
	X(UINT8, "uint8")                                                                          \
	X(INT16, "int16")                                                                          \
	X(UINT16, "uint16")
enum func_type {
	FUNC_TYPE_NONE,
#define X(name, text) FUNC_TYPE_##name,
	FUNC_TYPES(X)
#undef X
		FUNC_TYPE_CNT /* at most 16 */
};

/* What is recorded of the calls of a function: the types of its arguments and of its result, four
 * bits each; and flags. */
#define FUNC_ARGS 6
#define FUNC_RESULT FUNC_ARGS /* of functions; USDT probes have USDT_ARGS arguments */
#define FUNC_WANTS(i, type) ((__u64)(type) << (i)*4)
#define FUNC_WANTED(wants, i) ((wants) >> (i)*4 & 15)
#define FUNC_UNTIMED (1ULL << 63)
#define FUNC_NO_RETURN (1ULL << 62) /* its threads end in it */
#define FUNC_WANTS_ARGS ((1ULL << FUNC_ARGS * 4) - 1)
#define FUNC_WANTS_VALUES ((1ULL << (FUNC_ARGS + 1) * 4) - 1)

/* A result in the series `returned_other`: one from -FUNC_ERRORS to -1, as its amount; or these. */
#define FUNC_ERRORS 4095
enum { FUNC_RESULT_BELOW = FUNC_ERRORS + 1, FUNC_RESULT_UNKNOWN };

/* Arguments of a call in progress: map `func_args`, by thread (the key of `func_threads`) and
 * depth. */
#define FUNC_STR_MAX 256 /* with NUL */
#define FUNC_ARG_AT(depth, i) ((depth) | (i) << 16)
struct func_args_key {
	__u64 thread, depth;
};
struct func_args {
	__u64 value[8];
	__u32 len[8]; /* of strings, with NUL; 0: not read */
	char text[8][FUNC_STR_MAX];
};

/*
 * Cookie of a place: the function's number; how far the stack pointer there is below that at the
 * function's start; whether it is the stack check of one of Go, whose calls belong to goroutines;
 * whether its returns are seen by uretprobes. Then a function that another one ends in (tail call)
 * returns from the same frame as that one. Whether a call may come by again and again. Of a
 * conditional jump: the number and the condition, the last four bits of the opcode.
 */
#define FUNC_SHARES_FRAME (1u << 31)
#define FUNC_GO (1u << 30)
#define FUNC_LOOPS (1u << 29)
#define FUNC_BELOW_MAX (1u << 22)
#define FUNC_COOKIE(number, below) ((number) | (below) / 8 * FUNC_MAX)
#define FUNC_COOKIE_NUMBER(cookie) ((cookie) & (FUNC_MAX - 1))
#define FUNC_COOKIE_BELOW(cookie)                                                                  \
	(((cookie) & ~(FUNC_SHARES_FRAME | FUNC_GO | FUNC_LOOPS)) / FUNC_MAX * 8)
#define FUNC_COOKIE_IF(number, opcode) FUNC_COOKIE(number, ((opcode)&15u) * 8)
#define FUNC_COOKIE_CONDITION(cookie) (FUNC_COOKIE_BELOW(cookie) / 8)

/*
 * Why a call did not return. MISSED: of functions of the kernel, whose return needs an instance
 * from a pool that calls of all threads share (kretprobe, rethook).
 */
#define FUNC_REASONS(X)                                                                            \
	X(SKIPPED, "frame left without a return")                                                  \
	X(EXIT, "thread ended")                                                                    \
	X(EXEC, "exec")                                                                            \
	X(DEEP, "recursion too deep to follow")                                                    \
	X(RUNNING, "still running")                                                                \
	X(MISSED, "return not seen: too many calls at a time")
enum func_reason {
#define X(name, text) FUNC_##name,
	FUNC_REASONS(X)
#undef X
};

/* Calls in progress of a thread or goroutine: map `func_threads`, by FUNC_KEY_*. The innermost is
 * the last. Stacks grow downwards, so that `frame` decreases from call to call. */
#define FUNC_DEPTH 128	       /* a power of two */
#define FUNC_RETPROBES 64      /* MAX_URETPROBE_DEPTH of the kernel: deeper calls have none */
#define FUNC_KERNEL (1u << 31) /* in the key: calls of functions of the kernel */
/* A goroutine may change its thread at any time. g: address of its descriptor, of 47 bits and
 * aligned by 32 bytes; tgid: of 22 bits, 0 in the key of a thread. */
#define FUNC_KEY_GOROUTINE(tgid, g) ((__u64)(tgid) << 42 | ((__u64)(g) >> 5 & ((1ULL << 42) - 1)))
#define FUNC_KEY_TGID(key) ((__u32)((key) >> 42))
#define FUNC_KERNEL_STACK 16384 /* its size and alignment */
#define FUNC_RETURN_BELOW                                                                          \
	256 /* stack pointer at a return seen by the function graph, below `frame` */
struct func_call {
	__u64 frame; /* stack pointer at the entry; of a goroutine, whose stack may move, from its
			top */
	__u64 begin_ns;
	__u32 function;
	__u32 missed; /* its return will not be seen */
};
struct func_thread {
	__u64 depth;
	char process[WIRE_COMM_LEN];
	struct func_call call[FUNC_DEPTH];
};

/* Functions of the kernel by fentry and fexit, which have a program for each. */
#define FUNC_SLOTS 8

/* Identifies a place where the kernel passes no cookie: the position in its page, and the code
 * behind the probed instruction. Of a function of the kernel, position is its address. Map
 * `func_places`. */
#define FUNC_CODE_AT 4 /* the probed instruction may be replaced up to there */
struct func_place {
	__u64 code[2];
	__u64 position;
};

#endif
