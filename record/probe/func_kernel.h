/* SPDX-License-Identifier: BSD-2-Clause */
/* Attaches to functions of the kernel, for the probe func: many with one link where the kernel has
 * kprobe.multi, a few by fentry (func_slots.h), else a kprobe and a kretprobe for each. */
#ifndef RECORD_FUNC_KERNEL_H
#define RECORD_FUNC_KERNEL_H

#include <stdio.h>

#include "record/probe/func_impl.h"
#include "record/probe/func_operand.h"
#include "record/probe/probe.h"

enum { FUNC_KERNEL_MAX = 256 }; /* functions attached each alone, which takes milliseconds */

/* One link can attach kprobes to many functions; the reason if not. */
bool func_kernel_multi_possible(const struct features *f, char *why, size_t why_sz);
/* Whether one link for many kprobes is possible and sees all returns, however many are to come. */
bool func_kernel_multi_sees_all(const struct features *f);

/* Reads the next function from /proc/kallsyms. */
bool func_kernel_next(FILE *symbols, char name[FUNC_SYMBOL_MAX], unsigned long *address);
/* Threads that call it end in it. */
bool func_kernel_never_returns(const char *function);

/* Call before loading. */
void func_kernel_prepare(struct probe_env *env, enum func_way way);
/*
 * Attaches to each function that the operand names and that can be probed. `name` is called
 * before for the cookie of a function. -ENOENT: no function is called so; -EOPNOTSUPP: the kernel
 * has no kprobes or none of these can be probed, with the reason in one line. *left_out: functions
 * that could not be attached or were too many.
 */
int func_kernel_attach(struct probe_env *env, const struct func_operand *o,
		       bool (*name)(struct probe_env *env, const char *function, uint64_t wants,
				    uint32_t *cookie),
		       size_t *left_out, char *why, size_t why_sz);

#endif
