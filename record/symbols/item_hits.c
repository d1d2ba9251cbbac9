/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/symbols/item_hits.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_NS 300000000ULL
#define PERIOD_NS 1000000000ULL
#define PERIOD_MAX_NS 64000000000ULL

struct item_hits *item_hits_new(void)
{
	struct item_hits *h = calloc(1, sizeof(*h));

	if (h)
		h->period_ns = PERIOD_NS;
	return h;
}

void item_hits_free(struct item_hits *h)
{
	if (!h)
		return;
	free(h->v);
	free(h->covered);
	free(h->missing);
	free(h);
}

static bool is_covered(const struct item_hits *h, uint64_t addr)
{
	size_t lo = 0, hi = h->covered_cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (h->covered[mid].hi <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < h->covered_cnt && h->covered[lo].lo <= addr;
}

bool item_hits_add(struct item_hits *h, uint64_t addr, uint64_t now_ns)
{
	if (is_covered(h, addr))
		return false;
	if (h->cnt == h->cap) {
		size_t cap = h->cap ? h->cap * 2 : 64;
		uint64_t *v = reallocarray(h->v, cap, sizeof(*v));

		if (!v)
			return false;
		h->v = v;
		h->cap = cap;
	}
	if (!h->due_ns)
		h->due_ns = now_ns + FIRST_NS;
	h->v[h->cnt++] = addr;
	return true;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static size_t sort_once_each(uint64_t *v, size_t cnt)
{
	size_t n = 0;

	if (cnt)
		qsort(v, cnt, sizeof(*v), by_value);
	for (size_t i = 0; i < cnt; i++)
		if (!n || v[n - 1] != v[i])
			v[n++] = v[i];
	return n;
}

size_t item_hits_take(struct item_hits *h, uint64_t **v)
{
	size_t n = 0;

	h->cnt = sort_once_each(h->v, h->cnt);
	for (size_t i = 0; i < h->cnt; i++)
		if (!is_covered(h, h->v[i]))
			h->v[n++] = h->v[i];
	*v = h->v;
	h->v = NULL;
	h->cnt = h->cap = 0;
	return n;
}

static int by_lo(const void *a, const void *b)
{
	const struct excerpt_range *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

void item_hits_done(struct item_hits *h, struct excerpt_range *covered, size_t cnt, uint64_t now_ns)
{
	struct excerpt_range *all = NULL;
	size_t n = 0;

	h->due_ns = now_ns + h->period_ns;
	h->period_ns = h->period_ns * 2 < PERIOD_MAX_NS ? h->period_ns * 2 : PERIOD_MAX_NS;
	if (cnt)
		all = reallocarray(h->covered, h->covered_cnt + cnt, sizeof(*all));
	if (!all) {
		free(covered);
		return;
	}
	memcpy(all + h->covered_cnt, covered, cnt * sizeof(*all));
	free(covered);
	cnt += h->covered_cnt;
	qsort(all, cnt, sizeof(*all), by_lo);
	for (size_t i = 0; i < cnt; i++) {
		if (n && all[i].lo <= all[n - 1].hi)
			all[n - 1].hi = all[i].hi > all[n - 1].hi ? all[i].hi : all[n - 1].hi;
		else
			all[n++] = all[i];
	}
	h->covered = all;
	h->covered_cnt = n;
}

void item_hits_miss(struct item_hits *h, uint64_t *units, size_t cnt)
{
	uint64_t *all = cnt ? reallocarray(h->missing, h->missing_cnt + cnt, sizeof(*all)) : NULL;

	if (all) {
		memcpy(all + h->missing_cnt, units, cnt * sizeof(*all));
		h->missing = all;
		h->missing_cnt = sort_once_each(all, h->missing_cnt + cnt);
	}
	free(units);
}
