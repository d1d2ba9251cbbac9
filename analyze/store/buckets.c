/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/store/buckets.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/base/index.h"

int buckets_add(struct buckets *b, int64_t low, int64_t high, uint64_t count)
{
	if (!count)
		return 0;
	if (high <= low) /* hostile input */
		high = low < INT64_MAX ? low + 1 : low;
	if (array_reserve(&b->v, &b->cap, b->cnt + 1))
		return -ENOMEM;
	b->v[b->cnt++] = (struct bucket){low, high, count};
	b->total = b->total + count < count ? UINT64_MAX : b->total + count;
	return 0;
}

void buckets_fini(struct buckets *b)
{
	free(b->v);
	*b = (struct buckets){0};
}

static int by_low(const void *a, const void *b)
{
	const struct bucket *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return (x->high > y->high) - (x->high < y->high);
}

int64_t buckets_quantile(struct buckets *b, double p, double *error)
{
	double rank = ceil(p * b->total), seen = 0;
	const struct bucket *at;
	int64_t middle;

	if (!b->cnt)
		return -1;
	qsort(b->v, b->cnt, sizeof(*b->v), by_low);
	for (at = b->v; at + 1 < b->v + b->cnt && seen + at->count < rank; at++)
		seen += at->count;
	middle = at->low + (int64_t)(((uint64_t)at->high - at->low) / 2);
	if (error)
		*error = middle ? ((double)at->high - at->low) / 2 / middle : 0;
	return middle;
}

/* Largest power of two <= v; 0 for 0. */
static int64_t power_below(int64_t v)
{
	return v > 0 ? (int64_t)1 << (63 - __builtin_clzll(v)) : 0;
}

int buckets_coarse(const struct buckets *b, struct buckets *to)
{
	uint64_t sums[64] = {0};
	int first = 64, last = -1, err = 0;

	for (size_t i = 0; i < b->cnt; i++) {
		int64_t low = power_below(b->v[i].low);
		int n = low ? 1 + __builtin_ctzll(low) : 0;

		sums[n] += b->v[i].count;
		first = n < first ? n : first;
		last = n > last ? n : last;
	}
	for (int n = first; n <= last && !err; n++) { /* keeps empty ranges in between */
		int64_t low = n ? (int64_t)1 << (n - 1) : 0;

		if (array_reserve(&to->v, &to->cap, to->cnt + 1))
			return -ENOMEM;
		to->v[to->cnt++] = (struct bucket){low,
						   n == 63 ? INT64_MAX
						   : low   ? 2 * low
							   : 1,
						   sums[n]};
		to->total += sums[n];
	}
	return err;
}

unsigned bar_length(uint64_t count, uint64_t max, unsigned width)
{
	unsigned n = max ? (unsigned)((double)count / max * width + 0.5) : 0;

	return n > width ? width : count && !n ? 1 : n;
}
