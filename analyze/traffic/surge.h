/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether there were suddenly many more, from when on and how long. */
#ifndef ANALYZE_SURGE_H
#define ANALYZE_SURGE_H

#include <stdbool.h>

struct surge {
	unsigned from, to;    /* intervals: from <= i < to */
	double before, after; /* means of an interval: of all before it, of those in it */
};

/*
 * In counts of equal intervals, the stretch that differs most from the rest (Kulldorff's scan
 * statistic for Poisson counts), if it is no part of a restless whole: the likelihood ratio is
 * divided by how much more the counts scatter than Poisson's would. False: nothing rose by half and
 * by more than chance would.
 */
bool surge_find(const double *counts, unsigned cnt, struct surge *s);

#endif
