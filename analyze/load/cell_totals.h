/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cells added up while they are loaded: over the capture, over each minute, over the ranges of a
 * histogram or over the keys of a series. Sections read these tables where they can, because the
 * cells themselves are a row per key, range and second.
 */
#ifndef ANALYZE_CELL_TOTALS_H
#define ANALYZE_CELL_TOTALS_H

#include "analyze/load/load.h"

/* Cells of a series with the same key, interval and range. */
struct cell_total {
	uint32_t capture, probe, series, key; /* the latter: in load.strings */
	uint64_t start_ns;		      /* CLOCK_REALTIME */
	uint64_t low, high;		      /* high 0: a counter */
	uint64_t count, sum;
};

struct cell_totals;

/* For those of the tables that are wanted. `l` is kept. 0 or -ENOMEM. */
int cell_totals__new(struct cell_totals **out, struct load *l);
void cell_totals__free(struct cell_totals *c);
/* Whether any table is wanted, so that __add has an effect. */
bool cell_totals__any(const struct cell_totals *c);
/* Adds a cell to each wanted table. 0, -ENOMEM or -EIO (the store has reported). */
int cell_totals__add(struct cell_totals *c, const struct cell_total *cell);
/* Writes what remains, and the indexes of the tables. As __add. */
int cell_totals__write(struct cell_totals *c);

#endif
