/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * baidu_std of Apache bRPC (github.com/apache/brpc docs/en/baidu_std.md, baidu_rpc_meta.proto).
 *
 *   "PRPC"  body size:4 (big endian)  meta size:4  RpcMeta (protobuf)  payload  attachment
 *   "STRM"  the same sizes: a frame of a stream that a call opened
 *
 *   RpcMeta          1 request  2 response  3 compress_type  4 correlation_id  5 attachment_size
 *   RpcRequestMeta   1 service_name  2 method_name  3 log_id
 *   RpcResponseMeta  1 error_code  2 error_text
 *
 * Paired by correlation id; an error is an error code other than 0.
 */
#include <inttypes.h>
#include <string.h>

#include "analyze/l7/engine/l7.h"

enum { HEADER_SZ = 12, META_MAX = 1 << 20, NAME_MAX_LEN = 512 };
#define BODY_MAX (1u << 31)

struct meta {
	bool request, response, bad;
	struct span service, method, error_text;
	uint64_t log_id, error_code, correlation_id, attachment_size, compress_type;
};

struct header {
	bool stream;
	uint32_t body, meta;
};

/* ---- protobuf wire format ---- */

static uint64_t varint(struct l7_cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t b = l7_be(c, 1);

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (c->cut || !(b & 0x80))
			return c->cut ? 0 : v;
	}
	c->cut = true;
	return 0;
}

struct field {
	unsigned number, wire;
	uint64_t value;	  /* of a varint */
	struct span text; /* of a length-delimited field */
};

/* False: end of data, or not a field (*bad). */
static bool next_field(struct l7_cursor *c, struct field *f, bool *bad)
{
	uint64_t key, len;

	if (c->p == c->end || c->cut)
		return false;
	key = varint(c);
	*f = (struct field){.number = key >> 3, .wire = key & 7, .text = {"", 0}};
	switch (f->wire) {
	case 0:
		f->value = varint(c);
		break;
	case 1:
		l7_take(c, 8);
		break;
	case 2:
		len = varint(c);
		f->text = l7_bytes(c, len);
		break;
	case 5:
		l7_take(c, 4);
		break;
	default:
		*bad = true;
	}
	*bad |= !f->number || key >> 32 || c->cut;
	return !*bad;
}

static void request_meta(struct meta *m, struct span s)
{
	struct l7_cursor c = {(const uint8_t *)s.p, (const uint8_t *)s.p + s.len, false};
	struct field f;

	m->request = true;
	while (next_field(&c, &f, &m->bad)) {
		if (f.number == 1 && f.wire == 2)
			m->service = f.text;
		else if (f.number == 2 && f.wire == 2)
			m->method = f.text;
		else if (f.number == 3 && f.wire == 0)
			m->log_id = f.value;
	}
}

static void response_meta(struct meta *m, struct span s)
{
	struct l7_cursor c = {(const uint8_t *)s.p, (const uint8_t *)s.p + s.len, false};
	struct field f;

	m->response = true;
	while (next_field(&c, &f, &m->bad)) {
		if (f.number == 1 && f.wire == 0)
			m->error_code = f.value;
		else if (f.number == 2 && f.wire == 2)
			m->error_text = f.text;
	}
}

/* Parses the part of the meta in view; `cut`: its end is missing. */
static struct meta read_meta(const uint8_t *p, size_t len, bool cut)
{
	struct l7_cursor c = {p, p + len, false};
	struct meta m = {.service = {"", 0}, .method = {"", 0}, .error_text = {"", 0}};
	struct field f;

	while (next_field(&c, &f, &m.bad)) {
		if (f.number == 1 && f.wire == 2)
			request_meta(&m, f.text);
		else if (f.number == 2 && f.wire == 2)
			response_meta(&m, f.text);
		else if (f.number == 3 && f.wire == 0)
			m.compress_type = f.value;
		else if (f.number == 4 && f.wire == 0)
			m.correlation_id = f.value;
		else if (f.number == 5 && f.wire == 0)
			m.attachment_size = f.value;
	}
	if (cut && c.cut)
		m.bad = false;
	return m;
}

/* ---- messages ---- */

static bool header_at(const uint8_t *p, size_t len, struct header *h)
{
	struct l7_cursor c = {p, p + len, false};
	const uint8_t *magic = l7_take(&c, 4);

	h->body = l7_be(&c, 4);
	h->meta = l7_be(&c, 4);
	if (c.cut || (memcmp(magic, "PRPC", 4) && memcmp(magic, "STRM", 4)))
		return false;
	h->stream = *magic == 'S';
	return h->meta <= h->body && h->meta <= META_MAX && h->body <= BODY_MAX;
}

static void describe_request(struct l7_parser *parser, const struct meta *meta,
			     struct l7_message *m)
{
	m->type = L7_REQUEST;
	m->method = meta->method;
	m->target = meta->service;
	if (m->method.len > NAME_MAX_LEN)
		m->method.len = NAME_MAX_LEN;
	if (m->target.len > NAME_MAX_LEN)
		m->target.len = NAME_MAX_LEN;
	if (meta->log_id || meta->attachment_size || meta->compress_type)
		m->detail = l7_text(parser,
				    "{\"log_id\":%" PRIu64 ",\"attachment\":%" PRIu64
				    ",\"compress\":%" PRIu64 "}",
				    meta->log_id, meta->attachment_size, meta->compress_type);
}

static void describe_response(struct l7_parser *parser, const struct meta *meta,
			      struct l7_message *m)
{
	m->type = L7_RESPONSE;
	m->is_error = meta->error_code != 0;
	m->status = m->is_error ? l7_text(parser, "%" PRId64, (int64_t)meta->error_code)
				: (struct span){"OK", 2};
	if (meta->error_text.len)
		m->detail = l7_text(parser, "{\"error\":\"%s\"}",
				    l7_json(parser, meta->error_text, 200).p);
	else if (meta->attachment_size || meta->compress_type)
		m->detail = l7_text(parser, "{\"attachment\":%" PRIu64 ",\"compress\":%" PRIu64 "}",
				    meta->attachment_size, meta->compress_type);
}

static int64_t brpc_parse(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	struct header h;
	struct meta meta;
	size_t have;

	if (memcmp(v->p, "PRPC", v->len < 4 ? v->len : 4) &&
	    memcmp(v->p, "STRM", v->len < 4 ? v->len : 4))
		return L7_BAD;
	if (v->len < HEADER_SZ)
		return L7_PARTIAL;
	if (!header_at(v->p, v->len, &h))
		return L7_BAD;
	if (h.stream)
		return HEADER_SZ + (uint64_t)h.body;
	have = v->len - HEADER_SZ;
	if (have < h.meta && !v->cut && !v->last)
		return L7_PARTIAL;
	meta = read_meta(v->p + HEADER_SZ, have < h.meta ? have : h.meta, have < h.meta);
	if (meta.bad)
		return L7_BAD;
	m->id = meta.correlation_id;
	/* A successful response may omit its RpcResponseMeta. */
	if (meta.request)
		describe_request(parser, &meta, m);
	else if (!v->requests || meta.response)
		describe_response(parser, &meta, m);
	else
		return L7_BAD;
	return HEADER_SZ + (uint64_t)h.body;
}

static size_t brpc_resync(const struct l7_view *v, size_t from)
{
	struct header h;

	for (size_t i = from; i + HEADER_SZ <= v->len; i++)
		if ((v->p[i] == 'P' || v->p[i] == 'S') && header_at(v->p + i, v->len - i, &h))
			return i;
	return v->len;
}

/* 1: requests, 2: responses, 3: one of them; 0: neither. */
static int looks_like(const struct l7_view *v)
{
	struct header h;
	struct meta meta;
	size_t have;

	if (!header_at(v->p, v->len, &h))
		return 0;
	if (h.stream)
		return 3;
	have = v->len - HEADER_SZ;
	meta = read_meta(v->p + HEADER_SZ, have < h.meta ? have : h.meta, have < h.meta);
	return meta.bad ? 0 : meta.request ? 1 : have < h.meta ? 3 : 2;
}

static int brpc_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent)
{
	int s = looks_like(sent), r = looks_like(received);

	if (!s && !r)
		return 0;
	if (s == 1 || r == 2)
		*requests_sent = 1;
	else if (r == 1 || s == 2)
		*requests_sent = 0;
	/* One side may begin in the middle of a body. */
	return (sent->len && !s) || (received->len && !r) ? 80 : 98;
}

const struct l7_protocol l7_brpc = {
	.name = "brpc",
	.bid = brpc_bid,
	.parse = brpc_parse,
	.resync = brpc_resync,
	.pair_by_id = true,
	.ports = {8000, 8002, 8010},
};
