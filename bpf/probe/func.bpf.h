/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Arguments and results of functions (func_args.bpf.c), for the programs of the probe func. */
#ifndef BPF_FUNC_BPF_H
#define BPF_FUNC_BPF_H

#include "bpf/event.bpf.h"
#include "bpf/probe/func.h"

/* Keeps an argument until the call has ended; at: FUNC_ARG_AT(). Reads a string at once, as the
 * function may change it. */
int func_save_arg(__u32 thread, __u32 at, __u64 value, __u32 type);
int func_drop_args(__u32 thread, __u32 depth);
/*
 * Append an argument that was kept, or a value, to the text of the event in progress, at position
 * `at` of the record. They return the number of bytes added, less than FUNC_STR_MAX. entry_arg:
 * the entry context, and the number of the argument << 8.
 */
int func_put_arg(__u32 entry_arg, __u32 at, __u32 thread, __u32 depth, __u32 type);
int func_put_value(__u32 entry, __u32 at, __u64 value, __u32 type);
/* type FUNC_TYPE_NONE: the result is not known. */
int func_count_result(__u32 function, __u64 value, __u32 type);

#endif
