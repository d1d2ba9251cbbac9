/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of probe lock that names locks of the kernel (bpf/probe/lock_contention.bpf.c). */
#ifndef RECORD_LOCK_KERNEL_H
#define RECORD_LOCK_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/metric.h"
#include "record/host/ksym_table.h"

struct probe_env;
struct wire_hdr;

struct lock_kernel {
	struct ksym_table variables; /* empty: symbols are hidden, or the kernel has none of them */
};

/* Reads the variables of the kernel, while there are privileges, and tells the programs where they
 * are. Without them locks have no names. */
int lock_kernel_prepare(struct lock_kernel *k, struct probe_env *env);
void lock_kernel_free(struct lock_kernel *k);

/* Keys of the series SERIES_lock_kernel and SERIES_lock_kernel_locks. */
void lock_kernel_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz);
void lock_kernel_locks_key(const struct lock_kernel *k, struct probe_env *env,
			   const uint64_t part[METRIC_KEY_PARTS], char *text, size_t sz);

/* Handles a record of kind WIRE_KLOCK; false: it is of another kind. */
bool lock_kernel_record(const struct lock_kernel *k, struct probe_env *env,
			const struct wire_hdr *hdr);

#endif
