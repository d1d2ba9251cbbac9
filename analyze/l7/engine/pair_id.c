/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/l7/engine/pair_id.h"

#include <stdlib.h>

enum { BUCKETS_MIN = 16 };

static struct waiting **bucket_of(const struct pair_id *p, uint64_t id)
{
	return &p->buckets[(id * 0x9e3779b97f4a7c15ull >> 32) & (p->bucket_cnt - 1)];
}

/* Returns the link to the oldest request with that id. peer 0: any peer. NULL: none is waiting. */
static struct waiting **find(const struct pair_id *p, uint64_t id, uint32_t peer)
{
	struct waiting **at;

	if (!p->bucket_cnt)
		return NULL;
	for (at = bucket_of(p, id); *at; at = &(*at)->same)
		if ((*at)->m.id == id && (!peer || (*at)->m.peer == peer))
			return at;
	return NULL;
}

static struct waiting *take_at(struct pair_id *p, struct waiting **at)
{
	struct waiting *w = *at;

	*at = w->same;
	return waiting_take(&p->reqs, w);
}

/* Appends to the bucket, so that the oldest of equal ids is found first. */
static void link_last(struct pair_id *p, struct waiting *w)
{
	struct waiting **at = bucket_of(p, w->m.id);

	while (*at)
		at = &(*at)->same;
	w->same = NULL;
	*at = w;
}

static bool grow(struct pair_id *p)
{
	size_t cnt = p->bucket_cnt ? p->bucket_cnt * 2 : BUCKETS_MIN;
	struct waiting **buckets;

	if (p->reqs.cnt < p->bucket_cnt)
		return true;
	buckets = calloc(cnt, sizeof(struct waiting *));
	if (!buckets)
		return p->bucket_cnt;
	free(p->buckets);
	p->buckets = buckets;
	p->bucket_cnt = cnt;
	for (struct waiting *w = p->reqs.oldest; w; w = w->next)
		link_last(p, w);
	return true;
}

/* Delivers a request unpaired. */
static void give_up(struct pair_id *p, struct waiting **at)
{
	struct waiting *w = take_at(p, at);
	bool missed = w->holes != p->holes[0];

	p->out->missing += missed && p->why[0] == L7_NOT_KEPT;
	pair_hand_out(p->out, &w->m, NULL, false, missed ? p->why[0] : L7_UNANSWERED);
	free(w);
}

static void give_up_oldest(struct pair_id *p)
{
	struct waiting **at = bucket_of(p, p->reqs.oldest->m.id);

	while (*at != p->reqs.oldest)
		at = &(*at)->same;
	give_up(p, at);
}

void pair_id_request(struct pair_id *p, const struct l7_message *m)
{
	/* An id in use comes again: the response to the earlier request was lost, or the request
	 * was retried. */
	struct waiting **before = m->id ? find(p, m->id, m->peer) : NULL, *w;

	if (before)
		give_up(p, before);
	if (p->reqs.cnt >= WAITING_MAX)
		give_up_oldest(p);
	w = grow(p) ? waiting_new(m) : NULL;
	if (!w) {
		pair_hand_out(p->out, m, NULL, false, L7_UNANSWERED);
		return;
	}
	w->holes = p->holes[0];
	waiting_push(&p->reqs, w);
	link_last(p, w);
}

void pair_id_response(struct pair_id *p, const struct l7_message *m)
{
	struct waiting **at = find(p, m->id, m->peer), *w;

	if (!at) {
		p->out->missing += p->holes[1] && p->why[1] == L7_NOT_KEPT;
		pair_hand_out(p->out, NULL, m, false, p->holes[1] ? p->why[1] : L7_UNANSWERED);
		return;
	}
	w = take_at(p, at);
	pair_hand_out(p->out, &w->m, m, true, 0);
	free(w);
}

void pair_id_give_up(struct pair_id *p, uint64_t id)
{
	struct waiting **at = find(p, id, 0);

	if (at)
		give_up(p, at);
}

void pair_id_hole(struct pair_id *p, bool requests, enum l7_why why)
{
	p->holes[requests]++;
	p->why[requests] = why;
}

const struct l7_message *pair_id_pending(const struct pair_id *p, uint64_t id)
{
	struct waiting **at = find(p, id, 0);

	return at ? &(*at)->m : NULL;
}

void pair_id_fini(struct pair_id *p)
{
	while (p->reqs.oldest)
		give_up_oldest(p);
	free(p->buckets);
	p->buckets = NULL;
	p->bucket_cnt = 0;
}
