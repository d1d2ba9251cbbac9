/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that sleep, and are seen by no hook. */
#ifndef RECORD_SLEEPER_H
#define RECORD_SLEEPER_H

#include "record/probe/stack_memory.h"
#include "record/unwind/unwind_user.h"

struct probe_env;

/* Returns state letter and context switches of a thread, from /proc; 0: it is gone. */
char sleeper_state(uint32_t tgid, uint32_t tid, uint64_t *switches);

/*
 * Unwinds the user stack of a sleeping thread from user space and hands it in, as one of samples of
 * that kind; returns its hash, or that of "not taken". u or open NULL: it is not taken.
 */
uint64_t sleeper_stack(struct probe_env *env, struct unwind_user *u, const struct offcpu_open *open,
		       struct stack_memory *m, unsigned kind);

#endif
