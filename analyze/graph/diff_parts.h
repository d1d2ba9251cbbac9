/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far the share of a function varies within each capture: weights by part of the capture. From
 * these follow confidence intervals of the change between two captures, and whether it is
 * significant.
 */
#ifndef ANALYZE_DIFF_PARTS_H
#define ANALYZE_DIFF_PARTS_H

#include "analyze/graph/flamegraph_tree.h"

struct diff_parts;

int diff_parts__new(struct diff_parts **p);
void diff_parts__free(struct diff_parts *p);

/* Adds a stack that was just added to f. count: of the samples that the weight is of. 0 or
 * -ENOMEM. */
int diff_parts__add(struct diff_parts *p, const struct flamegraph *f, int side, uint32_t part,
		    uint64_t weight, uint64_t count);

struct diff_change {
	double interval; /* 95 % confidence: the change of the share +- this; < 0: not known */
	double p;	 /* probability of such a change between equal programs */
};

enum { DIFF_SELF, DIFF_TOTAL };

/* Of a function of the flame graph. absolute: shares are of the weight of the old side, otherwise
 * each is of its own side. */
struct diff_change diff_parts__change(const struct diff_parts *p, uint32_t func, int what,
				      bool absolute);

/* The largest p that is significant among all of them, so that at most 5 % of those called
 * significant are not (Benjamini and Hochberg 1995). Sorts the values. */
double diff_significant(double *p, size_t cnt);

#endif
