/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses of one item whose DWARF is still to be extracted, in batches. The first batch is due
 * soon, each further one after twice the time, because a program executes most of its code soon
 * after its start. The caller holds the lock.
 */
#ifndef RECORD_ITEM_HITS_H
#define RECORD_ITEM_HITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/symbols/excerpt.h"

struct item_hits {
	uint64_t *v; /* unsorted */
	size_t cnt, cap;
	struct excerpt_range *covered; /* already in the archive; ascending */
	size_t covered_cnt;
	uint64_t *missing; /* units without .dwo file, ascending, unique */
	size_t missing_cnt;
	uint64_t due_ns, period_ns;
	bool ready;  /* the symbol table is done and no thread works on it */
	bool queued; /* queued for or taken by the extractor */
};

struct item_hits *item_hits_new(void);
void item_hits_free(struct item_hits *h);

/* Returns false if the address is known or memory is short. */
bool item_hits_add(struct item_hits *h, uint64_t addr, uint64_t now_ns);
/* Takes all addresses, ascending and unique; the caller owns *v. */
size_t item_hits_take(struct item_hits *h, uint64_t **v);
/* Takes over the ranges covered by a batch, and sets the due time of the next. */
void item_hits_done(struct item_hits *h, struct excerpt_range *covered, size_t cnt,
		    uint64_t now_ns);
/* Takes over the list of units without .dwo file. */
void item_hits_miss(struct item_hits *h, uint64_t *units, size_t cnt);

#endif
