/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Apache Thrift RPC (github.com/apache/thrift doc/specs/thrift-rpc.md, thrift-binary-protocol.md,
 * thrift-compact-protocol.md, HeaderFormat.md).
 *
 *   framed    length:4  message
 *   header    length:4  0x0fff:2  flags:2  seqid:4  header words:2  headers  message
 *   strict    0x8001:2  0:1  type:1  name length:4  name  seqid:4  struct
 *   old       name length:4  name  type:1  seqid:4  struct
 *   compact   0x82  type << 5 | 1  varint seqid  varint name length  name  struct
 *
 * Paired by sequence id and method name. Some clients send sequence id 0 in every call. These are
 * paired in order, and after a hole with the newest call, because such a client waits for each
 * reply. An unframed message ends where its struct ends. If the struct was not captured completely,
 * it ends with its call. An error is a TApplicationException, or a result with a field other than
 * 0, which is a declared exception.
 */
#include <string.h>

#include "format/text.h"
#include "analyze/l7/proto/order.h"
#include "analyze/l7/proto/thrift_head.h"

enum { MAX_WALK = 1 << 20, WAITING_MAX = 4096, SKIPPED_MAX = 1024 };

/* State of a connection. order: waiting calls; kind is the sequence id. */
struct thrift {
	struct order order;
	bool hole;   /* in the replies, since the last one */
	bool cut;    /* the hole is the end of a reply, which was not captured */
	bool counts; /* calls had different sequence ids */
	uint32_t last_seqid;
	uint32_t peer;	     /* of the current message */
	unsigned skipped[2]; /* consecutive calls after a hole that began no message */
};

/* TApplicationException: 1 its message, 2 its type. */
static void application_exception(struct l7_parser *parser, struct thrift_reader r,
				  struct l7_message *m)
{
	static const char *const names[] = {
		"UNKNOWN",	     "UNKNOWN_METHOD",	       "INVALID_MESSAGE_TYPE",
		"WRONG_METHOD_NAME", "BAD_SEQUENCE_ID",	       "MISSING_RESULT",
		"INTERNAL_ERROR",    "PROTOCOL_ERROR",	       "INVALID_TRANSFORM",
		"INVALID_PROTOCOL",  "UNSUPPORTED_CLIENT_TYPE"};
	char text[256], kind[32];
	struct span s, k;

	m->is_error = true;
	m->status = (struct span){"EXCEPTION", 9};
	if (thrift_at(r, "2", kind, sizeof(kind), &k) && k.len == 1 && *k.p >= '0' && *k.p <= '9')
		m->status = (struct span){names[*k.p - '0'], strlen(names[*k.p - '0'])};
	else if (k.len == 2 && l7_is(k, "10"))
		m->status = (struct span){names[10], strlen(names[10])};
	if (thrift_at(r, "1", text, sizeof(text), &s))
		m->detail = l7_text(parser, "{\"error\":\"%s\"}", l7_json(parser, s, 200).p);
}

/* The struct of a result: field 0 is the value, any other a declared exception. */
static void reply_status(struct l7_parser *parser, struct thrift_reader r, struct l7_message *m)
{
	struct thrift_field f;
	char text[200], path[16];
	struct span s;

	m->status = (struct span){"OK", 2};
	if (!thrift_next_field(&r, &f) || !f.id)
		return;
	m->is_error = true;
	m->status = l7_text(parser, "EXCEPTION_%d", f.id);
	/* Most exceptions have their text first. */
	r.last_id = 0;
	for (int i = 1; i <= 2 && f.type == THRIFT_STRUCT; i++) {
		path[0] = '0' + i;
		path[1] = 0;
		if (thrift_at(r, path, text, sizeof(text), &s) && s.len &&
		    (*s.p < '0' || *s.p > '9') && *s.p != '-') {
			m->detail =
				l7_text(parser, "{\"error\":\"%s\"}", l7_json(parser, s, 200).p);
			return;
		}
	}
}

/* Removes the service of a multiplexed call, because replies do not have it. */
static struct span short_name(struct span name)
{
	const char *colon = memrchr(name.p, ':', name.len);

	return colon ? (struct span){colon + 1, name.p + name.len - colon - 1} : name;
}

static bool is_call_of(const struct l7_parser *parser, const struct order_item *item,
		       const struct thrift_head *h)
{
	const struct l7_message *call;
	struct span a, b = short_name(h->name);

	if (item->kind != h->seqid)
		return false;
	call = l7_pending(parser, item->id);
	if (call && call->peer != ((const struct thrift *)parser->state)->peer)
		return false;
	a = call ? short_name(call->method) : b;
	return a.len == b.len && !memcmp(a.p, b.p, a.len);
}

/* The call that a reply belongs to; 0: unknown. */
static uint64_t match(struct thrift *s, struct l7_parser *parser, const struct thrift_head *h)
{
	struct order *o = &s->order;
	size_t first = o->cnt, last = 0, found = 0;
	uint64_t id;

	for (size_t i = 0; i < o->cnt && found < 2 + s->hole * (size_t)ORDER_MAX; i++) {
		if (!is_call_of(parser, &o->items[o->first + i], h))
			continue;
		first = found++ ? first : i;
		last = i;
	}
	if (!found)
		return 0;
	/* A single waiting call may have been answered in the hole. */
	if (found == 1 && s->hole && !s->cut && !s->counts) {
		order_give_up(o, parser, 0);
		return 0;
	}
	if (found > 1 && !s->hole)
		o->pipelines = true;
	if (found > 1 && s->hole) {
		/* Equal ids, and replies were lost: without pipelining only the newest call is
		 * waiting. */
		order_give_up(o, parser, o->pipelines ? 0 : o->cnt - last);
		if (o->pipelines)
			return 0;
		first = 0;
	}
	id = o->items[o->first + first].id;
	order_take(o, first);
	/* Without distinct ids replies come in the order of calls: older calls have been
	 * answered. */
	if (!s->counts)
		order_give_up(o, parser, o->cnt - first);
	return id;
}

enum { ARG_MAX = 128 };

static bool is_wanted(const struct l7_arg *arg, struct span method)
{
	return l7_is(method, arg->method) || l7_is(short_name(method), arg->method);
}

/* The arguments requested by --thrift-arg, as far as they were captured. */
static struct span shown_args(struct l7_parser *parser, struct span method,
			      struct thrift_reader body)
{
	struct span json = {"", 0};

	for (size_t i = 0; i < parser->opts->arg_cnt; i++) {
		const struct l7_arg *arg = &parser->opts->args[i];
		struct thrift_value value;
		char text[ARG_MAX + 1];
		bool is_text;

		if (!is_wanted(arg, method) ||
		    !thrift_value_at(body, arg->path, text, sizeof(text), &value))
			continue;
		/* A double may be NaN, which JSON does not support. */
		is_text = value.type == THRIFT_STRING || value.type == THRIFT_DOUBLE;
		json = l7_text(parser, "%.*s%s\"%s\":%s%s%s%s", (int)json.len, json.p,
			       json.len ? "," : "{", l7_json(parser, span_of(arg->name), 64).p,
			       is_text ? "\"" : "", l7_json(parser, value.text, ARG_MAX).p,
			       value.text.len > ARG_MAX ? "..." : "", is_text ? "\"" : "");
	}
	return json.len ? l7_text(parser, "%.*s}", (int)json.len, json.p) : json;
}

static void describe(struct l7_parser *parser, const struct thrift_head *h,
		     struct thrift_reader body, struct l7_message *m)
{
	struct thrift *s = parser->state;

	m->method = h->name;
	if (h->type == CALL || h->type == ONEWAY)
		m->detail = shown_args(parser, h->name, body);
	switch (h->type) {
	case CALL:
		m->type = L7_REQUEST;
		s->counts |= s->last_seqid && s->last_seqid != h->seqid;
		s->last_seqid = h->seqid;
		if (s->order.cnt >= WAITING_MAX)
			order_give_up(&s->order, parser, WAITING_MAX / 2);
		m->id = order_push(&s->order, h->seqid);
		break;
	case ONEWAY:
		m->type = L7_ONEWAY;
		break;
	default:
		m->type = L7_RESPONSE;
		m->id = match(s, parser, h);
		s->hole = false;
		s->cut = m->cut;
		if (h->type == REPLY)
			reply_status(parser, body, m);
		else
			application_exception(parser, body, m);
		break;
	}
}

/* After a hole the rest of a long message may come first. */
static int64_t no_message(struct thrift *s, const struct l7_parser *parser, const struct l7_view *v)
{
	unsigned *skipped = &s->skipped[v->requests];

	if (!*skipped && !parser->after_hole)
		return L7_BAD;
	if (++*skipped <= SKIPPED_MAX)
		return v->known;
	*skipped = 0;
	return L7_BAD;
}

static int64_t thrift_parse(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	struct thrift *s = parser->state;
	struct thrift_head h;
	enum verdict verdict = thrift_head_of(&h, v);
	struct thrift_reader r, body;

	s->peer = v->peer;
	s->hole |= parser->after_hole && !v->requests;
	if (verdict == HEAD_SHORT)
		return v->len > NAME_MAX_LEN + 4096 ? L7_BAD : L7_PARTIAL;
	if (verdict == HEAD_NOT ||
	    (!h.opaque && (h.type == CALL || h.type == ONEWAY) != v->requests))
		return no_message(s, parser, v);
	if (h.opaque) {
		m->type = v->requests ? L7_REQUEST : L7_RESPONSE;
		m->method = h.name = (struct span){":unknown", 8};
		h.type = v->requests ? CALL : REPLY;
		m->id = v->requests ? order_push(&s->order, h.seqid) : match(s, parser, &h);
		return h.frame;
	}
	if (!thrift_body_of(&h, v, &r))
		return no_message(s, parser, v);
	body = r;
	if (!h.framed) {
		bool whole = thrift_skip_struct(&r, 0);

		if (r.bad)
			return no_message(s, parser, v);
		if (!whole && !v->cut && v->len < MAX_WALK)
			return L7_PARTIAL;
		m->cut = !whole;
	} else if (!v->cut && !v->last && v->len < h.frame && v->len < 4096) {
		return L7_PARTIAL; /* the first fields contain the status */
	}
	s->skipped[v->requests] = 0;
	describe(parser, &h, body, m);
	return h.framed ? (int64_t)h.frame : r.c.p - v->p;
}

/* ---- bidding ---- */

/* 0: not Thrift; else the confidence. Sets *type. */
static int looks_like(const struct l7_view *v, unsigned *type)
{
	struct thrift_reader r;
	struct thrift_head h;
	bool whole;

	*type = 0;
	if (thrift_head_of(&h, v) != HEAD_OK)
		return 0;
	*type = h.type;
	if (h.opaque)
		return 40;
	if (!thrift_body_of(&h, v, &r))
		return 0;
	whole = thrift_skip_struct(&r, 0);
	/* The frame and the struct must end at the same place. */
	if (r.bad || (!whole && h.framed && h.frame <= v->len) ||
	    (whole && h.framed && (h.frame > v->len || r.c.p != r.c.end)))
		return 0;
	/* A datagram is exactly one message. */
	if (v->datagram && !v->cut && (!whole || r.c.p != r.c.end))
		return 0;
	if (h.encoding == OLD && !whole && r.c.p - h.body < 3)
		return 0;
	/* Old binary without a frame: a length and a word are weak evidence. */
	return h.encoding == STRICT || h.header ? 95
	       : h.framed			? 90
	       : h.encoding == COMPACT		? 85
						: 70;
}

static int thrift_bid(const struct l7_view *sent, const struct l7_view *received,
		      int *requests_sent)
{
	unsigned st, rt;
	int s = looks_like(sent, &st), r = looks_like(received, &rt), best = s > r ? s : r;

	if (!best)
		return 0;
	if (s && r && st && rt &&
	    (st == REPLY || st == EXCEPTION) == (rt == REPLY || rt == EXCEPTION))
		return 0;
	if (st || rt)
		*requests_sent = st ? st == CALL || st == ONEWAY : rt == REPLY || rt == EXCEPTION;
	/* One side begins in the middle of a message: the other is sufficient if it is certain. */
	if (sent->len && received->len && (!s || !r))
		return best >= 85 ? 70 : 0;
	return best;
}

static void thrift_fini(void *state)
{
	struct thrift *s = state;

	free(s->order.items);
}

const struct l7_protocol l7_thrift = {
	.name = "thrift",
	.bid = thrift_bid,
	.parse = thrift_parse,
	.state_sz = sizeof(struct thrift),
	.fini = thrift_fini,
	.pair_by_id = true,
	.datagrams = true,
	.ports = {9090, 9091, 9083, 10000},
};
