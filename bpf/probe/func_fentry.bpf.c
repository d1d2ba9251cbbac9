/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Latency of a few functions of the kernel, by fentry and fexit: a program for each function. The
 * kernel calls the function from a trampoline, on whose stack frame both programs find arguments
 * and result. It needs no instance from a pool to see the return, and its frame identifies the
 * call.
 */
#include "bpf/probe/func_calls.bpf.h"

/* obrec sets them. Behind the arguments is the result. */
__u32 func_slot_cookie[FUNC_SLOTS], func_slot_args[FUNC_SLOTS];

/* The address as a number: pointers to a context have few operations. */
static __always_inline __u64 func_frame(__u64 *ctx)
{
	__u64 frame = 0;

	bpf_probe_read_kernel(&frame, sizeof(frame), &ctx);
	return frame;
}

static __always_inline void func_slot_enter(__u64 *ctx, __u32 slot)
{
	__u64 frame = func_frame(ctx), arg[FUNC_ARGS] = {};

	if (func_any_args)
		bpf_probe_read_kernel(arg, sizeof(arg), (void *)frame);
	func_enter_at(NULL, arg, func_frame_of(frame, true), func_slot_cookie[slot], true, false);
}

static __always_inline void func_slot_leave(__u64 *ctx, __u32 slot)
{
	__u64 frame = func_frame(ctx), result = 0;

	bpf_probe_read_kernel(&result, sizeof(result), (__u64 *)frame + func_slot_args[slot]);
	func_leave_near(ctx, result, func_frame_of(frame, true), 0,
			FUNC_COOKIE_NUMBER(func_slot_cookie[slot]), true, true);
}

#define SLOT(i)                                                                                    \
	SEC("?fentry")                                                                             \
	int func_fentry_##i(__u64 *ctx)                                                            \
	{                                                                                          \
		func_slot_enter(ctx, i);                                                           \
		return 0; /* the verifier wants that */                                            \
	}                                                                                          \
	SEC("?fexit")                                                                              \
	int func_fexit_##i(__u64 *ctx)                                                             \
	{                                                                                          \
		func_slot_leave(ctx, i);                                                           \
		return 0; /* the verifier wants that */                                            \
	}
SLOT(0)
SLOT(1)
SLOT(2)
SLOT(3)
SLOT(4)
SLOT(5)
SLOT(6)
SLOT(7)
