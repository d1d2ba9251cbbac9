/* SPDX-License-Identifier: BSD-2-Clause */
/* One connection: protocol detection, then parsing both directions in time order, then pairing. */
#include <errno.h>
#include <stdlib.h>

#include "analyze/l7/engine/conn.h"

enum { TABLES_SZ = 4096 };   /* memory of the tables of a parser, besides its state */
enum { CONTRADICTIONS = 8 }; /* consecutive parse errors after which detection restarts */

/* ---- called by parsers ---- */

const struct l7_message *l7_pending(const struct l7_parser *parser, uint64_t id)
{
	struct l7_conn *c = parser->engine;

	return pair_pending(&c->pair, id);
}

void l7_grow(struct l7_parser *parser, uint64_t id, const struct l7_view *view, uint64_t size)
{
	struct l7_message *m = (struct l7_message *)l7_pending(parser, id);

	if (!m)
		return;
	m->size += size;
	if (view->ts_ns > m->last_ns)
		m->last_ns = view->ts_ns;
}

const struct l7_message *l7_pending_next(const struct l7_message *m)
{
	return pair_next(m);
}

void l7_deliver(struct l7_parser *parser, const struct l7_message *m)
{
	struct l7_conn *c = parser->engine;
	struct l7_message past = *m;

	past.missed = L7_MISSED_UNKNOWN;
	c->stats.messages++;
	pair_add(&c->pair, &past);
}

enum l7_dir l7_requests_dir(const struct l7_parser *parser)
{
	const struct l7_conn *c = parser->engine;

	return c->role == L7_CLIENT ? L7_SENT : L7_RECEIVED;
}

void l7_give_up(struct l7_parser *parser, uint64_t id)
{
	struct l7_conn *c = parser->engine;

	pair_give_up(&c->pair, id);
}

/* ---- the connection ---- */

int l7_conn__new(struct l7_conn **cp, const struct l7_conn_opts *opts)
{
	struct l7_conn *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->opts = *opts;
	c->role = opts->role;
	c->arena = opts->arena ? opts->arena : &c->own_arena;
	*cp = c;
	return 0;
}

static void settle(struct l7_conn *c, bool now)
{
	struct stream *const dir[2] = {&c->dir[L7_SENT].stream, &c->dir[L7_RECEIVED].stream};
	int requests_sent;
	const struct l7_protocol *p =
		bidding_settle(&c->bidding, &c->opts, dir, now, &requests_sent);

	if (p)
		speak_take(c, p, requests_sent);
}

/* Bytes of an unrecognized protocol: counted, not held. */
static void pass_over(struct l7_conn *c)
{
	for (int d = 0; d < 2; d++) {
		struct stream *s = &c->dir[d].stream;

		c->stats.opaque_bytes += stream_known_end(s, UINT64_MAX) - s->front;
		while (stream_skip(s))
			;
	}
}

int l7_conn__feed(struct l7_conn *c, const struct l7_piece *piece)
{
	int err;

	if (!c->begun) {
		c->begun = true;
		c->first_dir = piece->dir;
	}
	if (!c->dir[piece->dir].begun) {
		c->dir[piece->dir].begun = true;
		c->dir[piece->dir].begin = piece->pos;
	}
	if (piece->ts_ns > c->now_ns)
		c->now_ns = piece->ts_ns;
	err = stream_push(&c->dir[piece->dir].stream, piece);
	if (err)
		return err;
	if (!c->protocol && !c->bidding.given_up) {
		bidding_add(&c->bidding, piece);
		settle(c, false);
		if (c->protocol)
			advance(c);
	} else if (c->protocol) {
		advance(c);
		if (c->bad_in_row >= CONTRADICTIONS) {
			/* After repeated contradiction the protocol is detected again. */
			speak_drop(c);
			bidding_again(&c->bidding);
			c->bad_in_row = 0;
		}
	}
	if (!c->protocol && c->bidding.given_up)
		pass_over(c);
	arena_fini(&c->own_arena); /* saves memory: there may be many connections */
	return stream_own(&c->dir[piece->dir].stream);
}

void l7_conn__finish(struct l7_conn *c)
{
	if (c->finished)
		return;
	if (!c->protocol && !c->bidding.given_up)
		settle(c, true);
	if (c->protocol)
		advance(c);
	c->finished = true;
	if (!c->protocol) {
		pass_over(c);
		return;
	}
	advance(c);
	speak_flush(c);
}

void l7_conn__free(struct l7_conn *c)
{
	if (!c)
		return;
	l7_conn__finish(c);
	speak_drop(c);
	arena_fini(&c->own_arena);
	for (int d = 0; d < 2; d++)
		stream_fini(&c->dir[d].stream);
	free(c);
}

const struct l7_protocol *l7_conn__protocol(const struct l7_conn *c)
{
	return c->protocol;
}

enum l7_role l7_conn__role(const struct l7_conn *c)
{
	return c->role;
}

struct l7_stats l7_conn__stats(const struct l7_conn *c)
{
	struct l7_stats st = c->stats;

	st.opaque_bytes += c->bidding.passed;
	if (c->protocol) {
		st.paired += c->pair.out.paired;
		st.unpaired += c->pair.out.unpaired;
		st.missing += c->pair.out.missing;
	}
	return st;
}

size_t l7_conn__held(const struct l7_conn *c)
{
	size_t sz = sizeof(*c);

	for (int d = 0; d < 2; d++)
		sz += stream_held(&c->dir[d].stream);
	if (c->protocol)
		sz += pair_held(&c->pair) + c->protocol->state_sz +
		      (c->protocol->fini ? TABLES_SZ : 0);
	return sz;
}

uint64_t l7_conn__end(const struct l7_conn *c, enum l7_dir dir)
{
	return stream_end(&c->dir[dir].stream);
}

uint64_t l7_conn__now_ns(const struct l7_conn *c)
{
	return c->now_ns;
}
