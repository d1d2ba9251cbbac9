/* SPDX-License-Identifier: BSD-2-Clause */
/* A histogram: counts of values by range. Zeroed it is empty. */
#ifndef ANALYZE_BUCKETS_H
#define ANALYZE_BUCKETS_H

#include <stddef.h>
#include <stdint.h>

struct bucket {
	int64_t low, high; /* low <= value < high */
	uint64_t count;
};

struct buckets {
	struct bucket *v;
	size_t cnt, cap;
	uint64_t total;
};

int buckets_add(struct buckets *b, int64_t low, int64_t high, uint64_t count); /* 0 or -ENOMEM */
void buckets_fini(struct buckets *b);

/*
 * By nearest rank, 0 < p <= 1: the middle of the bucket that holds the value. *error (if not NULL):
 * how far the value can be from it, as a share of it. Sorts the buckets. -1 of none.
 */
int64_t buckets_quantile(struct buckets *b, double p, double *error);

/* The same added up by powers of two, as few as there are: buckets of [2^n, 2^(n+1)), the first
 * also [0, 1). */
int buckets_coarse(const struct buckets *b, struct buckets *to);

/* Of `width` characters, how long the bar of count is beside that of max: at least 1 for what is
 * not nothing. */
unsigned bar_length(uint64_t count, uint64_t max, unsigned width);

#endif
