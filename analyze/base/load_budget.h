/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits on the rows and memory that an archive may use, in proportion to its size (FORMAT.md,
 * section 7): a few compressed bytes can expand to millions of rows. The limits are above what
 * obrec writes, whose chunks occupy at least 1 KiB of the file and hold at most 1 MiB. Rows beyond
 * a limit are skipped and counted.
 */
#ifndef ANALYZE_BUDGET_H
#define ANALYZE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/records.h"

enum {
	BUDGET_ROWS = 1 << 18,	      /* rows per stream, plus */
	BUDGET_ROWS_PER_BYTE = 32,    /* rows per byte of its members */
	BUDGET_TEXT = 64,	      /* text bytes of a row that count as one more row */
	BUDGET_ITEMS = 8,	      /* list elements of a row that count as one more row */
	BUDGET_NAME = 4096,	      /* maximum bytes of a path, command line or other name */
	BUDGET_MEMORY = 64 << 20,     /* bytes per archive for data held until the end, plus */
	BUDGET_MEMORY_PER_BYTE = 256, /* bytes per byte of the archive */
};

/* Zero-initialized: the budget of an empty archive. */
struct budget {
	uint64_t archive_sz, held;
	uint64_t rows_left_out;
};

/* Accounts for memory about to be held. False: over the limit, not accounted. */
static inline bool budget_hold(struct budget *b, uint64_t sz)
{
	if (b->held + sz > BUDGET_MEMORY + BUDGET_MEMORY_PER_BYTE * b->archive_sz)
		return false;
	b->held += sz;
	return true;
}

/* Accounts for memory already held, even beyond the limit. */
static inline void budget_add(struct budget *b, uint64_t sz)
{
	b->held += sz;
}

static inline bool budget_spent(const struct budget *b)
{
	return b->held > BUDGET_MEMORY + BUDGET_MEMORY_PER_BYTE * b->archive_sz;
}

static inline void budget_release(struct budget *b, uint64_t sz)
{
	b->held -= sz;
}

static inline struct span budget_name(struct span s)
{
	return (struct span){s.p, s.len < BUDGET_NAME ? s.len : BUDGET_NAME};
}

#endif
