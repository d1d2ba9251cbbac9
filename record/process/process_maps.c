/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/process/process_maps.h"

/* Index of the first mapping that ends after `address`. */
static size_t first_after(const struct maps *m, uint64_t address)
{
	size_t lo = 0, hi = m->cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->v[mid].end > address)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

const struct map *maps_next(const struct maps *m, uint64_t address)
{
	size_t i = first_after(m, address);

	return i < m->cnt ? &m->v[i] : NULL;
}

const struct map *maps_find(const struct maps *m, uint64_t address)
{
	size_t i = first_after(m, address);

	return i < m->cnt && m->v[i].start <= address ? &m->v[i] : NULL;
}

static bool same_file(const struct map *a, const struct map *b)
{
	return a->binary == b->binary &&
	       (!a->binary || a->offset - a->start == b->offset - b->start);
}

static int reserve(struct maps *m, size_t cnt)
{
	size_t cap = m->cap ? m->cap : 16;
	struct map *v;

	if (cnt <= m->cap)
		return 0;
	while (cap < cnt)
		cap *= 2;
	v = realloc(m->v, cap * sizeof(*v));
	if (!v)
		return -ENOMEM;
	m->v = v;
	m->cap = cap;
	return 0;
}

/* Replaces m->v[at..at+drop) with `cnt` mappings. */
static void splice(struct maps *m, size_t at, size_t drop, const struct map *with, size_t cnt)
{
	memmove(m->v + at + cnt, m->v + at + drop, (m->cnt - at - drop) * sizeof(*m->v));
	memcpy(m->v + at, with, cnt * sizeof(*with));
	m->cnt += cnt - drop;
}

/*
 * Computes what replaces the old mappings [first, last) when `mid` is added. Parts that extend
 * beyond `mid` stay as separate mappings, or extend `mid` if they are of the same file. An adjacent
 * mapping that `mid` continues is merged as well.
 */
static size_t pieces(struct maps *m, size_t *first, size_t *last, struct map mid, struct map out[3])
{
	struct map left = {0}, right = {0};
	uint64_t start = mid.start, end = mid.end;
	size_t cnt = 0;

	if (*first > 0 && m->v[*first - 1].end == start && same_file(&m->v[*first - 1], &mid))
		--*first;
	if (*last < m->cnt && m->v[*last].start == end && same_file(&m->v[*last], &mid))
		++*last;
	if (*last > *first) {
		left = m->v[*first];
		right = m->v[*last - 1];
	}
	if (left.start<start && * last> * first) {
		if (same_file(&left, &mid)) {
			mid.offset -= start - left.start;
			mid.start = left.start;
		} else {
			left.end = start;
			out[cnt++] = left;
		}
	}
	if (right.end > end && same_file(&right, &mid))
		mid.end = right.end;
	out[cnt++] = mid;
	if (right.end > end && !same_file(&right, &mid)) {
		right.offset += end - right.start;
		right.start = end;
		out[cnt++] = right;
	}
	return cnt;
}

int maps_overlay(struct maps *m, const struct map *add)
{
	size_t first = first_after(m, add->start), last = first, cnt;
	struct map piece[3];

	if (add->end <= add->start)
		return 0;
	if (first < m->cnt && m->v[first].start <= add->start && m->v[first].end >= add->end &&
	    same_file(&m->v[first], add))
		return 0;
	if (m->cnt + 2 > MAPS_MAX)
		return -ENOSPC;
	if (reserve(m, m->cnt + 2))
		return -ENOMEM;
	while (last < m->cnt && m->v[last].start < add->end)
		last++;
	cnt = pieces(m, &first, &last, *add, piece);
	splice(m, first, last - first, piece, cnt);
	return 1;
}

int maps_copy(struct maps *to, const struct maps *from)
{
	if (reserve(to, from->cnt))
		return -ENOMEM;
	if (from->cnt)
		memcpy(to->v, from->v, from->cnt * sizeof(*from->v));
	to->cnt = from->cnt;
	for (size_t i = 0; i < to->cnt; i++)
		to->v[i].written = false;
	return 0;
}

void maps_fini(struct maps *m)
{
	free(m->v);
	*m = (struct maps){0};
}
