/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What looking addresses up in one image may cost ("Symbols" in section 7 of format/FORMAT.md):
 * work, in steps of the loops over foreign data, and bytes of memory. Both are in proportion to the
 * files read and the addresses asked for; beyond that all images of a symbolizer share one reserve,
 * so that many small ones gain nothing. Whatever loops over foreign data charges here before it
 * goes on, and ends with -E2BIG when there is nothing left.
 */
#ifndef ANALYZE_SYMBOL_BUDGET_H
#define ANALYZE_SYMBOL_BUDGET_H

#include <stdatomic.h>

#include "analyze/symbol/section_bytes.h"

enum budget_kind {
	BUDGET_WORK,
	BUDGET_BYTES,
	BUDGET_KINDS,
};

enum {
	BUDGET_WORK_PER_BYTE = 16, /* of a file; large programs need 1 to 4 for all functions */
	BUDGET_BYTES_PER_BYTE = 16,
	BUDGET_WORK_PER_ADDRESS = 4096,
	BUDGET_BYTES_PER_ADDRESS = 1024,
	BUDGET_WORK_RESERVE = 64 << 20,
	BUDGET_BYTES_RESERVE = 64 << 20,
};

struct budget {
	struct budget *reserve; /* NULL: none */
	atomic_llong granted[BUDGET_KINDS], left[BUDGET_KINDS];
	atomic_bool over; /* a charge was refused: from then on all are */
	atomic_ullong settled_granted[BUDGET_KINDS], settled_spent[BUDGET_KINDS]; /* a reserve's */
};

/* The reserve itself, with what it holds. */
void budget_init_reserve(struct budget *b);
void budget_init(struct budget *b, struct budget *reserve);
/* The image is done with: its sums go to the reserve. */
void budget_settle(struct budget *b);
void budget_add_file(struct budget *b, uint64_t sz);
void budget_add_addresses(struct budget *b, uint64_t cnt);

/* A thread's own part of it. Init with {budget}; what is left goes back at the end. */
struct meter {
	struct budget *budget;
	uint64_t left[BUDGET_KINDS];
};

void meter_fini(struct meter *m);
bool meter_refill(struct meter *m, enum budget_kind kind, uint64_t n);

static inline bool meter_charge(struct meter *m, enum budget_kind kind, uint64_t n)
{
	if (n > m->left[kind])
		return meter_refill(m, kind, n);
	m->left[kind] -= n;
	return true;
}

/* n steps; false: not to be afforded. */
static inline bool meter_work(struct meter *m, uint64_t n)
{
	return meter_charge(m, BUDGET_WORK, n);
}

static inline bool meter_bytes(struct meter *m, uint64_t n)
{
	return meter_charge(m, BUDGET_BYTES, n);
}

static inline bool meter_over(const struct meter *m)
{
	return atomic_load_explicit(&m->budget->over, memory_order_relaxed);
}

/* Why something returned no result. */
static inline int meter_error(const struct meter *m)
{
	return meter_over(m) ? -E2BIG : -ENOMEM;
}

/* grow(), with what it takes charged. */
int meter_grow_slow(struct meter *m, void *array_p, size_t *cap, size_t need, size_t sz);
static inline int meter_grow(struct meter *m, void *array_p, size_t *cap, size_t need, size_t sz)
{
	return need <= *cap ? 0 : meter_grow_slow(m, array_p, cap, need, sz);
}

/* Room for cnt elements, zeroed; NULL: see meter_error(). */
void *meter_calloc(struct meter *m, size_t cnt, size_t sz);

/* Sorting cnt elements is some steps each. */
bool meter_sort(struct meter *m, size_t cnt);

#endif
