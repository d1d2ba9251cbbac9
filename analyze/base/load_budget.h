/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an archive may cost, by its bytes (FORMAT.md, 7): a few bytes can be made to stand for
 * millions of rows. The bounds lie above what obrec can write, whose chunks take a kilobyte of the
 * file at least and hold 1 MiB at most. What is beyond is left out and counted.
 */
#ifndef ANALYZE_BUDGET_H
#define ANALYZE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/records.h"

enum {
	BUDGET_ROWS = 1 << 18,	      /* of a stream, and */
	BUDGET_ROWS_PER_BYTE = 32,    /* by byte of its members */
	BUDGET_TEXT = 64,	      /* so many bytes of a row's text count as another row, */
	BUDGET_ITEMS = 8,	      /* and so many elements of its lists */
	BUDGET_NAME = 4096,	      /* bytes of a path, command line, address or other name */
	BUDGET_MEMORY = 64 << 20,     /* of an archive, for what is held until the end, and */
	BUDGET_MEMORY_PER_BYTE = 256, /* by byte of the archive */
};

/* Zeroed it is that of an empty archive. */
struct budget {
	uint64_t archive_sz, held;
	uint64_t rows_left_out;
};

/* Memory that is held from now on, by archive. False: that is too much; it is not counted then. */
static inline bool budget_hold(struct budget *b, uint64_t sz)
{
	if (b->held + sz > BUDGET_MEMORY + BUDGET_MEMORY_PER_BYTE * b->archive_sz)
		return false;
	b->held += sz;
	return true;
}

/* The same of what is there already: the next to be held may be too much. */
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
