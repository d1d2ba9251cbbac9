/* SPDX-License-Identifier: BSD-2-Clause */
/* Detects a sudden increase in counts: when it began and how long it lasted. */
#ifndef ANALYZE_SURGE_H
#define ANALYZE_SURGE_H

#include <stdbool.h>

struct surge {
	unsigned from, to;    /* intervals: from <= i < to */
	double before, after; /* mean per interval: of all intervals before it, of those in it */
};

/*
 * Finds the range of equal intervals that differs most from the rest (Kulldorff's scan statistic
 * for Poisson counts). The likelihood ratio is divided by the overdispersion of the counts relative
 * to Poisson, so that generally volatile counts are not reported. False: no increase of at least
 * half that exceeds chance.
 */
bool surge_find(const double *counts, unsigned cnt, struct surge *s);

#endif
