/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the request that a memcached response belongs to. Responses come in order. Quiet requests
 * (meta flag q, the binary ...Q operations) are answered only if there is something to report;
 * later responses skip them.
 */
#include "analyze/l7/proto/memcached_pair.h"

enum { NAME_SHIFT = 40, KEY_SHIFT = 16 };
#define HASH_MASK 0xffffffu

uint32_t mc_hash(struct span s, uint32_t salt)
{
	uint32_t h = 2166136261u ^ salt;

	for (size_t i = 0; i < s.len; i++)
		h = (h ^ (unsigned char)s.p[i]) * 16777619u;
	h = (h ^ h >> 24) & HASH_MASK;
	return h ? h : 1;
}

uint64_t mc_note(struct mc_mark mark, uint64_t keys)
{
	return (uint64_t)mark.name << NAME_SHIFT | (uint64_t)mark.key << KEY_SHIFT |
	       (keys < MC_KEYS_MAX ? keys : MC_KEYS_MAX);
}

static struct mc_mark mark_of(const struct l7_message *q)
{
	return (struct mc_mark){.name = q->note >> NAME_SHIFT,
				.key = q->note >> KEY_SHIFT & HASH_MASK};
}

/* The request with that name, if only one is waiting. */
static const struct l7_message *named(const struct l7_message *q, uint32_t name, size_t *cnt)
{
	const struct l7_message *found = NULL;

	for (*cnt = 0; q; q = l7_pending_next(q))
		if (mark_of(q).name == name) {
			found = found ? found : q;
			(*cnt)++;
		}
	return found;
}

static bool fits(const struct l7_message *q, struct mc_mark mark,
		 bool (*may)(const struct l7_message *q, const void *ctx), const void *ctx)
{
	struct mc_mark own = mark_of(q);

	return (!q->quiet || may(q, ctx)) && (!mark.name || mark.name == own.name) &&
	       (!mark.key || mark.key == own.key);
}

const struct l7_message *mc_choose(struct l7_parser *parser, struct mc_mark mark,
				   bool (*may)(const struct l7_message *q, const void *ctx),
				   const void *ctx, struct l7_message *m)
{
	const struct l7_message *first = l7_pending(parser, 0), *q, *other;
	size_t cnt = 0;

	m->takes = L7_OLDEST;
	m->id = 0;
	if (!first)
		return NULL;
	q = mark.name ? named(first, mark.name, &cnt) : NULL;
	if (q && cnt == 1) {
		m->takes = L7_BY_NAME;
		m->id = q->id;
		return q;
	}
	if (!first->quiet && fits(first, mark, may, ctx))
		return first;
	/* The first request that fits; a quiet one only if no other fits. */
	m->takes = L7_BY_ORDER;
	for (q = first; q && !fits(q, mark, may, ctx) && q->quiet;)
		q = l7_pending_next(q);
	if (!q || !fits(q, mark, may, ctx))
		return NULL;
	for (other = q->quiet && !mark.one ? l7_pending_next(q) : NULL; other;
	     other = l7_pending_next(other)) {
		if (fits(other, mark, may, ctx))
			return NULL;
		if (!other->quiet)
			break;
	}
	m->id = q->id;
	return q;
}

void mc_gather_add(struct mc_gather *g, const struct l7_view *v, uint64_t n)
{
	if (!g->active)
		*g = (struct mc_gather){.active = true, .first_ns = v->ts_ns, .hits = g->hits};
	g->last_ns = v->ts_ns;
	g->size += n;
}

void mc_gather_end(struct mc_gather *g, struct l7_message *m, uint64_t n)
{
	if (g->active) {
		m->first_ns = g->first_ns;
		m->size = g->size + n;
	}
	*g = (struct mc_gather){0};
}
