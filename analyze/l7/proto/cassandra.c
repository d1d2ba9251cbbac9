/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cassandra's native protocol, versions 3 to 5 (github.com/apache/cassandra
 * doc/native_protocol_v5.spec).
 *
 *   envelope  version:1  flags:1  stream:2  opcode:1  length:4 (big endian)  body
 *   segment   version 5, after READY or AUTHENTICATE: a header with its CRC, one or more whole
 *             envelopes or a part of one, a CRC (cassandra_frame.c)
 *
 * Paired by stream id. An EVENT is pushed and has no answer. A client reuses a stream id as soon as
 * it was answered, so after a hole an answer may belong to another request: see after_hole. Of
 * compressed bodies only the envelope is reported. In compressed segments the envelope itself is
 * compressed, and nothing is reported.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/l7/proto/cassandra_body.h"

enum { DETAIL_MAX = 1024, STATUS_MAX = 24 };

/* An envelope that continues in the next segments. */
struct held {
	uint64_t left;
	struct l7_message m;
	char target[CQL_DIGEST], status[STATUS_MAX], detail[DETAIL_MAX];
};

struct half {
	uint32_t segment_left; /* of the current segment's payload */
	unsigned head;	       /* size of its header */
	struct held *held;
};

struct cassandra {
	struct half half[2]; /* client, server */
	struct cql_bodies bodies;
	bool cuts;	  /* calls were not captured completely */
	uint32_t waiting; /* number of requests waiting */
	bool reused; /* a stream id was reused before its answer was seen: that answer was lost */
	/* hole_ns: time of an answer seen after a hole. stale_ns: requests older than this may have
	 * been answered in that hole, because a later request was answered since. */
	uint64_t hole_ns, stale_ns;
};

/* Gives up a request from before a hole, because it is unknown whether the answer belongs to it. */
static void drop_stale(struct cassandra *s, struct l7_parser *parser, uint64_t id)
{
	const struct l7_message *q = l7_pending(parser, id);

	if (!q)
		return;
	if (s->hole_ns && q->first_ns > s->hole_ns) {
		s->stale_ns = s->hole_ns;
		s->hole_ns = 0;
	} else if (q->last_ns < s->stale_ns) {
		l7_give_up(parser, id);
		s->waiting -= s->waiting > 0;
	}
}

static void describe(struct cassandra *s, struct l7_parser *parser, const struct cql_envelope *e,
		     struct l7_message *m)
{
	m->id = (uint64_t)e->stream + 1;
	if (e->response) {
		drop_stale(s, parser, m->id);
		cql_response(&s->bodies, parser, e, m);
		if (m->type == L7_RESPONSE && l7_pending(parser, m->id) && s->waiting)
			s->waiting--;
	} else {
		if (l7_pending(parser, m->id))
			s->reused = true;
		else
			s->waiting++;
		cql_request(&s->bodies, parser, e, m);
	}
	if (e->flags & CQL_COMPRESSED)
		cql_add_flag(parser, m, "compressed");
	if (e->flags & CQL_TRACING)
		cql_add_flag(parser, m, "tracing");
	if (e->flags & CQL_WARNING && e->response)
		cql_add_flag(parser, m, "warning");
}

/* ---- envelopes over several segments ---- */

static struct span hold_text(char *dst, size_t sz, struct span s)
{
	struct span held = {dst, s.len < sz ? s.len : 0};

	if (held.len)
		memcpy(dst, s.p, held.len);
	return held;
}

/* False: out of memory. */
static bool hold(struct half *h, const struct l7_message *m, uint64_t left)
{
	struct held *k = malloc(sizeof(*k));

	if (!k)
		return false;
	k->left = left;
	k->m = *m;
	k->m.target = hold_text(k->target, sizeof(k->target), m->target);
	k->m.status = hold_text(k->status, sizeof(k->status), m->status);
	k->m.detail = hold_text(k->detail, sizeof(k->detail), m->detail);
	h->held = k;
	return true;
}

static void release(struct l7_parser *parser, struct half *h, struct l7_message *m)
{
	*m = h->held->m;
	m->target = l7_keep(parser, m->target);
	m->status = l7_keep(parser, m->status);
	m->detail = l7_keep(parser, m->detail);
	free(h->held);
	h->held = NULL;
}

/* Delivers an envelope whose end is unknown, with the size seen so far. */
static void release_cut(struct l7_parser *parser, struct half *h)
{
	struct l7_message m;

	if (!h->held)
		return;
	release(parser, h, &m);
	l7_deliver(parser, &m);
}

static int64_t continued(struct l7_parser *parser, struct half *h, const struct l7_view *v,
			 uint64_t at, uint32_t in_segment, struct l7_message *m)
{
	struct held *k = h->held;
	uint64_t n = k->left < in_segment ? k->left : in_segment;

	k->left -= n;
	k->m.size += n;
	k->m.last_ns = v->ts_ns;
	h->segment_left = in_segment - n;
	if (!k->left)
		release(parser, h, m);
	return at + n + (h->segment_left ? 0 : CQL_CRC_SZ);
}

/* ---- parsing ---- */

/*
 * Bytes before this view are missing. If they are answers and only one request was waiting, its
 * answer was among them. With several requests, an answer may still come. (A reused stream id
 * explains the missing bytes.)
 */
static void after_hole(struct cassandra *s, struct l7_parser *parser, const struct l7_view *v,
		       const struct cql_envelope *e)
{
	uint64_t id = (uint64_t)e->stream + 1;

	if (v->requests)
		return;
	if (e->opcode && s->waiting == 1 && !s->reused && e->opcode != CQL_EVENT &&
	    l7_pending(parser, id)) {
		l7_give_up(parser, id);
		s->waiting = 0;
	}
	s->reused = false;
	if (s->waiting)
		s->hole_ns = v->ts_ns;
}

/* Parses the envelope at `at` of the view; `in_segment` bytes of it (0: all) are in the segment. */
static int64_t envelope(struct cassandra *s, struct l7_parser *parser, struct half *h,
			const struct l7_view *v, uint64_t at, uint32_t in_segment,
			struct l7_message *m)
{
	size_t have = v->len - at;
	struct cql_envelope e;
	enum cql_at is;
	uint64_t total;

	if (in_segment && have > in_segment)
		have = in_segment;
	is = cql_envelope_at(v->p + at, have, &e);
	if (is == CQL_NOT || (is == CQL_SHORT && in_segment && have == in_segment) ||
	    (is == CQL_IS && e.response == v->requests))
		return L7_BAD;
	if (is == CQL_SHORT)
		return L7_PARTIAL;
	total = CQL_HEAD + (uint64_t)e.len;
	if (e.have < e.len && e.have < CQL_LOOK && !v->cut && !v->last &&
	    !(in_segment && have == in_segment))
		return L7_PARTIAL;
	if (parser->after_hole)
		after_hole(s, parser, v, &e);
	describe(s, parser, &e, m);
	if (!in_segment)
		return at + total;
	if (total <= in_segment) {
		h->segment_left = in_segment - total;
		m->size = total;
		return at + total + (h->segment_left ? 0 : CQL_CRC_SZ);
	}
	m->size = in_segment;
	m->first_ns = m->last_ns = v->ts_ns;
	m->dir = v->requests ? l7_requests_dir(parser) : !l7_requests_dir(parser);
	h->segment_left = 0;
	if (s->cuts && at + in_segment + CQL_CRC_SZ + h->head > v->len) {
		uint64_t left = total - in_segment, segments = (left + in_segment - 1) / in_segment;

		/* The headers of the next segments may never be seen. All segments but the last
		 * have the same size. */
		m->size = total;
		return at + in_segment + CQL_CRC_SZ + left + segments * (h->head + CQL_CRC_SZ);
	}
	if (hold(h, m, total - in_segment))
		*m = (struct l7_message){0};
	return at + in_segment + CQL_CRC_SZ;
}

static int64_t cassandra_parse(struct l7_parser *parser, const struct l7_view *v,
			       struct l7_message *m)
{
	struct cassandra *s = parser->state;
	struct half *h = &s->half[!v->requests];
	struct cql_segment g;
	enum cql_at is;

	s->cuts |= v->cut;
	if (parser->after_hole) {
		h->segment_left = 0;
		release_cut(parser, h);
	}
	if (h->segment_left)
		return h->held ? continued(parser, h, v, 0, h->segment_left, m)
			       : envelope(s, parser, h, v, 0, h->segment_left, m);
	is = cql_segment_at(v->p, v->len, &g);
	if (is == CQL_NOT)
		return envelope(s, parser, h, v, 0, 0, m);
	if (is == CQL_SHORT) {
		struct cql_envelope e;

		/* May be shorter than the header of an envelope. */
		return cql_envelope_at(v->p, v->len, &e) == CQL_NOT && v->len >= 8 ? L7_BAD
										   : L7_PARTIAL;
	}
	h->head = g.head;
	if (g.raw || !g.len)
		return g.head + (uint64_t)g.len + CQL_CRC_SZ;
	if (h->held)
		return continued(parser, h, v, g.head, g.len, m);
	return envelope(s, parser, h, v, g.head, g.len, m);
}

static void cassandra_finish(struct l7_parser *parser)
{
	struct cassandra *s = parser->state;

	for (int i = 0; i < 2; i++)
		release_cut(parser, &s->half[i]);
}

static void cassandra_fini(void *state)
{
	struct cassandra *s = state;

	free(s->half[0].held);
	free(s->half[1].held);
	names_fini(&s->bodies.prepared);
}

const struct l7_protocol l7_cassandra = {
	.name = "cassandra",
	.bid = cql_bid,
	.parse = cassandra_parse,
	.resync = cql_resync,
	.finish = cassandra_finish,
	.state_sz = sizeof(struct cassandra),
	.fini = cassandra_fini,
	.pair_by_id = true,
	.ports = {9042},
};
