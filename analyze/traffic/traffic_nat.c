/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/traffic/traffic_nat.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/traffic/traffic_distance.h"

/*
 * Connections opened during both captures count from the same byte. Older ones count from where
 * each end was first seen. Their positions may then differ by as much as either has moved since,
 * plus data in transit (UNDER_WAY), and only unique matches are accepted.
 */
#define UNDER_WAY (1u << 16)
#define MOVED_MAX (1u << 29)
enum { NEAR_MAX = 64 }; /* neighbours examined; more prove nothing */

/* An end without a match, and the only candidate found. */
struct lone {
	struct conn *c;
	struct lone *fits;
	bool many;
};

static int by_received(const void *a, const void *b)
{
	const struct lone *x = a, *y = b;

	return (x->c->anchor[L7_RECEIVED] > y->c->anchor[L7_RECEIVED]) -
	       (x->c->anchor[L7_RECEIVED] < y->c->anchor[L7_RECEIVED]);
}

static uint64_t moved(const struct conn *a, const struct conn *b, enum l7_dir dir)
{
	uint64_t there = a->bytes[dir], here = b->bytes[!dir];

	return there > here ? there : here;
}

static bool is_near(const struct conn *a, const struct conn *b, enum l7_dir dir)
{
	uint64_t most = moved(a, b, dir);
	int64_t apart = (int32_t)(a->anchor[dir] - b->anchor[!dir]);

	return most <= MOVED_MAX && (uint64_t)llabs(apart) <= most + UNDER_WAY;
}

/* Can a and b be the ends of one connection, by their sequence numbers? */
static bool fit(const struct conn *a, const struct conn *b)
{
	bool from_begin = a->rec.opened_ns && b->rec.opened_ns;

	if (a == b || traffic_distance(a, b) == UINT64_MAX)
		return false;
	if (a->anchor[L7_SENT] == b->anchor[L7_RECEIVED] &&
	    a->anchor[L7_RECEIVED] == b->anchor[L7_SENT])
		return true;
	return !from_begin && is_near(a, b, L7_SENT) && is_near(a, b, L7_RECEIVED);
}

static void note(struct lone *a, struct lone *b)
{
	a->many |= a->fits && a->fits != b;
	a->fits = b;
}

/* The first end with an anchor of at least `seq`. */
static size_t find(const struct lone *v, size_t cnt, uint32_t seq)
{
	size_t from = 0, to = cnt;

	while (from < to) {
		size_t at = from + (to - from) / 2;

		if (v[at].c->anchor[L7_RECEIVED] < seq)
			from = at + 1;
		else
			to = at;
	}
	return from;
}

/* Searches the ends whose received stream is where the sent stream of this one is. */
static void find_fitting(struct lone *v, size_t cnt, struct lone *a)
{
	uint64_t sent = a->c->bytes[L7_SENT];
	uint32_t reach = (sent < MOVED_MAX ? sent : MOVED_MAX) + UNDER_WAY;
	uint32_t first = a->c->anchor[L7_SENT] - reach;
	size_t i = find(v, cnt, first), seen = 0;

	for (; seen < cnt; seen++, i++) {
		struct lone *b = &v[i % cnt];

		if (b->c->anchor[L7_RECEIVED] - first > 2 * reach)
			return;
		if (seen == NEAR_MAX) {
			a->many = true;
			return;
		}
		if (fit(a->c, b->c)) {
			note(a, b);
			note(b, a);
		}
	}
}

static void join(struct lone *v, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		struct lone *a = &v[i], *b = a->fits;

		if (!b || a->many || b->many || b->fits != a || a->c->other)
			continue;
		a->c->other = b->c->number + 1;
		b->c->other = a->c->number + 1;
	}
}

int traffic_find_translated(struct traffic *t)
{
	struct lone *v = t->conn_cnt ? calloc(t->conn_cnt, sizeof(*v)) : NULL;
	size_t cnt = 0;

	if (!v)
		return t->conn_cnt ? -ENOMEM : 0;
	for (size_t i = 0; i < t->conn_cnt; i++) {
		struct conn *c = t->conns[i];

		if (c->rec.transport == TRANSPORT_TCP && !c->other && c->anchored[L7_SENT] &&
		    c->anchored[L7_RECEIVED])
			v[cnt++].c = c;
	}
	if (cnt > 1)
		qsort(v, cnt, sizeof(*v), by_received);
	for (size_t i = 0; i < cnt; i++)
		find_fitting(v, cnt, &v[i]);
	join(v, cnt);
	free(v);
	return 0;
}
