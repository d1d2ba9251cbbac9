/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The addresses of one item whose DWARF is still to be extracted. Extracting goes by batches: the
 * first soon, each following one after twice the time, as what a program does at its start is most
 * of what it ever does. The lock is the caller's.
 */
#ifndef RECORD_ITEM_HITS_H
#define RECORD_ITEM_HITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/symbols/excerpt.h"

struct item_hits {
	uint64_t *v; /* any order */
	size_t cnt, cap;
	struct excerpt_range *covered; /* ascending: in the archive */
	size_t covered_cnt;
	uint64_t *missing; /* units without their .dwo file, ascending, once each */
	size_t missing_cnt;
	uint64_t due_ns, period_ns;
	bool ready;  /* the symbol table is done; nobody works on it */
	bool queued; /* for the extractor, or there */
};

struct item_hits *item_hits_new(void);
void item_hits_free(struct item_hits *h);

/* False: known already, or no memory. */
bool item_hits_add(struct item_hits *h, uint64_t addr, uint64_t now_ns);
/* All of them, ascending, once each; *v is the caller's. */
size_t item_hits_take(struct item_hits *h, uint64_t **v);
/* Takes over what a batch covered; the next one is due later. */
void item_hits_done(struct item_hits *h, struct excerpt_range *covered, size_t cnt,
		    uint64_t now_ns);
/* Takes over which units had no .dwo file. */
void item_hits_miss(struct item_hits *h, uint64_t *units, size_t cnt);

#endif
