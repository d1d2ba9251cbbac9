/* SPDX-License-Identifier: BSD-2-Clause */
/* Attaches a few functions of the kernel by fentry and fexit, for the probe func. A program is for
 * one function, named before it is loaded. */
#ifndef RECORD_FUNC_SLOTS_H
#define RECORD_FUNC_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/probe/probe.h"

bool func_slots_possible(const struct features *f, char *why, size_t why_sz);

/* Call before loading: takes a slot for each function of the kernel that the operands name, if
 * there are enough. Those that cannot be attached have none. */
void func_slots_prepare(struct probe_env *env);
/* Returns the function's slot, or -1. */
int func_slots_find(const struct probe_env *env, const char *function);
int func_slots_attach(struct probe_env *env, int slot, uint32_t cookie, bool untimed);

#endif
