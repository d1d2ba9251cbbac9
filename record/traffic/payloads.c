/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/records.h"
#include "format/redact/redact.h"
#include "record/base/idmap.h"
#include "record/traffic/payloads.h"
#include "record/traffic/unnamed.h"

enum {
	PASSES = 2,		/* passes over the rings that a record waits for preceding ones */
	LINGER = 4,		/* passes that a closed connection is kept */
	HELD_MAX = 16 * 1 << 20 /* bytes */
};

struct held {
	struct held *next;
	uint64_t pass;
	struct wire_payload record; /* followed by its data */
};

struct side {
	uint64_t next;		  /* position of the next byte expected */
	bool seen;		  /* a record was received */
	struct held *held, *last; /* sorted by position */
};

struct flow {
	uint64_t key;
	bool waits;	 /* in the list of flows that hold records */
	bool orphan;	 /* belonged to no known connection at the last sweep */
	uint64_t closed; /* pass in which it was closed; 0: open */
	struct payload_flow carried;
	struct side side[2];
	struct flow *next_waiting, *next_closed;
};

struct payloads {
	payloads_fn *fn;
	void (*end)(void *ctx, struct payload_flow *flow);
	void *ctx;
	struct idmap flows; /* connection -> struct flow */
	struct flow *waiting, *closed;
	uint64_t pass;
	size_t held_sz;
};

int payloads__new(struct payloads **out, payloads_fn *fn, void *ctx)
{
	struct payloads *ps = calloc(1, sizeof(*ps));

	if (!ps)
		return -ENOMEM;
	ps->fn = fn;
	ps->ctx = ctx;
	ps->pass = 1;
	*out = ps;
	return 0;
}

static void flow_free(struct flow *f)
{
	for (int dir = 0; dir < 2; dir++)
		for (struct held *h = f->side[dir].held, *next; h; h = next) {
			next = h->next;
			free(h);
		}
	redact_conn__free(f->carried.redact);
	unnamed_flow__free(f->carried.unnamed);
	free(f);
}

void payloads__free(struct payloads *ps)
{
	struct flow *f;

	if (!ps)
		return;
	for (size_t i = 0; (f = idmap_next(&ps->flows, &i));)
		flow_free(f);
	idmap_fini(&ps->flows);
	free(ps);
}

/* Plaintext has separate positions, so it is a separate flow. */
static uint64_t key_of(uint32_t connection, bool plain)
{
	return connection | (uint64_t)plain << 32;
}

static struct flow *flow_of(struct payloads *ps, uint64_t key)
{
	struct flow *f = idmap_get(&ps->flows, key);

	if (f)
		return f;
	f = calloc(1, sizeof(*f));
	if (f && idmap_put(&ps->flows, key, f)) {
		free(f);
		return NULL;
	}
	if (f)
		f->key = key;
	return f;
}

static void hand_out(struct payloads *ps, struct flow *f, const struct wire_payload *p)
{
	struct side *s = &f->side[p->dir & 1];

	f->carried.lost[p->dir & 1] = p->pos > s->next && s->seen;
	s->seen = true;
	ps->fn(ps->ctx, p, &f->carried);
	if (p->pos + p->len > s->next)
		s->next = p->pos + p->len;
}

static size_t size_of(const struct wire_payload *p)
{
	return sizeof(struct held) + p->kept;
}

/* Passes on what is next in order, and what has been held since pass `before` or longer. */
static void release(struct payloads *ps, struct flow *f, struct side *s, uint64_t before)
{
	struct held *h;

	while ((h = s->held) && (h->record.pos <= s->next || h->pass < before)) {
		s->held = h->next;
		ps->held_sz -= size_of(&h->record);
		hand_out(ps, f, &h->record);
		free(h);
	}
}

static bool hold(struct payloads *ps, struct flow *f, struct side *s, const struct wire_payload *p)
{
	struct held *h, **at = &s->held;

	if (ps->held_sz + size_of(p) > HELD_MAX)
		return false;
	h = malloc(size_of(p));
	if (!h)
		return false;
	h->pass = ps->pass;
	memcpy(&h->record, p, sizeof(*p) + p->kept);
	/* Nearly always it comes after all others. */
	if (*at && s->last->record.pos <= p->pos)
		at = &s->last->next;
	while (*at && (*at)->record.pos <= p->pos)
		at = &(*at)->next;
	h->next = *at;
	*at = h;
	if (!h->next)
		s->last = h;
	ps->held_sz += size_of(p);
	if (!f->waits) {
		f->waits = true;
		f->next_waiting = ps->waiting;
		ps->waiting = f;
	}
	return true;
}

void payloads__put(struct payloads *ps, const struct wire_payload *p)
{
	struct payload_flow alone = {0};
	struct flow *f;
	struct side *s;

	/* A datagram needs no ordering. */
	f = p->flags & PAYLOAD_DATAGRAM ? NULL
					: flow_of(ps, key_of(p->sock, p->flags & PAYLOAD_TLS));
	if (!f) {
		ps->fn(ps->ctx, p, &alone);
		redact_conn__free(alone.redact);
		return;
	}
	s = &f->side[p->dir & 1];
	if (p->pos > s->next && hold(ps, f, s, p))
		return;
	if (p->pos > s->next)
		release(ps, f, s, UINT64_MAX);
	hand_out(ps, f, p);
	release(ps, f, s, 0);
}

static void pass_waiting(struct payloads *ps, bool last)
{
	struct flow **at = &ps->waiting, *f;

	while ((f = *at)) {
		for (int dir = 0; dir < 2; dir++)
			release(ps, f, &f->side[dir],
				last		    ? UINT64_MAX
				: ps->pass > PASSES ? ps->pass - PASSES
						    : 0);
		f->waits = f->side[0].held || f->side[1].held;
		if (f->waits)
			at = &f->next_waiting;
		else
			*at = f->next_waiting;
	}
}

void payloads__on_end(struct payloads *ps, void (*fn)(void *ctx, struct payload_flow *flow))
{
	ps->end = fn;
}

static void end(struct payloads *ps, struct flow *f)
{
	if (ps->end)
		ps->end(ps->ctx, &f->carried);
}

void payloads__pass(struct payloads *ps, bool last)
{
	struct flow **at = &ps->closed, *f;

	ps->pass++;
	pass_waiting(ps, last);
	while ((f = *at)) {
		if (f->closed + LINGER > ps->pass || f->waits) {
			at = &f->next_closed;
			continue;
		}
		*at = f->next_closed;
		end(ps, f);
		idmap_del(&ps->flows, f->key);
		flow_free(f);
	}
	if (last)
		for (size_t i = 0; (f = idmap_next(&ps->flows, &i));)
			end(ps, f);
}

static void close_flow(struct payloads *ps, struct flow *f)
{
	if (!f || f->closed)
		return;
	f->closed = ps->pass;
	f->next_closed = ps->closed;
	ps->closed = f;
}

void payloads__close(struct payloads *ps, uint32_t connection)
{
	close_flow(ps, idmap_get(&ps->flows, key_of(connection, false)));
	close_flow(ps, idmap_get(&ps->flows, key_of(connection, true)));
}

void payloads__sweep(struct payloads *ps, bool (*known)(void *ctx, uint32_t connection))
{
	struct flow *f;

	for (size_t i = 0; (f = idmap_next(&ps->flows, &i));) {
		bool orphan = !known(ps->ctx, (uint32_t)f->key);

		if (orphan && f->orphan)
			close_flow(ps, f);
		f->orphan = orphan;
	}
}
