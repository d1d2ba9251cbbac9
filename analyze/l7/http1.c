/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP/1.0 and 1.1 (RFC 9112).
 *
 *   request    METHOD SP target SP HTTP/1.x CRLF  *(name: value CRLF)  CRLF  body
 *   response   HTTP/1.x SP code SP reason CRLF    *(name: value CRLF)  CRLF  body
 *
 * In order. A body ends by Content-Length, by its last chunk, or with the connection; none follows
 * HEAD, 1xx, 204, 304. After CONNECT and 101 the bytes are another protocol's
 * (HTTP/2's: the connection goes on as that). A chunked message is
 * handed out with its last chunk; until then its head waits here.
 */
#include <stdlib.h>
#include <string.h>

#include "http1_head.h"

enum { MAX_HEAD = 1 << 18 };

/* One direction. Small: there may be 100,000 connections. */
struct side {
	bool in_chunks, until_close;
	bool answered;	   /* before its last chunk: it was handed out then */
	bool unknown_body; /* what follows a message whose end is not known */
	uint64_t first_ns, size;
	struct http1_words *waiting; /* in chunks: of the message whose last one has not come */
};

struct http1 {
	struct side side[2]; /* responses, requests */
};

static bool begins_message(const struct l7_view *v)
{
	return v->requests ? http1_method_at(v->p, v->len) != 0 : http1_response_at(v->p, v->len);
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

/* What comes with the last chunk. */
static void fill_waiting(struct l7_parser *parser, const struct side *s, bool requests,
			 struct l7_message *m)
{
	if (s->waiting)
		fill(parser, s->waiting, requests, m);
	m->first_ns = s->first_ns;
	m->size = s->size;
}

static int wait_for_chunks(struct side *s, const struct http1_words *w)
{
	if (!s->waiting)
		s->waiting = malloc(sizeof(*w));
	if (!s->waiting)
		return -1;
	memcpy(s->waiting, w, sizeof(*w));
	s->in_chunks = true;
	s->answered = false;
	return 0;
}

static void end_chunks(struct side *s)
{
	s->in_chunks = false;
	free(s->waiting);
	s->waiting = NULL;
}

/* Chunks from `at` on (RFC 9112 7.1): how far whole ones reach; *done behind the last and its
 * trailers. */
static int64_t chunks(const struct l7_view *v, size_t at, bool *done)
{
	*done = false;
	for (;;) {
		const uint8_t *nl = at < v->len ? memchr(v->p + at, '\n', v->len - at) : NULL;
		uint64_t len = 0;
		size_t i = at;

		if (!nl)
			return at;
		for (; i < v->len && i - at < 16; i++) {
			const char *digit = memchr("0123456789abcdefABCDEF", v->p[i], 22);
			unsigned d;

			if (!digit)
				break;
			d = strchr("0123456789abcdefABCDEF", v->p[i]) - "0123456789abcdefABCDEF";
			len = len * 16 + (d > 15 ? d - 6 : d);
		}
		if (i == at || len > 1ULL << 40)
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
		/* A chunk may reach past the view: its end is where the next one begins. */
		at = i + len + 2;
		if (at >= v->len)
			return at;
	}
}

/* The body's chunks; the message goes out with the last. */
static int64_t continue_chunks(struct l7_parser *parser, struct side *s, const struct l7_view *v,
			       size_t at, struct l7_message *m)
{
	bool done;
	int64_t n = chunks(v, at, &done);

	if (n < 0) {
		end_chunks(s);
		return L7_BAD;
	}
	if (n == 0)
		return L7_PARTIAL;
	s->size += n;
	if (!done)
		return n; /* L7_SKIP */
	if (!s->answered)
		fill_waiting(parser, s, v->requests, m);
	s->answered = false;
	end_chunks(s);
	return n;
}

/* An answer to a request whose chunks still come: the request counts as it is. */
static void answer_early(struct l7_parser *parser, struct side *requests, const struct l7_view *v)
{
	struct l7_message m = {.last_ns = v->ts_ns};

	if (!requests->in_chunks || requests->answered || l7_pending(parser, 0))
		return;
	fill_waiting(parser, requests, true, &m);
	m.dir = l7_requests_dir(parser);
	requests->answered = true;
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
		/* RFC 7540 3.2: the answer comes as that of stream 1. */
		m->opaque_after = false;
		m->interim = true;
		m->goes_on = "http2";
	}
	if (!v->requests && !m->interim)
		answer_early(parser, &((struct http1 *)parser->state)->side[1], v);
	if (h.partial && !h.has_length && !h.head_only) {
		/* The end of the head, and with it the body's length, was not kept. */
		fill(parser, &w, v->requests, m);
		m->cut = true;
		s->unknown_body = true;
		return v->len;
	}
	if (h.chunked && !h.head_only) {
		s->first_ns = v->ts_ns;
		s->size = 0;
		if (v->cut) {
			fill(parser, &w, v->requests, m);
			m->cut = true;
			s->unknown_body = true;
			return v->len;
		}
		err = wait_for_chunks(s, &w) || continue_chunks(parser, s, v, h.sz, m) == L7_BAD;
		return err ? L7_BAD : s->size ? (int64_t)s->size : (int64_t)(s->size = h.sz);
	}
	fill(parser, &w, v->requests, m);
	if (h.head_only || h.upgrade)
		return h.sz;
	if (h.has_length)
		return h.sz + h.length;
	s->until_close = !v->requests;
	return h.sz;
}

static int64_t http1_parse(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	struct http1 *http = parser->state;
	struct side *s = &http->side[v->requests];

	if (parser->after_hole && (s->in_chunks || s->until_close)) {
		s->unknown_body |= s->in_chunks;
		end_chunks(s);
	}
	if (s->until_close)
		return v->known;
	if (s->in_chunks)
		return continue_chunks(parser, s, v, 0, m);
	/* Empty lines before a request are passed over (RFC 9112 2.2). */
	if (v->requests && v->len >= 2 && v->p[0] == '\r' && v->p[1] == '\n')
		return 2;
	if (begins_message(v))
		return begin_message(parser, s, v, m);
	if (s->unknown_body || parser->after_hole)
		return v->known;
	return v->len < 12 && !v->cut && !v->last ? L7_PARTIAL : L7_BAD;
}

static void http1_fini(void *state)
{
	struct http1 *http = state;

	end_chunks(&http->side[0]);
	end_chunks(&http->side[1]);
}

/* ---- bidding ---- */

/* What stands behind a method's word: a path, a URI, *, or CONNECT's authority. Other protocols
 * have the words, too ("DELETE FROM"). */
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

/* 2: begins a message, 1: nothing there, 0: something else (the middle of a body, or another
 * protocol). */
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
	/* The middle of a body on the other side, or another protocol: the next call tells. */
	return s == 2 && r == 2 ? 98 : s && r ? 85 : 45;
}

/* A line that can only begin a message. */
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
	.state_sz = sizeof(struct http1),
	.fini = http1_fini,
	.ports = {80, 8080, 8000, 3000},
};
