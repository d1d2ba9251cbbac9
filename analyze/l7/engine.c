/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One connection: bidding, then parsing both directions in the order of time, then pairing.
 *
 * A direction is read at its front. A message may reach past the bytes seen so far (a body of which
 * only the head was kept, or which is still on its way): it waits as the direction's `tail` until
 * its last byte passed, so that its times are right and nothing after it is parsed before.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pair.h"
#include "stream.h"

enum {
	BID_BYTES = 1 << 18, /* kept bytes of both directions after which an unknown connection is
				given up */
	BID_PIECES = 64,
	BID_WAIT = 16,	    /* pieces after which one direction alone has to do */
	BID_SETTLE = 6,	    /* pieces after which a short one is taken for what it is */
	BID_MIN = 16,	    /* a piece shorter than this is joined with the next for bidding */
	SURE = 90,	    /* a bid that needs no second direction */
	ENOUGH = 50,	    /* a bid that needs no port */
	ENOUGH_LATER = 70,  /* the same behind pieces that nobody knew */
	CONTRADICTIONS = 8, /* bad parses in a row after which the protocol is asked for again */
};
#define MAX_BUFFER (1u << 20)
#define REORDER_NS 50000000ULL /* how long a gap may still be filled */

struct direction {
	struct stream stream;
	bool after_hole;
	bool begun; /* one of its pieces came, the first at this position */
	uint64_t begin;
	bool parsed;
	bool waits; /* tail holds a message whose last byte has not passed */
	struct l7_message tail;
	uint64_t tail_end;
	char *tail_text;
};

struct arena_chunk {
	struct arena_chunk *next;
	char text[];
};

struct l7_conn {
	struct l7_conn_opts opts;
	const struct l7_protocol *protocol;
	enum l7_role role;
	struct direction dir[2];
	struct l7_parser parser;
	struct pair pair;
	struct arena_chunk *arena;
	struct l7_stats stats;
	enum l7_dir first_dir;
	bool begun, opaque, finished;
	bool given_up;		      /* nobody knows it */
	bool moved;		      /* nobody knew its first pieces */
	unsigned pieces, pieces_here; /* since the front moved, while nobody knows it */
	unsigned bad_in_row;
	size_t kept_bytes;
	uint64_t now_ns;
};

/* ---- what parsers call ---- */

const struct l7_message *l7_pending(const struct l7_parser *parser, uint64_t id)
{
	const struct l7_conn *c = parser->engine;

	return pair_pending(&c->pair, id);
}

const struct l7_message *l7_pending_next(const struct l7_message *m)
{
	return pair_next(m);
}

void l7_deliver(struct l7_parser *parser, const struct l7_message *m)
{
	struct l7_conn *c = parser->engine;

	c->stats.messages++;
	pair_add(&c->pair, m);
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

static char *arena_add(struct l7_conn *c, size_t sz)
{
	struct arena_chunk *chunk = malloc(sizeof(*chunk) + sz);

	if (!chunk)
		return NULL;
	chunk->next = c->arena;
	c->arena = chunk;
	return chunk->text;
}

struct span l7_text(struct l7_parser *parser, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	text = n >= 0 ? arena_add(parser->engine, n + 1) : NULL;
	if (!text)
		return (struct span){"", 0};
	va_start(ap, fmt);
	vsnprintf(text, n + 1, fmt, ap);
	va_end(ap);
	return (struct span){text, n};
}

struct span l7_keep(struct l7_parser *parser, struct span s)
{
	char *text = s.len ? arena_add(parser->engine, s.len + 1) : NULL;

	if (!text)
		return (struct span){"", 0};
	memcpy(text, s.p, s.len);
	text[s.len] = 0;
	return (struct span){text, s.len};
}

static void arena_reset(struct l7_conn *c)
{
	while (c->arena) {
		struct arena_chunk *next = c->arena->next;

		free(c->arena);
		c->arena = next;
	}
}

/* ---- messages ---- */

static void deliver(void *ctx, const struct l7_exchange *x)
{
	struct l7_conn *c = ctx;

	c->opts.sink(c->opts.ctx, c, x);
}

/* A response that overtakes the end of its request: that counts as it is, its last bytes as
 * nothing. */
static void overtake(struct l7_conn *c, struct direction *other, const struct l7_message *resp)
{
	struct l7_message *q = &other->tail;

	if (!other->waits || q->type != L7_REQUEST || pair_pending(&c->pair, resp->id) ||
	    (c->pair.by_id && q->id != resp->id))
		return;
	q->last_ns = resp->first_ns;
	c->stats.messages++;
	pair_add(&c->pair, q);
	q->type = L7_SKIP;
}

static void finish_message(struct l7_conn *c, struct direction *d, struct l7_message *m,
			   uint64_t end)
{
	if (m->type == L7_RESPONSE && !m->interim)
		overtake(c, d == &c->dir[0] ? &c->dir[1] : &c->dir[0], m);
	m->last_ns = stream_time(&d->stream, end - 1);
	if (!m->last_ns)
		m->last_ns = m->first_ns > c->now_ns ? m->first_ns : c->now_ns;
	c->stats.messages += m->type != L7_SKIP;
	pair_add(&c->pair, m);
}

static struct span tail_copy(char **p, struct span s)
{
	struct span copy = {*p, s.len};

	if (s.len)
		memcpy(*p, s.p, s.len);
	*p += s.len;
	return copy;
}

/* The message's last byte is still to come: keep it with copies of its strings. */
static void hold_tail(struct l7_conn *c, struct direction *d, const struct l7_message *m,
		      uint64_t end)
{
	char *p = malloc(m->method.len + m->target.len + m->status.len + m->detail.len + 1);

	d->tail = *m;
	d->tail_end = end;
	d->tail_text = p;
	d->waits = true;
	if (!p) {
		d->tail.method = d->tail.target = d->tail.status = d->tail.detail =
			(struct span){"", 0};
		return;
	}
	d->tail.method = tail_copy(&p, m->method);
	d->tail.target = tail_copy(&p, m->target);
	d->tail.status = tail_copy(&p, m->status);
	d->tail.detail = tail_copy(&p, m->detail);
}

static void release_tail(struct l7_conn *c, struct direction *d)
{
	d->waits = false;
	finish_message(c, d, &d->tail, d->tail_end);
	free(d->tail_text);
	d->tail_text = NULL;
}

static bool is_requests(const struct l7_conn *c, enum l7_dir dir)
{
	return (c->role == L7_CLIENT) == (dir == L7_SENT);
}

/* Bytes are missing at the front: nobody knows how many messages. */
static void lost_step(struct l7_conn *c, struct direction *d, enum l7_why why)
{
	d->after_hole = true;
	c->stats.holes++;
	pair_hole(&c->pair, is_requests(c, d == &c->dir[L7_SENT] ? L7_SENT : L7_RECEIVED), why);
}

/* So are they where `missed` bytes of the front's call were not kept. */
static void unkept_step(struct l7_conn *c, struct direction *d, uint64_t missed)
{
	uint64_t call = stream_call_len(&d->stream);

	c->stats.unkept_places++;
	c->stats.unkept_bytes += missed;
	if (call > c->stats.unkept_call)
		c->stats.unkept_call = call;
	lost_step(c, d, L7_NOT_KEPT);
}

static void take_protocol(struct l7_conn *c, const struct l7_protocol *p, int requests_sent);
static void drop_protocol(struct l7_conn *c);

/* From here on it speaks another one; the roles stay. */
static void switch_protocol(struct l7_conn *c, const char *name)
{
	const struct l7_protocol *const *p = l7_protocols;
	bool client = c->role == L7_CLIENT;
	struct waiting *w;

	while (*p && strcmp((*p)->name, name))
		p++;
	if (!*p) {
		c->opaque = true;
		return;
	}
	w = pair_take_oldest(&c->pair);
	drop_protocol(c);
	take_protocol(c, *p, client);
	if (c->protocol && w) {
		w->m.id = 1;
		pair_add(&c->pair, &w->m);
	}
	free(w);
}

/* parse gave `n` bytes. */
static void accept(struct l7_conn *c, struct direction *d, const struct l7_view *view,
		   struct l7_message *m, uint64_t n)
{
	uint64_t begin = d->stream.front, known = stream_known_end(&d->stream);
	bool opaque = m->opaque_after, cut = m->cut;
	const char *goes_on = m->goes_on;

	c->bad_in_row = 0;
	d->after_hole = false;
	m->dir = d == &c->dir[L7_RECEIVED] ? L7_RECEIVED : L7_SENT;
	m->peer = view->peer;
	if (!m->first_ns)
		m->first_ns = view->ts_ns;
	if (m->cut)
		n = view->known;
	if (!m->size)
		m->size = n;
	if (m->type != L7_SKIP && begin + n > known && !c->finished) {
		hold_tail(c, d, m, begin + n);
	} else if (m->type != L7_SKIP) {
		finish_message(c, d, m, begin + n);
	}
	if (cut) {
		if (view->cut)
			unkept_step(c, d, view->known - view->len);
		else
			lost_step(c, d, L7_LOST);
		stream_skip(&d->stream);
	} else {
		stream_consume(&d->stream, n);
	}
	arena_reset(c);
	c->opaque |= opaque;
	if (goes_on)
		switch_protocol(c, goes_on);
}

/* ---- reading a direction ---- */

/* May this gap still be filled by a piece that comes late? */
static bool gap_is_final(const struct l7_conn *c, const struct stream *s)
{
	size_t max = c->opts.max_buffer ? c->opts.max_buffer : MAX_BUFFER;

	return c->finished || s->held > max || c->now_ns > stream_first_ns(s) + REORDER_NS;
}

/* The same of a gap that lies behind the first piece. */
static bool is_cut_off(const struct l7_conn *c, const struct stream *s)
{
	uint64_t since_ns = stream_gap_ns(s);

	return since_ns && c->now_ns > since_ns + REORDER_NS;
}

/* Out of step at the front: to the next boundary, or past this piece. */
static void resync(struct l7_conn *c, struct direction *d, const struct l7_view *view, size_t from)
{
	size_t off = view->len;

	c->stats.resyncs++;
	if (c->protocol->resync && from < view->len)
		off = c->protocol->resync(view, from);
	/* What was kept goes on behind that; else with what was not. */
	if (off == view->len && view->cut)
		unkept_step(c, d, view->known - view->len);
	else
		lost_step(c, d, L7_LOST);
	if (off < view->len)
		stream_consume(&d->stream, off);
	else
		stream_skip(&d->stream);
}

static void on_bad(struct l7_conn *c, struct direction *d, const struct l7_view *view)
{
	c->stats.bad++;
	c->bad_in_row++;
	arena_reset(c);
	resync(c, d, view, 1);
}

static int64_t parse_front(struct l7_conn *c, struct direction *d, struct l7_view *view,
			   struct l7_message *m)
{
	int64_t n;

	for (;;) {
		*m = (struct l7_message){0};
		c->parser.after_hole = d->after_hole;
		n = c->protocol->parse(&c->parser, view, m);
		if (n != L7_PARTIAL || !stream_extend(&d->stream))
			return n;
		stream_look(&d->stream, view);
	}
}

/* Of one direction the first bytes are there, of the other they are not: lost before anybody knew
 * what they were. */
static void begin_parsing(struct l7_conn *c, struct direction *d)
{
	const struct direction *other = d == &c->dir[0] ? &c->dir[1] : &c->dir[0];

	if (!d->parsed && d->begin && other->begun && !other->begin)
		pair_hole(&c->pair, is_requests(c, d == &c->dir[L7_SENT] ? L7_SENT : L7_RECEIVED),
			  L7_LOST);
	d->parsed = true;
}

/* One step at the front; false when nothing more can be done now. */
static bool step(struct l7_conn *c, enum l7_dir dir)
{
	struct direction *d = &c->dir[dir];
	struct l7_view view = {.requests = is_requests(c, dir), .last = c->finished};
	struct l7_message m;
	int64_t n;

	if (d->waits) {
		if (!stream_time(&d->stream, d->tail_end - 1) && !c->finished)
			return false;
		release_tail(c, d);
	}
	switch (stream_look(&d->stream, &view)) {
	case STREAM_EMPTY:
		return false;
	case STREAM_GAP:
		if (!gap_is_final(c, &d->stream))
			return false;
		lost_step(c, d, L7_LOST);
		return stream_skip(&d->stream);
	case STREAM_UNKEPT:
		unkept_step(c, d, view.known);
		return stream_skip(&d->stream);
	case STREAM_BYTES:
		break;
	}
	if (c->opaque) {
		c->stats.opaque_bytes += view.known;
		return stream_skip(&d->stream);
	}
	begin_parsing(c, d);
	n = parse_front(c, d, &view, &m);
	if (n > 0) {
		accept(c, d, &view, &m, n);
		return true;
	}
	if (n == L7_PARTIAL) {
		bool more = !view.cut && !view.last && !view.datagram && !is_cut_off(c, &d->stream);

		arena_reset(c);
		if (more &&
		    d->stream.held <= (c->opts.max_buffer ? c->opts.max_buffer : MAX_BUFFER))
			return false;
		resync(c, d, &view, view.len);
		return true;
	}
	on_bad(c, d, &view);
	return true;
}

/* A gap that may still be filled: what came later in either direction waits for it. */
static bool blocked(const struct l7_conn *c, enum l7_dir dir)
{
	const struct stream *s = &c->dir[dir].stream;
	struct l7_view view;

	if (stream_gap_ns(s))
		return !is_cut_off(c, s) && !c->dir[dir].waits;
	return stream_look(s, &view) == STREAM_GAP && !gap_is_final(c, s);
}

/* Both directions from their fronts, in the order of time; at the same time the request goes first.
 */
static void advance(struct l7_conn *c)
{
	bool moved = true;

	while (moved && c->protocol) {
		uint64_t a = stream_first_ns(&c->dir[L7_SENT].stream),
			 b = stream_first_ns(&c->dir[L7_RECEIVED].stream);
		enum l7_dir first = b && (!a || b < a || (b == a && is_requests(c, L7_RECEIVED)))
					    ? L7_RECEIVED
					    : L7_SENT;

		moved = step(c, first);
		if (!moved && c->protocol && !blocked(c, first))
			moved = step(c, !first);
	}
}

/* ---- bidding ---- */

static bool port_fits(const struct l7_protocol *p, uint16_t port)
{
	for (size_t i = 0; port && i < sizeof(p->ports) / sizeof(p->ports[0]) && p->ports[i]; i++)
		if (p->ports[i] == port)
			return true;
	return false;
}

/* What each direction begins with. Servers may read or write a header first: what follows it
 * belongs to the picture, in a copy. */
static void bid_views(struct l7_conn *c, struct l7_view view[2], uint8_t *copy[2])
{
	for (int d = 0; d < 2; d++) {
		struct stream *s = &c->dir[d].stream;
		enum stream_at at;

		view[d] = (struct l7_view){.p = (const uint8_t *)""};
		copy[d] = NULL;
		/* Nobody can tell from what is not there. */
		while ((at = stream_look(s, &view[d])) == STREAM_UNKEPT || at == STREAM_GAP)
			stream_skip(s);
		if (view[d].len && view[d].len < BID_MIN)
			copy[d] = stream_joined(s, BID_MIN, &view[d]);
	}
}

static const struct l7_protocol *best_bid(const struct l7_conn *c, const struct l7_view view[2],
					  int *best, int *requests_sent)
{
	const struct l7_protocol *winner = NULL;
	bool datagram = view[0].datagram || view[1].datagram;

	*best = 0;
	for (const struct l7_protocol *const *p = l7_protocols; *p; p++) {
		int sent = -1, bid;

		if ((c->opts.only && *p != c->opts.only) || (datagram && !(*p)->datagrams))
			continue;
		bid = (*p)->bid(&view[L7_SENT], &view[L7_RECEIVED], &sent);
		if (bid > 0 && port_fits(*p, c->opts.server_port))
			bid += bid < ENOUGH ? 30 : 5;
		if (bid > *best) {
			*best = bid;
			*requests_sent = sent;
			winner = *p;
		}
	}
	return winner;
}

/* Who asks: the content, else what the recorder knew, else who spoke first. */
static enum l7_role decide_role(const struct l7_conn *c, int requests_sent)
{
	if (requests_sent >= 0)
		return requests_sent ? L7_CLIENT : L7_SERVER;
	if (c->opts.role != L7_ROLE_UNKNOWN)
		return c->opts.role;
	return c->first_dir == L7_SENT ? L7_CLIENT : L7_SERVER;
}

static void take_protocol(struct l7_conn *c, const struct l7_protocol *p, int requests_sent)
{
	void *state = p->state_sz ? calloc(1, p->state_sz) : NULL;

	if (p->state_sz && !state)
		return;
	c->role = decide_role(c, requests_sent);
	c->protocol = p;
	c->parser = (struct l7_parser){.engine = c, .opts = &c->opts, .state = state};
	pair_init(&c->pair, p->pair_by_id, deliver, c);
}

/*
 * Nobody knows what the fronts begin with: joined in the middle of a message, perhaps. The older
 * one moves to its next piece, which may begin one. False: wait for more.
 */
static bool move_on(struct l7_conn *c, const struct l7_view view[2], bool now)
{
	uint64_t a = stream_first_ns(&c->dir[L7_SENT].stream),
		 b = stream_first_ns(&c->dir[L7_RECEIVED].stream);
	struct stream *older = &c->dir[!a || (b && b < a) ? L7_RECEIVED : L7_SENT].stream;
	uint64_t front;
	bool both = view[0].len && view[1].len,
	     readable = both && view[0].len >= BID_MIN && view[1].len >= BID_MIN;

	if (!a && !b)
		return false;
	if (!now && !(readable && older->cnt > 1) &&
	    c->pieces_here < (both ? BID_SETTLE : BID_WAIT))
		return false;
	c->moved = true;
	c->pieces_here = 0;
	front = older->front;
	if (!stream_skip(older))
		return false;
	c->stats.opaque_bytes += older->front - front;
	return true;
}

/* Asks who knows it, as often as there is something new to ask about. */
static void settle_protocol(struct l7_conn *c, bool now)
{
	struct l7_view view[2];
	uint8_t *copy[2];

	do {
		int best, requests_sent = -1;
		const struct l7_protocol *p;

		bid_views(c, view, copy);
		p = best_bid(c, view, &best, &requests_sent);
		free(copy[0]);
		free(copy[1]);
		if (best < (c->moved ? ENOUGH_LATER : ENOUGH))
			continue;
		if (best < SURE && !(view[0].len && view[1].len) && !now &&
		    c->pieces_here < BID_WAIT)
			return;
		take_protocol(c, p, requests_sent);
		return;
	} while (move_on(c, view, now));
	c->given_up = c->pieces >= BID_PIECES || c->kept_bytes >= BID_BYTES;
}

/* ---- the connection ---- */

int l7_conn__new(struct l7_conn **cp, const struct l7_conn_opts *opts)
{
	struct l7_conn *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->opts = *opts;
	c->role = opts->role;
	*cp = c;
	return 0;
}

/* What parsers and pairing still hold goes out. */
static void flush(struct l7_conn *c)
{
	for (int d = 0; d < 2; d++)
		if (c->dir[d].waits)
			release_tail(c, &c->dir[d]);
	if (c->protocol->finish)
		c->protocol->finish(&c->parser);
	arena_reset(c);
	pair_fini(&c->pair);
}

static void drop_protocol(struct l7_conn *c)
{
	if (!c->protocol)
		return;
	flush(c);
	c->stats.paired += c->pair.out.paired;
	c->stats.unpaired += c->pair.out.unpaired;
	c->stats.missing += c->pair.out.missing;
	if (c->protocol->fini)
		c->protocol->fini(c->parser.state);
	free(c->parser.state);
	c->parser.state = NULL;
	c->protocol = NULL;
}

/* Nobody's bytes: counted, not held. */
static void pass_over(struct l7_conn *c)
{
	for (int d = 0; d < 2; d++) {
		struct stream *s = &c->dir[d].stream;

		c->stats.opaque_bytes += stream_known_end(s) - s->front;
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
	if (!c->protocol && !c->given_up) {
		c->pieces++;
		c->pieces_here++;
		c->kept_bytes += piece->data.len;
		settle_protocol(c, false);
		if (c->protocol)
			advance(c);
	} else if (c->protocol) {
		advance(c);
		if (c->bad_in_row >= CONTRADICTIONS) {
			/* Replaced after repeated contradiction. */
			drop_protocol(c);
			c->pieces = c->pieces_here = 0;
			c->kept_bytes = 0;
			c->bad_in_row = 0;
			c->moved = true;
		}
	}
	if (!c->protocol && c->given_up)
		pass_over(c);
	err = stream_own(&c->dir[0].stream);
	return err ? err : stream_own(&c->dir[1].stream);
}

void l7_conn__finish(struct l7_conn *c)
{
	if (c->finished)
		return;
	if (!c->protocol && !c->given_up)
		settle_protocol(c, true);
	if (c->protocol)
		advance(c);
	c->finished = true;
	if (!c->protocol) {
		pass_over(c);
		return;
	}
	advance(c);
	flush(c);
}

void l7_conn__free(struct l7_conn *c)
{
	if (!c)
		return;
	l7_conn__finish(c);
	drop_protocol(c);
	arena_reset(c);
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

	if (c->protocol) {
		st.paired += c->pair.out.paired;
		st.unpaired += c->pair.out.unpaired;
		st.missing += c->pair.out.missing;
	}
	return st;
}
