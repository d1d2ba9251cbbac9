/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts unwind tables and process ranges where the BPF unwinder reads them (wire.h: ranges, pages, rows,
 * rules). Owns the arenas; maps belong to the session. Single-threaded.
 */
#ifndef RECORD_UNWIND_STORE_H
#define RECORD_UNWIND_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "../bpf/wire.h"
#include "unwind_table.h"

struct unwind_store;

/* File descriptors of the BPF maps. */
struct unwind_maps {
	int procs, range_segs, row_segs, pages, rules;
};

int unwind_store__new(struct unwind_store **s, const struct unwind_maps *maps, uint64_t max_row_bytes);
void unwind_store__free(struct unwind_store *s);

/* Loads a table once. *page0 is what ranges of that binary carry. -ENOSPC when a bound is reached. */
int unwind_store__add(struct unwind_store *s, const struct unwind_table *t, uint32_t *page0);

/*
 * Publishes a process: its flags and sorted, non-overlapping ranges (copied; binary, bias, flags and page0 filled by
 * the caller). Replaces what was there in one step. range_cnt 0 leaves a process without mappings.
 */
int unwind_store__publish(struct unwind_store *s, uint32_t tgid, uint32_t flags, uint32_t jit_binary,
			  const struct range *ranges, size_t range_cnt);
int unwind_store__remove(struct unwind_store *s, uint32_t tgid);

/* Frees places retired more than a second ago; called now and then. */
void unwind_store__reclaim(struct unwind_store *s, uint64_t now_ns);

struct unwind_store_stats {
	uint64_t tables, rows, rules, pages, row_bytes, ranges;
};
struct unwind_store_stats unwind_store__stats(const struct unwind_store *s);

#endif
