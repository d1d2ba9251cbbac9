/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/traffic/unnamed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/records.h"
#include "record/traffic/unnamed_guess.h"

enum {
	SHORT = 16,	/* bytes: a shorter call is examined together with the one before */
	ENOUGH = 2,	/* points required */
	EACH = 4,	/* one point per so many calls is required */
	REMEMBERED = 16 /* number of calls after which points and calls are halved */
};

struct waiting {
	struct waiting *next;
	struct wire_payload record; /* followed by its data */
};

struct unnamed_flow {
	struct unnamed *owner;
	struct waiting *first, **end;
	size_t sz;
	uint8_t calls, points[GUESS_PROTOCOLS];
	struct {
		uint8_t p[SHORT], sz;
	} before[2]; /* last short call, by direction */
};

struct unnamed {
	payloads_fn *fn;
	void *ctx;
	size_t sz;
};

int unnamed__new(struct unnamed **out, payloads_fn *fn, void *ctx)
{
	struct unnamed *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->fn = fn;
	u->ctx = ctx;
	*out = u;
	return 0;
}

void unnamed__free(struct unnamed *u)
{
	free(u);
}

static size_t size_of(const struct wire_payload *p)
{
	return sizeof(struct waiting) + p->kept;
}

static struct waiting *take_first(struct unnamed_flow *f)
{
	struct waiting *w = f->first;

	f->first = w->next;
	if (!f->first)
		f->end = &f->first;
	f->sz -= size_of(&w->record);
	f->owner->sz -= size_of(&w->record);
	return w;
}

void unnamed_flow__free(struct unnamed_flow *f)
{
	if (!f)
		return;
	while (f->first)
		free(take_first(f));
	free(f);
}

/* Passes it on without its bytes. */
static void hand_on_bare(struct unnamed *u, const struct wire_payload *p, struct payload_flow *flow)
{
	struct wire_payload bare = *p;

	bare.kept = 0;
	bare.flags |= PAYLOAD_UNNAMED;
	u->fn(u->ctx, &bare, flow);
}

static void give_up_first(struct unnamed *u, struct payload_flow *flow)
{
	struct waiting *w = take_first(flow->unnamed);

	hand_on_bare(u, &w->record, flow);
	free(w);
}

static void hold(struct unnamed *u, const struct wire_payload *p, struct payload_flow *flow)
{
	struct unnamed_flow *f = flow->unnamed;
	struct waiting *w = NULL;

	/* Beyond the limit per connection its oldest records are passed on. Beyond the total limit
	 * this connection's records are passed on, and other connections keep theirs. */
	while (f->first && f->sz + size_of(p) > UNNAMED_FLOW_MAX)
		give_up_first(u, flow);
	if (size_of(p) <= UNNAMED_FLOW_MAX && u->sz + size_of(p) <= UNNAMED_MAX)
		w = malloc(size_of(p));
	if (!w) {
		while (f->first)
			give_up_first(u, flow);
		hand_on_bare(u, p, flow);
		return;
	}
	w->next = NULL;
	memcpy(&w->record, p, sizeof(*p) + p->kept);
	*f->end = w;
	f->end = &w->next;
	f->sz += size_of(p);
	u->sz += size_of(p);
}

/* Guesses from a call alone, or together with the short call before it. */
static struct guess guess(struct unnamed_flow *f, const struct wire_payload *p)
{
	const unsigned dir = p->dir & 1;
	uint8_t joined[SHORT + 512];
	size_t had = f->before[dir].sz, n = p->kept < 512 ? p->kept : 512;
	struct guess g = guess_protocol(p->data, p->kept, p->len, p->pos, false);

	f->before[dir].sz = 0;
	if (g.protocol)
		return g;
	memcpy(joined, f->before[dir].p, had);
	memcpy(joined + had, p->data, n);
	if (had)
		g = guess_protocol(joined, had + n, had + p->len, p->pos, false);
	if (!g.protocol && p->kept == p->len && had + n < SHORT) {
		memcpy(f->before[dir].p, joined, had + n);
		f->before[dir].sz = had + n;
	}
	return g;
}

/* A short call without a guess is not counted against other protocols. */
static bool names(struct unnamed_flow *f, const struct wire_payload *p)
{
	struct guess g = guess(f, p);

	if (!g.protocol && p->kept < SHORT)
		return false;
	if (++f->calls == REMEMBERED) {
		f->calls /= 2;
		for (int i = 0; i < GUESS_PROTOCOLS; i++)
			f->points[i] /= 2;
	}
	f->points[g.protocol] += g.points;
	return g.protocol && f->points[g.protocol] >= ENOUGH &&
	       f->points[g.protocol] * EACH >= f->calls;
}

static void release(struct unnamed *u, struct payload_flow *flow)
{
	struct unnamed_flow *f = flow->unnamed;

	flow->named = true;
	while (f->first) {
		struct waiting *w = take_first(f);

		u->fn(u->ctx, &w->record, flow);
		free(w);
	}
	unnamed_flow__free(f);
	flow->unnamed = NULL;
}

static void put_datagram(struct unnamed *u, const struct wire_payload *p, struct payload_flow *flow)
{
	if (guess_protocol(p->data, p->kept, p->len, p->pos, true).protocol)
		u->fn(u->ctx, p, flow);
	else
		hand_on_bare(u, p, flow);
}

void unnamed__put(struct unnamed *u, const struct wire_payload *p, struct payload_flow *flow)
{
	struct unnamed_flow *f = flow->unnamed;

	if (flow->named || (!p->kept && !(f && f->first))) {
		u->fn(u->ctx, p, flow);
		return;
	}
	if (p->flags & PAYLOAD_DATAGRAM) {
		put_datagram(u, p, flow);
		return;
	}
	if (!f) {
		f = flow->unnamed = calloc(1, sizeof(*f));
		if (!f) {
			hand_on_bare(u, p, flow);
			return;
		}
		f->owner = u;
		f->end = &f->first;
	}
	if (!p->kept || !names(f, p)) {
		hold(u, p, flow);
		return;
	}
	release(u, flow);
	u->fn(u->ctx, p, flow);
}

void unnamed__end(struct unnamed *u, struct payload_flow *flow)
{
	if (!flow->unnamed)
		return;
	while (flow->unnamed->first)
		give_up_first(u, flow);
	unnamed_flow__free(flow->unnamed);
	flow->unnamed = NULL;
}
