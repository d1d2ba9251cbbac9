/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts unwind tables and process ranges where the BPF unwinder reads them (wire.h: ranges, pages,
 * rows, rules). Owns the arenas; maps belong to the session. Single-threaded.
 */
#ifndef RECORD_UNWIND_STORE_H
#define RECORD_UNWIND_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/wire.h"
#include "record/unwind/unwind_table.h"

struct unwind_store;

/* File descriptors of the BPF maps. */
struct unwind_maps {
	int procs, range_segs, row_segs, pages, rules;
	uint32_t *target_slots;		  /* see bpf/core.bpf.h; NULL: unused */
	struct target_proc *target_procs; /* wire.h; likewise */
	/* Processes removed have PROC_ENDED for a second, for programs that see them end after
	 * obrec does. */
	bool linger;
};

/* maps NULL: plain memory, for unwind_user.h only. */
int unwind_store__new(struct unwind_store **s, const struct unwind_maps *maps,
		      uint64_t max_row_bytes);
void unwind_store__free(struct unwind_store *s);

/* Location of a table: page0 is stored in the ranges of that binary; cnt 0: not loaded. */
struct unwind_place {
	uint32_t page0, first, cnt; /* pages */
};

/* Loads a table. -ENOSPC: a limit is reached and nothing was loaded. */
int unwind_store__add(struct unwind_store *s, const struct unwind_table *t,
		      struct unwind_place *at);
/* Frees its place; it is reused after a delay. No published range may refer to it. */
void unwind_store__drop(struct unwind_store *s, const struct unwind_place *at);

/*
 * Publishes a process: its flags and sorted, non-overlapping ranges (copied; the caller sets
 * binary, bias, flags and page0). Replaces the previous entry atomically. range_cnt 0: a process
 * without mappings. -E2BIG: more than 4095 ranges; -ENOSPC: the range arena or map `procs` is full.
 */
int unwind_store__publish(struct unwind_store *s, uint32_t tgid, uint32_t flags,
			  uint32_t jit_binary, const struct range *ranges, size_t range_cnt);
/* Whether the kernel side records the process: it was published as a target, or is the child of one. */
bool unwind_store__has_target(const struct unwind_store *s, uint32_t tgid);
/* Writes a process's value to the cache that samples check first (wire.h); NULL: removes it. */
void target_proc__note(struct target_proc *procs, uint32_t tgid, const struct proc *value);
int unwind_store__remove(struct unwind_store *s, uint32_t tgid);

/* Frees places retired more than a second ago. Call it periodically. */
void unwind_store__reclaim(struct unwind_store *s, uint64_t now_ns);

struct unwind_store_stats {
	uint64_t tables, rows, rules, pages, row_bytes, ranges;
};
struct unwind_store_stats unwind_store__stats(const struct unwind_store *s);

/* For unwind_user.c: published value of a process, and memory to map. */
bool unwind_store__proc(const struct unwind_store *s, uint32_t tgid, struct proc *p);
enum unwind_memory { UNWIND_MEM_RANGES, UNWIND_MEM_ROWS, UNWIND_MEM_PAGES, UNWIND_MEM_RULES };
/* Returns -1 if there is no such segment (pages and rules only have segment 0). */
int unwind_store__memory(const struct unwind_store *s, enum unwind_memory what, uint32_t seg,
			 size_t *size);

#define RULE_STRIDE 16 /* array maps round a value's size up to 8 bytes */

#endif
