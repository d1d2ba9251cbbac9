/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/traffic/latency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 64, SUB_BITS = 7, SUB = 1 << SUB_BITS };

/* The durations of one power of two. */
struct latency_block {
	uint32_t scale; /* each bucket is 2^scale ns wide */
	uint64_t *count;
};

static uint32_t scale_of(uint64_t ns)
{
	return ns < 2 * SUB ? 0 : 63 - __builtin_clzll(ns) - SUB_BITS;
}

/* Blocks are 2*SUB wide at scale 0 and use the upper half otherwise. */
static uint32_t slot_of(uint64_t ns, uint32_t scale)
{
	return ns >> scale;
}

static struct latency_block *block_of(struct latency *l, uint32_t scale)
{
	struct latency_block *b;
	uint32_t at = 0;

	while (at < l->block_cnt && l->blocks[at].scale < scale)
		at++;
	if (at < l->block_cnt && l->blocks[at].scale == scale)
		return &l->blocks[at];
	b = realloc(l->blocks, (l->block_cnt + 1) * sizeof(*b));
	if (!b)
		return NULL;
	l->blocks = b;
	b += at;
	memmove(b + 1, b, (l->block_cnt - at) * sizeof(*b));
	*b = (struct latency_block){scale, calloc(2 * SUB, sizeof(*b->count))};
	l->block_cnt++;
	return b;
}

static int count(struct latency *l, uint64_t ns, uint64_t times)
{
	uint32_t scale = scale_of(ns);
	struct latency_block *b = block_of(l, scale);

	if (!b || !b->count)
		return -ENOMEM;
	b->count[slot_of(ns, scale)] += times;
	return 0;
}

/* Moves the separate values into buckets. */
static int spread(struct latency *l)
{
	int err = 0;

	for (uint64_t i = 0; i < l->cnt && !err; i++)
		err = count(l, l->few[i], 1);
	free(l->few);
	l->few = NULL;
	return err;
}

static int keep_few(struct latency *l, uint64_t ns)
{
	if (!(l->cnt & (l->cnt - 1)) || !l->few) { /* powers of two: the array is full */
		uint64_t *grown = realloc(l->few, (l->cnt ? 2 * l->cnt : 1) * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		l->few = grown;
	}
	l->few[l->cnt] = ns;
	return 0;
}

int latency__add(struct latency *l, uint64_t ns)
{
	int err;

	if (l->cnt == FEW && l->few && spread(l))
		return -ENOMEM;
	err = l->cnt < FEW && !l->block_cnt ? keep_few(l, ns) : count(l, ns, 1);
	if (err)
		return err;
	if (!l->cnt || ns < l->min)
		l->min = ns;
	if (ns > l->max)
		l->max = ns;
	l->cnt++;
	l->sum += ns;
	return 0;
}

static int merge_blocks(struct latency *to, const struct latency *from)
{
	for (uint32_t i = 0; i < from->block_cnt; i++) {
		const struct latency_block *f = &from->blocks[i];
		struct latency_block *b = block_of(to, f->scale);

		if (!b || !b->count)
			return -ENOMEM;
		for (int k = 0; k < 2 * SUB; k++)
			b->count[k] += f->count[k];
	}
	return 0;
}

int latency__merge(struct latency *to, const struct latency *from)
{
	int err = 0;

	if (!from->block_cnt) {
		for (uint64_t i = 0; i < from->cnt && !err; i++)
			err = latency__add(to, from->few[i]);
		return err;
	}
	if (to->few && spread(to))
		return -ENOMEM;
	err = merge_blocks(to, from);
	if (!to->cnt || from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->cnt += from->cnt;
	to->sum += from->sum;
	return err;
}

void latency__fini(struct latency *l)
{
	for (uint32_t i = 0; i < l->block_cnt; i++)
		free(l->blocks[i].count);
	free(l->blocks);
	free(l->few);
	*l = (struct latency){0};
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t within(const struct latency *l, uint64_t ns)
{
	return ns < l->min ? l->min : ns > l->max ? l->max : ns;
}

static uint64_t in_blocks(const struct latency *l, uint64_t rank)
{
	for (uint32_t i = 0; i < l->block_cnt; i++) {
		const struct latency_block *b = &l->blocks[i];

		for (uint64_t k = 0; k < 2 * SUB; k++) {
			if (b->count[k] >= rank) /* middle of the bucket */
				return within(l, (k << b->scale) + ((1ull << b->scale) >> 1));
			rank -= b->count[k];
		}
	}
	return l->max;
}

uint64_t latency__percentile(const struct latency *l, unsigned percent)
{
	uint64_t sorted[FEW], rank;

	if (!l->cnt)
		return 0;
	rank = (l->cnt / 100) * percent + ((l->cnt % 100) * percent + 99) / 100;
	if (!rank)
		rank = 1;
	if (l->block_cnt)
		return in_blocks(l, rank);
	memcpy(sorted, l->few, l->cnt * sizeof(*sorted));
	qsort(sorted, l->cnt, sizeof(*sorted), by_size);
	return sorted[rank - 1];
}

uint64_t latency__at_most(const struct latency *l, uint64_t ns)
{
	uint64_t n = 0;

	if (ns >= l->max)
		return l->cnt;
	for (uint64_t i = 0; l->few && i < l->cnt; i++)
		n += l->few[i] <= ns;
	for (uint32_t i = 0; i < l->block_cnt; i++) {
		const struct latency_block *b = &l->blocks[i];

		for (uint64_t k = 0; k < 2 * SUB; k++)
			if ((k << b->scale) + ((1ull << b->scale) >> 1) <= ns)
				n += b->count[k];
	}
	return n;
}
