/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Budget of address lookups in one image ("Symbols" in section 7 of format/FORMAT.md): work, in
 * steps of loops over untrusted data, and bytes of memory. Both are proportional to the files read
 * and the addresses looked up. In addition, all images of a symbolizer share one reserve, so that
 * many small images get no more. Every loop over untrusted data charges its steps in advance, and
 * ends with -E2BIG when the budget is exhausted.
 */
#ifndef FORMAT_BUDGET_H
#define FORMAT_BUDGET_H

#include <stdatomic.h>

#include "format/dwarf/section_bytes.h"

enum budget_kind {
	BUDGET_WORK,
	BUDGET_BYTES,
	BUDGET_KINDS,
};

enum {
	BUDGET_WORK_PER_BYTE = 16, /* per file byte; large programs need 1 to 4 for all functions */
	BUDGET_BYTES_PER_BYTE = 16,
	BUDGET_WORK_PER_ADDRESS = 4096,
	BUDGET_BYTES_PER_ADDRESS = 1024,
	BUDGET_WORK_RESERVE = 64 << 20,
	BUDGET_BYTES_RESERVE = 64 << 20,
};

struct budget {
	struct budget *reserve; /* NULL: none */
	atomic_llong granted[BUDGET_KINDS], left[BUDGET_KINDS];
	atomic_bool over; /* a charge was refused; all later ones are refused, too */
	atomic_ullong settled_granted[BUDGET_KINDS], settled_spent[BUDGET_KINDS]; /* of a reserve */
};

/* Initializes a reserve with its full amount. */
void budget_init_reserve(struct budget *b);
void budget_init(struct budget *b, struct budget *reserve);
/* Called when the image is closed: adds its sums to the reserve. */
void budget_settle(struct budget *b);
void budget_grant(struct budget *b, uint64_t work, uint64_t bytes);
void budget_add_file(struct budget *b, uint64_t sz);
void budget_add_addresses(struct budget *b, uint64_t cnt);

/* A thread's own part of a budget. Initialize with {budget}; meter_fini() returns the rest. */
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

/* Charges n steps; false: over budget. */
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

/* The error of a function that returned no result. */
static inline int meter_error(const struct meter *m)
{
	return meter_over(m) ? -E2BIG : -ENOMEM;
}

/* As grow(), charged to the meter. */
int meter_grow_slow(struct meter *m, void *array_p, size_t *cap, size_t need, size_t sz);
static inline int meter_grow(struct meter *m, void *array_p, size_t *cap, size_t need, size_t sz)
{
	return need <= *cap ? 0 : meter_grow_slow(m, array_p, cap, need, sz);
}

/* Allocates cnt zeroed elements; NULL: see meter_error(). */
void *meter_calloc(struct meter *m, size_t cnt, size_t sz);

/* Charges the sorting of cnt elements. */
bool meter_sort(struct meter *m, size_t cnt);

#endif
