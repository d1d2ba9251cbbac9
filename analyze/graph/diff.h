/* SPDX-License-Identifier: BSD-2-Clause */
/* Two profiles in one tree: the first weight is the old one's, the second the new one's. */
#ifndef ANALYZE_DIFF_H
#define ANALYZE_DIFF_H

#include <sqlite3.h>

#include "analyze/graph/flamegraph.h"

/*
 * Feeds one side into f (borrowed), in time. Where the same code is named differently on both
 * sides, it is made one: a binary counts by its name without folders, an inlined call as a call, a
 * process or thread without its id.
 */
struct diff_side {
	struct profile_sink sink;
	struct flamegraph *f;
	int which; /* 0 old, 1 new */
};
void diff_side_init(struct diff_side *s, struct flamegraph *f, int which);

/* Scales the new side to the old one's time; returns by what, 1 when either has none. */
double diff_normalize(struct flamegraph *f);

/* Makes the table diff_function in db, a row a function; the shares are of the old side's time. */
int diff_store(const struct flamegraph *f, sqlite3 *db);

#endif
