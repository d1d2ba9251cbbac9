/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses both directions at their fronts, in time order. */
#include <string.h>

#include "analyze/l7/engine/conn.h"

#define MAX_BUFFER (1u << 20)
#define MAX_PIECES (1u << 13)  /* limit of pieces held; pieces without captured bytes count, too */
#define REORDER_NS 50000000ULL /* how long a gap may still be filled */

/* Bytes are missing at the front; the number of messages in them is unknown. */
static void lost_step(struct l7_conn *c, struct direction *d, enum l7_why why)
{
	if (!d->after_hole)
		d->missed_from = d->stream.front;
	if (c->protocol->hole)
		c->protocol->hole(&c->parser, is_requests(c, dir_of(c, d)));
	d->after_hole = true;
	c->stats.holes++;
	pair_hole(&c->pair, is_requests(c, dir_of(c, d)), why);
}

/* The same, where `missed` bytes of the front's call were not captured. */
static void unkept_step(struct l7_conn *c, struct direction *d, uint64_t missed)
{
	uint64_t call = stream_call_len(&d->stream);

	c->stats.unkept_places++;
	c->stats.unkept_bytes += missed;
	if (call > c->stats.unkept_call)
		c->stats.unkept_call = call;
	lost_step(c, d, L7_NOT_KEPT);
}

static void add_missed(struct direction *d, uint64_t n)
{
	uint64_t before = d->missed % L7_MISSED_UNKNOWN;

	d->missed += n < L7_MISSED_UNKNOWN - before ? n : L7_MISSED_UNKNOWN - 1 - before;
}

/* The buffer limit is reached: nothing more is held for data that is missing. */
static bool is_full(const struct l7_conn *c, const struct stream *s)
{
	return s->held > (c->opts.max_buffer ? c->opts.max_buffer : MAX_BUFFER) ||
	       s->cnt > MAX_PIECES;
}

/* Has the time expired in which a late piece may fill the gap? A full buffer in either direction
 * ends it, too. */
static bool is_over(const struct l7_conn *c, uint64_t since_ns)
{
	return c->now_ns > since_ns + REORDER_NS || is_full(c, &c->dir[L7_SENT].stream) ||
	       is_full(c, &c->dir[L7_RECEIVED].stream);
}

static bool gap_is_final(const struct l7_conn *c, const struct stream *s)
{
	return c->finished || is_over(c, stream_first_ns(s));
}

/* The same for a gap after the first piece. */
static bool is_cut_off(const struct l7_conn *c, const struct stream *s)
{
	uint64_t since_ns = stream_gap_ns(s);

	return since_ns && is_over(c, since_ns);
}

/* The gap may still be filled: later data of either direction waits for it. */
static bool blocked(const struct l7_conn *c, enum l7_dir dir)
{
	const struct stream *s = &c->dir[dir].stream;
	struct l7_view view;

	if (stream_gap_ns(s))
		return !is_cut_off(c, s) && !c->dir[dir].tail;
	return stream_look(s, &view) == STREAM_GAP && !gap_is_final(c, s);
}

static uint64_t tail_end_ns(const struct direction *d)
{
	return d->tail ? stream_time(&d->stream, d->tail_end - 1) : 0;
}

/* Messages are paired in the order of their ends. Does the other direction have data from before
 * end_ns? This happens when a gap delayed both directions. */
static bool is_ahead(const struct l7_conn *c, const struct direction *d, uint64_t end_ns)
{
	uint64_t other_ns = stream_first_ns(&c->dir[!dir_of(c, d)].stream);

	return other_ns && other_ns < end_ns;
}

/* Releases a waiting message of the other direction that ended before this one. */
static void release_earlier(struct l7_conn *c, struct direction *d, uint64_t end_ns)
{
	struct direction *other = &c->dir[!dir_of(c, d)];
	uint64_t other_ns = tail_end_ns(other);

	if (other_ns && (!end_ns || other_ns <= end_ns))
		tail_release(c, other);
}

/* Releases a waiting message whose end has passed when nothing can be parsed and nothing earlier
 * can come. */
static bool release_ended(struct l7_conn *c)
{
	for (int d = 0; d < 2; d++)
		if (tail_end_ns(&c->dir[d]) && !blocked(c, !d)) {
			tail_release(c, &c->dir[d]);
			return true;
		}
	return false;
}

/* Consumes `n` bytes, the result of parse. */
static void accept(struct l7_conn *c, struct direction *d, const struct l7_view *view,
		   struct l7_message *m, uint64_t n)
{
	uint64_t begin = d->stream.front, end_ns;
	bool opaque = m->opaque_after, cut = m->cut;
	const char *goes_on = m->goes_on;

	c->bad_in_row = 0;
	d->spans |= n > view->known;
	if (d->after_hole) {
		add_missed(d, begin - d->missed_from);
		if (d->spans && !c->protocol->resync)
			d->missed |= L7_MISSED_UNKNOWN;
	}
	d->after_hole = false;
	if (m->type == L7_REQUEST || m->type == L7_RESPONSE) {
		m->missed = d->missed;
		d->missed = 0;
	}
	if (cut)
		d->missed |= L7_MISSED_UNKNOWN;
	m->dir = dir_of(c, d);
	m->pos = m->pos ? m->pos : begin;
	m->peer = view->peer;
	m->unread = m->dir == L7_SENT ? view->unread : L7_UNREAD_NONE;
	if (!m->first_ns)
		m->first_ns = view->ts_ns;
	if (m->cut)
		n = view->known;
	if (!m->size)
		m->size = n;
	end_ns = stream_time(&d->stream, begin + n - 1);
	if (m->type != L7_SKIP)
		release_earlier(c, d, end_ns);
	if (m->type != L7_SKIP && !c->finished &&
	    (begin + n > stream_known_end(&d->stream, begin + n) || is_ahead(c, d, end_ns)))
		tail_hold(c, d, m, begin + n);
	else if (m->type != L7_SKIP)
		tail_finish(c, d, m, begin + n);
	if (cut) {
		if (view->cut)
			unkept_step(c, d, view->known - view->len);
		else
			lost_step(c, d, L7_LOST);
		stream_skip(&d->stream);
	} else {
		stream_consume(&d->stream, n);
	}
	arena_reset(c->arena);
	c->opaque |= opaque;
	if (goes_on)
		speak_switch(c, goes_on);
}

/* Out of sync at the front: skips to the next boundary, or past this piece. */
static void resync(struct l7_conn *c, struct direction *d, const struct l7_view *view, size_t from)
{
	size_t off = view->len;

	c->stats.resyncs++;
	if (c->protocol->resync && from < view->len)
		off = c->protocol->resync(view, from);
	/* If captured bytes follow, they were lost; otherwise the rest of the call was not
	 * captured. */
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
	arena_reset(c->arena);
	resync(c, d, view, 1);
}

/* Calls memset through an opaque size: GCC turns a constant size into slower `rep stos`. */
static void clear(struct l7_message *m)
{
	size_t sz = sizeof(*m);

	__asm__("" : "+r"(sz));
	memset(m, 0, sz);
}

static int64_t parse_front(struct l7_conn *c, struct direction *d, struct l7_view *view,
			   struct l7_message *m)
{
	int64_t n;

	for (;;) {
		clear(m);
		c->parser.after_hole = d->after_hole;
		view->full = is_full(c, &d->stream);
		n = c->protocol->parse(&c->parser, view, m);
		if (n != L7_PARTIAL || !stream_extend(&d->stream))
			return n;
		d->spans = true;
		stream_look(&d->stream, view);
	}
}

/* If the first bytes of the other direction were seen and those of this one were not, they were
 * lost before the protocol was known. */
static void begin_parsing(struct l7_conn *c, struct direction *d)
{
	const struct direction *other = &c->dir[!dir_of(c, d)];

	if (!d->parsed && d->begin && other->begun && !other->begin) {
		d->after_hole = true;
		d->missed_from = 0;
		pair_hole(&c->pair, is_requests(c, dir_of(c, d)), L7_LOST);
	}
	d->parsed = true;
}

/* One step at the front. False: nothing more can be done now. */
static bool step(struct l7_conn *c, enum l7_dir dir)
{
	struct direction *d = &c->dir[dir];
	struct l7_view view = {.requests = is_requests(c, dir), .last = c->finished};
	struct l7_message m;
	int64_t n;

	if (d->tail) {
		uint64_t end_ns = tail_end_ns(d);

		if (!c->finished && (!end_ns || is_ahead(c, d, end_ns)))
			return false;
		tail_release(c, d);
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
		if (d->parsed && c->protocol->unkept && c->protocol->unkept(&c->parser, &view)) {
			arena_reset(c->arena);
			return stream_skip(&d->stream);
		}
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

		arena_reset(c->arena);
		if (more && !view.full)
			return false;
		resync(c, d, &view, view.len);
		return true;
	}
	on_bad(c, d, &view);
	return true;
}

static bool holds(const struct l7_conn *c)
{
	const struct direction *d = c->dir;

	return d[0].stream.cnt || d[1].stream.cnt || d[0].tail || d[1].tail;
}

/* Parses both directions in time order. At equal times the request comes first. */
void advance(struct l7_conn *c)
{
	bool moved = true;

	while (moved && c->protocol && holds(c)) {
		uint64_t a = stream_first_ns(&c->dir[L7_SENT].stream),
			 b = stream_first_ns(&c->dir[L7_RECEIVED].stream);
		enum l7_dir first = b && (!a || b < a || (b == a && is_requests(c, L7_RECEIVED)))
					    ? L7_RECEIVED
					    : L7_SENT;

		moved = step(c, first);
		if (!moved && c->protocol && !blocked(c, first))
			moved = step(c, !first);
		if (!moved && c->protocol)
			moved = release_ended(c);
	}
}
