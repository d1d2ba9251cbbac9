/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP/1.0 and 1.1 (RFC 9112).
 *
 *   request    METHOD SP target SP HTTP/1.x CRLF  *(name: value CRLF)  CRLF  body
 *   response   HTTP/1.x SP code SP reason CRLF    *(name: value CRLF)  CRLF  body
 *
 * Paired in order. A body ends by Content-Length, with its last chunk, or with the connection.
 * HEAD, 1xx, 204 and 304 have no body. After CONNECT and 101 the bytes belong to another protocol
 * (for HTTP/2 parsing continues). A message of unknown length is delivered at its end; until then
 * its header is held here. If bytes of it were missed, or capture ended first, it is delivered with
 * the size seen, and marked so.
 *
 * Of each call only the first bytes may have been captured. Chunks are then followed by position,
 * as far as their sizes are captured:
 *
 *   calls     head 4e20 data ....... | .. data . | 1000 data .. | ... 0 | head       . not captured
 *   chunks    |- a size captured: its end is known -|- |- again --|
 *                                                  not captured: blind
 *
 * A blind body ends where a call shows chunks again that end with it, or the last chunk; or before
 * the next message of its direction; a response, before the next request.
 */
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "analyze/l7/proto/http1_head.h"

enum { MAX_HEAD = 1 << 18, LAST_CHUNK_SZ = 5 };
#define CHUNK_MAX (1ULL << 40)

/* One direction. Small, because there may be 100,000 connections. */
struct side {
	bool in_chunks, until_close;
	bool blind;	   /* in_chunks: the size of the current chunk was not captured */
	bool answered;	   /* delivered before its last chunk, when the response came */
	bool unknown_body; /* what follows a message of unknown length */
	uint64_t pos, first_ns, last_ns, size;
	struct http1_words *waiting; /* strings of the message whose end has not come */
};

struct http1 {
	struct side side[2]; /* responses, requests */
};

static bool begins_message(const struct l7_view *v)
{
	if (!v->requests)
		return http1_response_at(v->p, v->len);
	return http1_method_at(v->p, v->len) || (v->cut && http1_method_cut(v->p, v->len));
}

static void fill(struct l7_parser *parser, const struct http1_words *s, bool requests,
		 struct l7_message *m)
{
	m->type = requests ? L7_REQUEST : L7_RESPONSE;
	if (requests) {
		m->method = l7_keep(parser, (struct span){s->method, s->method_sz});
		m->target = l7_keep(parser, (struct span){s->target, s->target_sz});
	} else {
		m->status = l7_keep(parser, (struct span){s->status, 3});
		m->is_error = s->is_error;
	}
	m->detail = l7_keep(parser, (struct span){s->detail, s->detail_sz});
}

/* Fills m from the held message. */
static void fill_waiting(struct l7_parser *parser, const struct side *s, bool requests,
			 struct l7_message *m)
{
	if (s->waiting)
		fill(parser, s->waiting, requests, m);
	m->pos = s->pos;
	m->first_ns = s->first_ns;
	m->size = s->size;
}

static int wait_for_end(struct side *s, const struct http1_words *w, const struct l7_view *v)
{
	if (!s->waiting)
		s->waiting = malloc(sizeof(*w));
	if (!s->waiting)
		return -1;
	memcpy(s->waiting, w, sizeof(*w));
	s->answered = s->blind = false;
	s->pos = v->pos;
	s->first_ns = s->last_ns = v->ts_ns;
	s->size = 0;
	return 0;
}

static void end_body(struct side *s)
{
	s->in_chunks = s->until_close = s->blind = false;
	free(s->waiting);
	s->waiting = NULL;
}

/* Delivers the held message. goes_on: its body continues unseen; otherwise it ends here. */
static void deliver_waiting(struct l7_parser *parser, bool requests, bool goes_on)
{
	struct side *s = &((struct http1 *)parser->state)->side[requests];
	enum l7_dir dir = l7_requests_dir(parser);
	struct l7_message m = {.last_ns = s->last_ns};

	if (s->waiting && !s->answered) {
		fill_waiting(parser, s, requests, &m);
		m.dir = requests ? dir : !dir;
		if (goes_on)
			l7_partial(parser, &m);
		l7_deliver(parser, &m);
	}
	end_body(s);
}

/* Reads any number of digits, including leading zeros. */
static bool chunk_size(const uint8_t *p, const uint8_t *end, uint64_t *len)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const uint8_t *begin = p;

	*len = 0;
	for (; p < end; p++) {
		const char *at = memchr(digits, *p, sizeof(digits) - 1);
		unsigned d = at ? at - digits : 0;

		if (!at)
			break;
		*len = *len * 16 + (d > 15 ? d - 6 : d);
		if (*len > CHUNK_MAX)
			return false;
	}
	return p > begin;
}

/* Parses chunks from `at` on (RFC 9112 7.1) and returns the end of the complete ones. *done: past
 * the last chunk and its trailers. */
static int64_t chunks(const struct l7_view *v, size_t at, bool *done)
{
	*done = false;
	for (;;) {
		const uint8_t *nl = at < v->len ? memchr(v->p + at, '\n', v->len - at) : NULL;
		uint64_t len;
		size_t i;

		if (!nl)
			return at;
		if (!chunk_size(v->p + at, nl, &len))
			return -1;
		i = nl - v->p + 1;
		if (!len) {
			/* trailers up to an empty line */
			for (;;) {
				const uint8_t *e =
					i < v->len ? memchr(v->p + i, '\n', v->len - i) : NULL;
				size_t line;

				if (!e)
					return at;
				line = e - (v->p + i);
				i += line + 1;
				if (!line || (line == 1 && e[-1] == '\r')) {
					*done = true;
					return i;
				}
			}
		}
		/* A chunk may extend beyond the view: it ends where the next one begins. */
		at = i + len + 2;
		if (at >= v->len)
			return at;
	}
}

/* Bytes of the body, of which nothing tells where chunks begin. */
static int64_t pass_bytes(struct side *s, const struct l7_view *v)
{
	s->size += v->known;
	s->last_ns = v->ts_ns;
	return v->known; /* L7_SKIP */
}

/* Parses chunks of the body; the message is delivered with the last one. */
static int64_t continue_chunks(struct l7_parser *parser, struct side *s, const struct l7_view *v,
			       size_t at, struct l7_message *m)
{
	bool done;
	int64_t n = chunks(v, at, &done);

	if (n < 0)
		return L7_BAD;
	if (n == (int64_t)at && v->cut) {
		s->blind = true;
		return pass_bytes(s, v);
	}
	if (n == 0)
		return L7_PARTIAL;
	s->size += n;
	s->last_ns = v->ts_ns;
	if (!done)
		return n; /* L7_SKIP */
	if (!s->answered)
		fill_waiting(parser, s, v->requests, m);
	end_body(s);
	return n;
}

/* The response comes before the last chunk of its request: the request is delivered as it is. */
static void answer_early(struct l7_parser *parser, struct side *requests, const struct l7_view *v)
{
	struct l7_message m = {.last_ns = requests->blind ? requests->last_ns : v->ts_ns};

	if (!requests->in_chunks || requests->answered || l7_pending(parser, 0))
		return;
	fill_waiting(parser, requests, true, &m);
	l7_partial(parser, &m);
	m.dir = l7_requests_dir(parser);
	requests->answered = true;
	l7_deliver(parser, &m);
}

/* The client asks again: it has the whole response. */
static void end_blind_response(struct l7_parser *parser)
{
	struct side *s = &((struct http1 *)parser->state)->side[0];
	struct l7_message m = {.last_ns = s->last_ns};

	if (!s->blind || s->answered || !s->waiting)
		return;
	fill_waiting(parser, s, false, &m);
	m.dir = !l7_requests_dir(parser);
	s->answered = true;
	l7_deliver(parser, &m);
}

static int64_t begin_message(struct l7_parser *parser, struct side *s, const struct l7_view *v,
			     struct l7_message *m)
{
	struct http1_head h = {0};
	struct http1_words w;
	int err;

	if (v->requests)
		err = http1_read_request(parser, &w, v, &h);
	else
		err = http1_read_response(parser, &w, v, &h);
	if (err)
		return L7_BAD;
	if (h.partial && !v->cut && !v->last)
		return v->len > MAX_HEAD ? L7_BAD : L7_PARTIAL;
	s->unknown_body = false;
	m->interim = !v->requests && h.code < 200 && h.code != 101;
	m->opaque_after = h.upgrade;
	if (!v->requests && h.code == 101 && h.h2c) {
		/* RFC 7540 3.2: the response comes as that of stream 1. */
		m->opaque_after = false;
		m->interim = true;
		m->goes_on = "http2";
	}
	if (v->requests)
		end_blind_response(parser);
	else if (!m->interim)
		answer_early(parser, &((struct http1 *)parser->state)->side[1], v);
	if (h.partial && !h.has_length && !h.head_only) {
		/* The end of the header, and with it the length of the body, was not captured. */
		fill(parser, &w, v->requests, m);
		m->cut = true;
		s->unknown_body = true;
		return v->len;
	}
	if (h.chunked && !h.head_only) {
		if (wait_for_end(s, &w, v))
			return L7_BAD;
		s->in_chunks = true;
		err = continue_chunks(parser, s, v, h.sz, m) == L7_BAD;
		if (err)
			s->size = h.sz;
		return err ? L7_BAD : s->size ? (int64_t)s->size : (int64_t)(s->size = h.sz);
	}
	if (!v->requests && !h.has_length && !h.head_only && !h.upgrade) {
		if (wait_for_end(s, &w, v))
			return L7_BAD;
		s->until_close = true;
		return pass_bytes(s, v); /* all further data belongs to the body */
	}
	fill(parser, &w, v->requests, m);
	return h.head_only || h.upgrade ? h.sz : h.sz + h.length;
}

/* Whether the view, a whole call, holds nothing but chunks, as far as it tells. */
static bool holds_chunks(const struct l7_view *v)
{
	bool done;

	return chunks(v, 0, &done) == (int64_t)v->known;
}

static bool ends_chunks(const struct l7_view *v)
{
	static const char last[] = "\r\n0\r\n\r\n";
	size_t sz = sizeof(last) - 1;

	return !v->cut && v->len >= sz && !memcmp(v->p + v->len - sz, last, sz);
}

/* A call of a body whose chunks are not followed any more. */
static int64_t continue_blind(struct l7_parser *parser, struct side *s, const struct l7_view *v,
			      struct l7_message *m)
{
	if (begins_message(v)) {
		deliver_waiting(parser, v->requests, false);
		return begin_message(parser, s, v, m);
	}
	if (holds_chunks(v)) {
		s->blind = false;
		return continue_chunks(parser, s, v, 0, m);
	}
	pass_bytes(s, v);
	if (ends_chunks(v)) {
		if (!s->answered)
			fill_waiting(parser, s, v->requests, m);
		end_body(s);
	}
	return v->known;
}

/* The rest of a call, or a whole call, of which nothing was captured: a body of unknown length goes
 * on. */
static bool http1_unkept(struct l7_parser *parser, const struct l7_view *v)
{
	struct side *s = &((struct http1 *)parser->state)->side[v->requests];

	if (!s->in_chunks && !s->until_close)
		return false;
	pass_bytes(s, v);
	/* Where a chunk would begin, and too short for one that is not the last. */
	if (s->in_chunks && !s->blind && v->known == LAST_CHUNK_SZ)
		deliver_waiting(parser, v->requests, false);
	else
		s->blind = s->in_chunks;
	return true;
}

static int64_t http1_parse(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	struct http1 *http = parser->state;
	struct side *s = &http->side[v->requests];

	if (s->until_close)
		return pass_bytes(s, v);
	if (s->blind)
		return continue_blind(parser, s, v, m);
	if (s->in_chunks)
		return continue_chunks(parser, s, v, 0, m);
	/* Skip empty lines before a request (RFC 9112 2.2). */
	if (v->requests && v->len >= 2 && v->p[0] == '\r' && v->p[1] == '\n')
		return 2;
	if (begins_message(v))
		return begin_message(parser, s, v, m);
	if (s->unknown_body || parser->after_hole)
		return v->known;
	return !v->cut && !v->last &&
			       (v->len < 12 || (v->requests && http1_method_cut(v->p, v->len)))
		       ? L7_PARTIAL
		       : L7_BAD;
}

/* The end of the body is unknown from here on; the message it belongs to is still known. */
static void http1_hole(struct l7_parser *parser, bool requests)
{
	struct side *s = &((struct http1 *)parser->state)->side[requests];

	s->unknown_body |= s->in_chunks || s->until_close;
	deliver_waiting(parser, requests, true);
}

static void http1_finish(struct l7_parser *parser)
{
	struct http1 *http = parser->state;

	deliver_waiting(parser, true, true);
	deliver_waiting(parser, false, http->side[0].in_chunks || parser->opts->open);
}

static void http1_fini(void *state)
{
	struct http1 *http = state;

	end_body(&http->side[0]);
	end_body(&http->side[1]);
}

/* ---- bidding ---- */

/* Is a method followed by a path, a URI, *, or CONNECT's authority? Other protocols have the same
 * words ("DELETE FROM"). */
static bool target_at(const struct l7_view *v, size_t at)
{
	const uint8_t *p = v->p + at, *end = v->p + v->len;

	if (p == end || *p == '/')
		return p < end;
	if (*p == '*')
		return p + 1 < end && p[1] == ' ';
	while (p<end && * p> ' ' && *p != ':')
		p++;
	return p > v->p + at && p + 1 < end && *p == ':' &&
	       (p[1] == '/' || (p[1] >= '0' && p[1] <= '9'));
}

/* 2: begins a message, 1: empty, 0: something else (the middle of a body, or another protocol). */
static int looks_like(const struct l7_view *v, bool *request)
{
	const uint8_t *nl;
	size_t method_sz;

	if (!v->len)
		return 1;
	*request = false;
	if (http1_response_at(v->p, v->len))
		return 2;
	method_sz = http1_method_at(v->p, v->len);
	if (!method_sz || !target_at(v, method_sz + 1))
		return 0;
	nl = http1_first_line_end(v);
	if (nl && !memmem(v->p, nl - v->p, " HTTP/1.", 8))
		return 0;
	*request = true;
	return 2;
}

static int http1_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent)
{
	bool sent_request = false, received_request = false;
	int s = looks_like(sent, &sent_request), r = looks_like(received, &received_request);

	if (s < 2 && r < 2)
		return 0;
	if (s == 2 && r == 2 && sent_request == received_request)
		return 0;
	*requests_sent = s == 2 ? sent_request : !received_request;
	/* The other side is in the middle of a body, or it is another protocol: the next call
	 * decides. */
	return s == 2 && r == 2 ? 98 : s && r ? 85 : 45;
}

/* Finds a line that can only begin a message. */
static size_t http1_resync(const struct l7_view *v, size_t from)
{
	for (size_t i = from; i < v->len;) {
		const uint8_t *nl = memchr(v->p + i, '\n', v->len - i);

		if (!nl)
			break;
		i = nl - v->p + 1;
		if (v->requests ? http1_method_at(v->p + i, v->len - i) != 0
				: http1_response_at(v->p + i, v->len - i))
			return i;
	}
	return v->len;
}

const struct l7_protocol l7_http1 = {
	.name = "http",
	.bid = http1_bid,
	.parse = http1_parse,
	.resync = http1_resync,
	.hole = http1_hole,
	.unkept = http1_unkept,
	.finish = http1_finish,
	.state_sz = sizeof(struct http1),
	.fini = http1_fini,
	.asks_singly = true, /* RFC 9112 9.3.2 allows pipelining, but hardly any client uses it */
	.ports = {80, 8080, 8000, 3000},
};
