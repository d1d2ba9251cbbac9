/* SPDX-License-Identifier: BSD-2-Clause */
/* Two profiles in one tree: the first weight is the old one's, the second the new one's. */
#ifndef ANALYZE_DIFF_H
#define ANALYZE_DIFF_H

#include <sqlite3.h>

#include "analyze/graph/diff_parts.h"

/*
 * Adds one side to f (borrowed), weighted by time, or what else a kind measures. Names that differ
 * between captures for the same code are normalized: binaries lose their directories, inlined calls
 * become calls, processes and threads lose their ids.
 */
enum { DIFF_UNIT_LEN = 32 };
struct diff_side {
	struct profile_sink sink;
	struct flamegraph *f;
	struct diff_parts *parts; /* NULL: no intervals */
	int which;		  /* 0: old, 1: new */
	/* Set to the unit of the weights: "ns", "samples", "faults", ... NULL: not wanted. */
	char (*unit)[DIFF_UNIT_LEN];
};
void diff_side_init(struct diff_side *s, struct flamegraph *f, struct diff_parts *parts, int which);

/* Scales the new side to the total time of the old one. Returns the factor; 1 if either side is
 * empty. */
double diff_normalize(struct flamegraph *f);

/* Creates table diff_function in db, one row per function. Shares are relative to the old side's
 * time. parts: gives the columns of intervals and significance; NULL: they are NULL. absolute: the
 * sides were not normalized. */
int diff_store(const struct flamegraph *f, const struct diff_parts *parts, bool absolute,
	       sqlite3 *db);

#endif
