/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "pair.h"

enum { BUCKETS_MIN = 16 };

/* ---- what waits ---- */

static struct span keep(char **p, struct span s)
{
	struct span copy = {*p, s.len};

	if (s.len)
		memcpy(*p, s.p, s.len);
	*p += s.len;
	return copy;
}

struct waiting *waiting_new(const struct l7_message *m)
{
	size_t sz = m->method.len + m->target.len + m->status.len + m->detail.len;
	struct waiting *w = malloc(sizeof(*w) + sz);
	char *p;

	if (!w)
		return NULL;
	p = w->text;
	w->next = w->prev = w->same = NULL;
	w->holes = 0;
	w->m = *m;
	w->m.method = keep(&p, m->method);
	w->m.target = keep(&p, m->target);
	w->m.status = keep(&p, m->status);
	w->m.detail = keep(&p, m->detail);
	return w;
}

void waiting_push(struct waiting_list *l, struct waiting *w)
{
	w->prev = l->newest;
	w->next = NULL;
	*(l->newest ? &l->newest->next : &l->oldest) = w;
	l->newest = w;
	l->cnt++;
	l->tail++;
}

struct waiting *waiting_take(struct waiting_list *l, struct waiting *w)
{
	*(w->prev ? &w->prev->next : &l->oldest) = w->next;
	*(w->next ? &w->next->prev : &l->newest) = w->prev;
	l->cnt--;
	if (l->tail > l->cnt)
		l->tail = l->cnt;
	return w;
}

void pair_hand_out(struct pair *p, const struct l7_message *req, const struct l7_message *resp,
		   bool paired, enum l7_why why)
{
	struct l7_exchange x = {
		.request = req, .response = resp, .paired = paired, .why = paired ? 0 : why};
	struct l7_message silent;

	if (req && req->quiet && !resp) {
		silent = *req;
		silent.type = L7_ONEWAY;
		x.request = &silent;
		x.why = 0;
	} else if (paired) {
		p->paired++;
	} else {
		p->unpaired++;
	}
	p->out(p->ctx, &x);
}

/* ---- by id ---- */

static struct waiting **bucket_of(const struct pair *p, uint64_t id)
{
	return &p->buckets[(id * 0x9e3779b97f4a7c15ull >> 32) & (p->bucket_cnt - 1)];
}

/* Where the link to the oldest of that id is; peer 0: of anyone. NULL: none waits. */
static struct waiting **find(const struct pair *p, uint64_t id, uint32_t peer)
{
	struct waiting **at;

	if (!p->bucket_cnt)
		return NULL;
	for (at = bucket_of(p, id); *at; at = &(*at)->same)
		if ((*at)->m.id == id && (!peer || (*at)->m.peer == peer))
			return at;
	return NULL;
}

static struct waiting *take_at(struct pair *p, struct waiting **at)
{
	struct waiting *w = *at;

	*at = w->same;
	return waiting_take(&p->reqs, w);
}

/* Behind those of its bucket: of equal ids the oldest is found first. */
static void link_last(struct pair *p, struct waiting *w)
{
	struct waiting **at = bucket_of(p, w->m.id);

	while (*at)
		at = &(*at)->same;
	w->same = NULL;
	*at = w;
}

static bool grow(struct pair *p)
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

/* A request that stays alone. */
static void give_up(struct pair *p, struct waiting **at)
{
	struct waiting *w = take_at(p, at);
	bool missed = w->holes != p->holes[0];

	p->missing += missed && p->why[0] == L7_NOT_KEPT;
	pair_hand_out(p, &w->m, NULL, false, missed ? p->why[0] : L7_UNANSWERED);
	free(w);
}

static void give_up_oldest(struct pair *p)
{
	struct waiting **at = bucket_of(p, p->reqs.oldest->m.id);

	while (*at != p->reqs.oldest)
		at = &(*at)->same;
	give_up(p, at);
}

static void add_request(struct pair *p, const struct l7_message *m)
{
	/* An id is used again: the answer to the one before was lost, or it was asked anew. */
	struct waiting **before = m->id ? find(p, m->id, m->peer) : NULL, *w;

	if (before)
		give_up(p, before);
	if (p->reqs.cnt >= PAIR_WAITING_MAX)
		give_up_oldest(p);
	w = grow(p) ? waiting_new(m) : NULL;
	if (!w) {
		pair_hand_out(p, m, NULL, false, L7_UNANSWERED);
		return;
	}
	w->holes = p->holes[0];
	waiting_push(&p->reqs, w);
	link_last(p, w);
}

static void add_response(struct pair *p, const struct l7_message *m)
{
	struct waiting **at = find(p, m->id, m->peer), *w;

	if (!at) {
		p->missing += p->holes[1] && p->why[1] == L7_NOT_KEPT;
		pair_hand_out(p, NULL, m, false, p->holes[1] ? p->why[1] : L7_UNANSWERED);
		return;
	}
	w = take_at(p, at);
	pair_hand_out(p, &w->m, m, true, 0);
	free(w);
}

/* ---- both ---- */

void pair_init(struct pair *p, bool by_id, void (*out)(void *ctx, const struct l7_exchange *x),
	       void *ctx)
{
	*p = (struct pair){.by_id = by_id, .out = out, .ctx = ctx};
}

void pair_add(struct pair *p, const struct l7_message *m)
{
	struct l7_exchange x = {.request = m};

	switch (m->type) {
	case L7_REQUEST:
		if (p->by_id)
			add_request(p, m);
		else
			pair_order_request(p, m);
		break;
	case L7_RESPONSE:
		if (m->interim)
			break;
		if (p->by_id)
			add_response(p, m);
		else
			pair_order_response(p, m);
		break;
	case L7_ONEWAY:
		p->out(p->ctx, &x);
		break;
	case L7_SKIP:
		break;
	}
}

void pair_give_up(struct pair *p, uint64_t id)
{
	struct waiting **at = p->by_id ? find(p, id, 0) : NULL;

	if (at)
		give_up(p, at);
}

void pair_hole(struct pair *p, bool requests, enum l7_why why)
{
	if (!p->by_id) {
		pair_order_hole(p, requests, why);
		return;
	}
	p->holes[requests]++;
	p->why[requests] = why;
}

const struct l7_message *pair_pending(const struct pair *p, uint64_t id)
{
	struct waiting **at;

	if (!p->by_id)
		return pair_order_pending(p);
	at = find(p, id, 0);
	return at ? &(*at)->m : NULL;
}

const struct l7_message *pair_next(const struct l7_message *m)
{
	const struct waiting *w = (const void *)((const char *)m - offsetof(struct waiting, m));

	return w->next ? &w->next->m : NULL;
}

struct waiting *pair_take_oldest(struct pair *p)
{
	return p->reqs.oldest && !p->by_id ? waiting_take(&p->reqs, p->reqs.oldest) : NULL;
}

void pair_fini(struct pair *p)
{
	if (p->by_id)
		while (p->reqs.oldest)
			give_up_oldest(p);
	else
		pair_order_fini(p);
	free(p->buckets);
	p->buckets = NULL;
	p->bucket_cnt = 0;
}
