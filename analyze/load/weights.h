/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples aggregated in memory by kind, stack, and optionally thread and time. Sufficient for
 * reports and flame graphs. */
#ifndef ANALYZE_WEIGHTS_H
#define ANALYZE_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weights;

struct weight {
	int64_t thread; /* row id; 0 if not by thread */
	uint64_t slot;	/* of time, in any unit; 0 if not by time */
	uint32_t kind;	/* enum sample_kind */
	uint32_t stack; /* stacks.h */
	uint64_t count, value;
};

int weights__new(struct weights **w);
void weights__free(struct weights *w);
/* Keeps threads, or slots of time, apart, which otherwise are one. Call before anything is added.
 */
void weights__by_thread(struct weights *w);
void weights__by_slot(struct weights *w);
/* Whether weights are by kind and stack alone, from now on. */
bool weights__by_stack(const struct weights *w);

/*
 * 0 or -ENOMEM. Beyond a limit, weights are no longer kept by thread and slot (__merged).
 * The caller keeps a hint, at first 0, for what it often adds to the same weight: finds that weight
 * without a look-up.
 */
int weights__add(struct weights *w, const struct weight *add, uint32_t *hint);

/* Prefetches for weights about to be added: call __ahead for all of them, then __guess for all. */
void weights__ahead(const struct weights *w, const struct weight *add, uint32_t hint);
void weights__guess(const struct weights *w, const struct weight *add, uint32_t hint);

size_t weights__cnt(const struct weights *w);
const struct weight *weights__get(const struct weights *w, size_t i);
/* By kind, then slot, then thread, then the rank of the stack (stacks__rank), of which there are
 * rank_cnt. Nothing can be added after it. 0 or -ENOMEM. */
int weights__sort(struct weights *w, const uint32_t *rank, size_t rank_cnt);
/* Drops the weights for which `keep` is false. Only after __sort. */
void weights__filter(struct weights *w, bool (*keep)(const void *ctx, const struct weight *weight),
		     const void *ctx);
bool weights__merged(const struct weights *w);

#endif
