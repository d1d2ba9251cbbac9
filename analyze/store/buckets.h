/* SPDX-License-Identifier: BSD-2-Clause */
/* Histogram: counts of values by range. Zero-initialized: empty. */
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
 * Quantile by nearest rank, 0 < p <= 1: the middle of the bucket that contains it. *error (if not
 * NULL): maximum relative error. Sorts the buckets. -1: empty.
 */
int64_t buckets_quantile(struct buckets *b, double p, double *error);

/* Aggregates into as few buckets as possible at powers of two: [2^n, 2^(n+1)), the first also
 * includes [0, 1). */
int buckets_coarse(const struct buckets *b, struct buckets *to);

/* Length in characters of a bar for count, if max has length `width`. At least 1 if count is
 * not 0. */
unsigned bar_length(uint64_t count, uint64_t max, unsigned width);

#endif
