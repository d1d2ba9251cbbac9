/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Arguments and results of functions (func_args.bpf.c), for the programs of the probe func. */
#ifndef BPF_FUNC_BPF_H
#define BPF_FUNC_BPF_H

#include "bpf/event.bpf.h"
#include "bpf/probe/func.h"

struct func_names_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, struct func_name);
};
extern struct func_names_map func_names SEC(".maps");

static __always_inline __u64 func_wants(__u32 function)
{
	struct func_name *name = bpf_map_lookup_elem(&func_names, &function);

	return name ? name->wants : 0;
}

/* --cpu-budget: one in 2^func_thin calls that would be rows is one; the others are counted as
 * throttled. */
extern __u32 func_thin;

/* Whether this row is one of the others. `series`: of all rows; the next one is of those throttled.
 */
int func_is_thinned(__u32 series);

/* Appends the names of a function and its binary to the text of the event in progress, at position
 * `at` of the record. Returns their lengths, that of the binary << 16. */
int func_put_names(__u32 entry, __u32 at, __u32 function);

/* Keeps an argument until the call has ended; at: FUNC_ARG_AT(). Reads a string at once, as the
 * function may change it. */
int func_save_arg(__u64 thread, __u32 at, __u64 value, __u32 type);
int func_drop_args(__u64 thread, __u32 depth);
/*
 * Append an argument that was kept, or a value, to the text of the event in progress, at position
 * `at` of the record. They return the number of bytes added, less than FUNC_STR_MAX. entry_arg:
 * the entry context, and the number of the argument << 8.
 */
int func_put_arg(__u32 entry_arg, __u32 at, __u64 thread, __u32 depth, __u32 type);
/* type FUNC_TYPE_NONE: the value could not be read. */
int func_put_value(__u32 entry, __u32 at, __u64 value, __u32 type);
/* type FUNC_TYPE_NONE: the result is not known. */
int func_count_result(__u32 function, __u64 value, __u32 type);

#endif
