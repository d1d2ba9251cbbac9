/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dubbo 2 (dubbo.apache.org/en/docs/v2.7/dev/implementation, ExchangeCodec and DubboCodec).
 *
 *   0xdabb:2  flags:1  status:1  id:8  size:4  body      big endian
 *   flags     0x80 request  0x40 two-way  0x20 event  0x1f serialization
 *   request   Dubbo's version, path, service's version, method, types, arguments, attachments
 *   response  0 exception, 1 value, 2 null; with attachments 3, 4, 5
 *             a text where status is not 20
 *
 * Bodies are Hessian 2 or Kryo values, or lines of JSON. With other serializations the calls are
 * seen, but not their methods. Paired by id. Either side may send events (heartbeats) and, for
 * callbacks, calls, with ids of its own.
 */
#include <inttypes.h>
#include <string.h>

#include "analyze/l7/proto/hessian.h"

enum { REQUEST = 0x80, TWO_WAY = 0x40, EVENT = 0x20, SERIALIZATION = 0x1f };
enum { HESSIAN2 = 2, FASTJSON = 6, KRYO = 8, GSON = 16, KRYO2 = 25 };
enum { STATUS_OK = 20 };
enum {
	HEADER_SZ = 16,
	BODY_MAX = 1 << 28,
	NAME_MAX_LEN = 256,
	WAIT_MAX = 1 << 16,
	KRYO_ASCII = 64
};
#define OTHER_SIDE (1ull << 63) /* set in ids of requests by the server */

struct header {
	uint8_t flags, status;
	uint64_t id;
	uint32_t size;
};

struct call {
	struct span dubbo, path, version, method;
	bool generic;
	bool cut;		  /* the method is not in view */
	char room[4][KRYO_ASCII]; /* buffers for texts that need decoding */
};

static const char *const serializations[SERIALIZATION + 1] = {
	[HESSIAN2] = "hessian2",
	[3] = "java",
	[4] = "compactedjava",
	[FASTJSON] = "fastjson",
	[7] = "nativejava",
	[KRYO] = "kryo",
	[9] = "fst",
	[10] = "hessian",
	[11] = "avro",
	[12] = "protostuff",
	[GSON] = "gson",
	[21] = "protobuf-json",
	[22] = "protobuf",
	[23] = "fastjson2",
	[KRYO2] = "kryo2",
	[27] = "msgpack",
};

static const char *status_name(unsigned status)
{
	switch (status) {
	case STATUS_OK:
		return "OK";
	case 25:
		return "SERIALIZATION_ERROR";
	case 30:
		return "CLIENT_TIMEOUT";
	case 31:
		return "SERVER_TIMEOUT";
	case 35:
		return "CHANNEL_INACTIVE";
	case 40:
		return "BAD_REQUEST";
	case 50:
		return "BAD_RESPONSE";
	case 60:
		return "SERVICE_NOT_FOUND";
	case 70:
		return "SERVICE_ERROR";
	case 80:
		return "SERVER_ERROR";
	case 90:
		return "CLIENT_ERROR";
	case 100:
		return "SERVER_THREADPOOL_EXHAUSTED";
	default:
		return NULL;
	}
}

/* Parses the header as far as `len` reaches; len must be at least four. */
static bool header_at(const uint8_t *p, size_t len, struct header *h)
{
	struct l7_cursor c = l7_cursor_at(p, len);

	if (l7_be(&c, 2) != 0xdabb)
		return false;
	h->flags = l7_be(&c, 1);
	h->status = l7_be(&c, 1);
	if (c.cut || !serializations[h->flags & SERIALIZATION])
		return false;
	h->id = l7_be(&c, 8);
	h->size = l7_be(&c, 4);
	return h->size <= BODY_MAX && (h->flags & REQUEST ? !h->status || h->status == STATUS_OK
							  : status_name(h->status) != NULL);
}

/* ---- bodies ---- */

static bool is_json(unsigned flags)
{
	return (flags & SERIALIZATION) == FASTJSON || (flags & SERIALIZATION) == GSON;
}

/* Reads a line of JSON: a string without its quotes, or a word. */
static bool json_line(struct l7_cursor *c, struct span *s)
{
	size_t left = l7_left(c);
	const uint8_t *nl = c->cut ? NULL : memchr(c->p, '\n', left);

	*s = (struct span){(const char *)c->p, nl ? (size_t)(nl - c->p) : left};
	c->cut = !nl;
	c->p = nl ? nl + 1 : c->end;
	if (s->len && s->p[s->len - 1] == '\r')
		s->len--;
	if (!s->len || *s->p != '"') {
		bool null = l7_is(*s, "null");

		if (null)
			s->len = 0;
		return null || !s->len;
	}
	s->p++;
	s->len -= s->len > 1 && s->p[s->len - 2] == '"' ? 2 : 1;
	return true;
}

static bool is_kryo(unsigned flags)
{
	return (flags & SERIALIZATION) == KRYO || (flags & SERIALIZATION) == KRYO2;
}

/* Reads cnt characters in UTF-8. A surrogate pair counts as two. */
static struct span kryo_chars(struct l7_cursor *c, uint64_t cnt)
{
	const uint8_t *begin = c->p;

	for (uint64_t i = 0; i < cnt && !c->cut; i++) {
		uint8_t b = l7_be(c, 1);

		l7_take(c, b < 0x80 ? 0 : b < 0xe0 ? 1 : 2);
	}
	return c->cut ? (struct span){"", 0} : (struct span){(const char *)begin, c->p - begin};
}

/*
 * Reads a Kryo string (com.esotericsoftware.kryo.io.Output.writeString): ASCII of 2 to 63
 * characters with the high bit of the last one set; otherwise a varint of length + 1, of which the
 * first byte has six bits, and 0x40 in it indicates more bytes. 0: null.
 */
static bool kryo_string(struct l7_cursor *c, struct span *s, char room[KRYO_ASCII])
{
	uint64_t first, more = 0;

	*s = (struct span){"", 0};
	if (c->cut || c->p == c->end) {
		c->cut = true;
		return true;
	}
	if (*c->p & 0x80) {
		first = l7_be(c, 1);
		if (first & 0x40 && !l7_varint(c, 4, &more) && !c->cut)
			return false;
		first = (first & 0x3f) | more << 6;
		*s = kryo_chars(c, first ? first - 1 : 0);
		return true;
	}
	while (s->len < KRYO_ASCII && c->p + s->len < c->end && !(c->p[s->len] & 0x80)) {
		room[s->len] = c->p[s->len];
		s->len++;
	}
	if (s->len == KRYO_ASCII)
		return false;
	room[s->len] = c->p + s->len < c->end ? c->p[s->len] & 0x7f : 0;
	s->p = room;
	return l7_take(c, ++s->len) || c->cut;
}

static bool text(struct l7_cursor *c, unsigned flags, struct span *s, char room[KRYO_ASCII])
{
	if (is_kryo(flags))
		return kryo_string(c, s, room);
	return is_json(flags) ? json_line(c, s) : hessian_string(c, s);
}

static bool is_name(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7f)
			return false;
	return s.len <= NAME_MAX_LEN;
}

static struct l7_cursor body_of(const struct l7_view *v, const struct header *h)
{
	size_t have = v->len - HEADER_SZ;

	return l7_cursor_at(v->p + HEADER_SZ, have < h->size ? have : h->size);
}

static bool is_readable(unsigned flags)
{
	return (flags & SERIALIZATION) == HESSIAN2 || is_json(flags) || is_kryo(flags);
}

/* False: not a call. */
static bool read_call(struct l7_cursor c, unsigned flags, struct call *q)
{
	struct span *const parts[] = {&q->dubbo, &q->path, &q->version, &q->method};
	struct span types, first;
	int32_t dubbox;

	q->dubbo = q->path = q->version = q->method = (struct span){"", 0};
	q->generic = q->cut = false;
	if (!is_readable(flags))
		return true;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct span s;

		/* Kryo may be configured differently. */
		if (!text(&c, flags, &s, q->room[i]) || !is_name(s) ||
		    (!i && s.len && (*s.p < '0' || *s.p > '9')))
			return is_kryo(flags);
		q->cut = c.cut;
		if (c.cut)
			return true;
		*parts[i] = s;
	}
	if (!q->method.len)
		return is_kryo(flags);
	/* Generic calls are named by their first argument. With Kryo the arguments are objects. */
	if (is_kryo(flags) || (!l7_is(q->method, "$invoke") && !l7_is(q->method, "$invokeAsync")))
		return true;
	if (!is_json(flags) && c.p < c.end && *c.p >= 0x80)
		hessian_int(&c, &dubbox); /* dubbox has a number before the types */
	if (text(&c, flags, &types, NULL) && text(&c, flags, &first, NULL) && !c.cut && first.len &&
	    is_name(first)) {
		q->method = first;
		q->generic = true;
	}
	q->cut = c.cut;
	return true;
}

/* ---- messages; true: more bytes are needed first ---- */

static bool event(struct l7_cursor c, const struct header *h, struct l7_message *m)
{
	char room[KRYO_ASCII];
	struct span s;

	m->method = (struct span){"heartbeat", 9};
	if (h->flags & TWO_WAY)
		return false;
	m->method = (struct span){"event", 5};
	if (is_readable(h->flags) && text(&c, h->flags, &s, room) && l7_is(s, "R"))
		m->method = (struct span){"readonly", 8};
	return c.cut && h->size;
}

static bool describe_call(struct l7_parser *parser, const struct header *h, const struct call *q,
			  struct l7_message *m)
{
	m->method = is_kryo(h->flags) ? l7_keep(parser, q->method) : q->method;
	m->target = is_kryo(h->flags) ? l7_keep(parser, q->path) : q->path;
	if (is_readable(h->flags) && q->dubbo.len)
		m->detail =
			l7_text(parser, "{\"version\":\"%s\",\"dubbo\":\"%s\"%s}",
				l7_json(parser, q->version, 64).p, l7_json(parser, q->dubbo, 32).p,
				q->generic ? ",\"generic\":true" : "");
	else if (!is_readable(h->flags) || is_kryo(h->flags))
		m->detail = l7_text(parser, "{\"serialization\":\"%s\"}",
				    serializations[h->flags & SERIALIZATION]);
	return q->cut;
}

static void set_error(struct l7_parser *parser, struct l7_message *m, struct span type,
		      struct span what)
{
	m->is_error = true;
	if (type.len && what.len)
		m->detail = l7_text(parser, "{\"exception\":\"%s\",\"error\":\"%s\"}",
				    l7_json(parser, type, 128).p, l7_json(parser, what, 200).p);
	else if (type.len)
		m->detail = l7_text(parser, "{\"exception\":\"%s\"}", l7_json(parser, type, 128).p);
	else if (what.len)
		m->detail = l7_text(parser, "{\"error\":\"%s\"}", l7_json(parser, what, 200).p);
}

static bool describe_result(struct l7_parser *parser, struct l7_cursor c, const struct header *h,
			    struct l7_message *m)
{
	const char *name = status_name(h->status);
	struct span type = {"", 0}, what = {"", 0};
	char room[KRYO_ASCII];
	int32_t kind = 1;

	m->status = (struct span){name, strlen(name)};
	if (h->flags & EVENT)
		return false;
	if (h->status != STATUS_OK) {
		if (is_readable(h->flags) && !text(&c, h->flags, &what, room))
			what.len = 0;
		set_error(parser, m, type, what);
		return c.cut;
	}
	if (!is_readable(h->flags))
		return false;
	if (is_json(h->flags)) {
		kind = c.p < c.end ? *c.p - '0' : 1;
		c.cut = c.p == c.end;
	} else if (is_kryo(h->flags)) {
		kind = l7_be(&c, 1);
	} else if (!hessian_int(&c, &kind)) {
		kind = 1;
	}
	if (c.cut || (kind != 0 && kind != 3))
		return c.cut && h->size;
	m->status = (struct span){"EXCEPTION", 9};
	if (!is_json(h->flags) && !is_kryo(h->flags))
		hessian_exception(&c, &type, &what);
	set_error(parser, m, type, what);
	return c.cut;
}

static int64_t dubbo_parse(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	struct l7_cursor body;
	struct header h = {0};
	struct call q;
	bool more, request;

	if (v->p[0] != 0xda || (v->len > 1 && v->p[1] != 0xbb))
		return L7_BAD;
	if (v->len < HEADER_SZ)
		return v->len < 4 || header_at(v->p, v->len, &h) ? L7_PARTIAL : L7_BAD;
	if (!header_at(v->p, v->len, &h))
		return L7_BAD;
	body = body_of(v, &h);
	request = h.flags & REQUEST;
	m->id = request == v->requests ? h.id : h.id ^ OTHER_SIDE;
	m->type = !request ? L7_RESPONSE : h.flags & TWO_WAY ? L7_REQUEST : L7_ONEWAY;
	if (request && h.flags & EVENT) {
		more = event(body, &h, m);
	} else if (request) {
		if (!read_call(body, h.flags, &q))
			return L7_BAD;
		more = describe_call(parser, &h, &q, m);
	} else {
		more = describe_result(parser, body, &h, m);
	}
	if (more && !v->cut && !v->last && v->len < HEADER_SZ + (uint64_t)h.size &&
	    v->len < WAIT_MAX)
		return L7_PARTIAL;
	return HEADER_SZ + (uint64_t)h.size;
}

enum looks { NOTHING, CALLS, ANSWERS, EVENTS };

/* *whole: more than a part of the header is in view. */
static enum looks looks_like(const struct l7_view *v, bool *whole)
{
	struct header h = {0};
	struct call q;

	*whole = v->len >= HEADER_SZ;
	if (v->len < 4 || !header_at(v->p, v->len, &h))
		return NOTHING;
	if (h.flags & EVENT)
		return EVENTS;
	if (!(h.flags & REQUEST))
		return ANSWERS;
	return !*whole || read_call(body_of(v, &h), h.flags, &q) ? CALLS : NOTHING;
}

static size_t dubbo_resync(const struct l7_view *v, size_t from)
{
	bool whole;

	for (size_t i = from; i + HEADER_SZ <= v->len; i++) {
		struct l7_view at = {.p = v->p + i, .len = v->len - i};

		if (at.p[0] == 0xda && looks_like(&at, &whole))
			return i;
	}
	return v->len;
}

static int dubbo_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent)
{
	bool whole[2];
	enum looks s = looks_like(sent, &whole[0]), r = looks_like(received, &whole[1]);

	if (!s && !r)
		return 0;
	if (s == CALLS || r == ANSWERS)
		*requests_sent = 1;
	else if (r == CALLS || s == ANSWERS)
		*requests_sent = 0;
	if (!(s && whole[0]) && !(r && whole[1]))
		return 75;
	/* One side may begin in the middle of a body. */
	return (sent->len && !s) || (received->len && !r) ? 80 : 98;
}

const struct l7_protocol l7_dubbo = {
	.name = "dubbo",
	.bid = dubbo_bid,
	.parse = dubbo_parse,
	.resync = dubbo_resync,
	.pair_by_id = true,
	.ports = {20880, 20881},
};
