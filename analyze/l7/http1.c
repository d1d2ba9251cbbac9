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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "l7.h"

enum { MAX_HEAD = 1 << 18, MAX_LINE_SCAN = 65536 };

/* What a head told. */
struct head {
	uint64_t length;
	bool has_length, chunked, connect, head_only, upgrade, h2c;
	unsigned code;
	struct span host, agent, client;
	size_t sz;    /* bytes of it, the empty line included */
	bool partial; /* its end was not kept */
};

/* What a message says of itself. */
struct words {
	size_t method_sz, target_sz, detail_sz;
	bool is_error;
	char method[16], target[256], status[4], detail[768];
};

/* One direction. Small: there may be 100,000 connections. */
struct side {
	bool in_chunks, until_close;
	bool answered;	   /* before its last chunk: it was handed out then */
	bool unknown_body; /* what follows a message whose end is not known */
	uint64_t first_ns, size;
	struct words *waiting; /* in chunks: of the message whose last one has not come */
};

struct http1 {
	struct side side[2]; /* responses, requests */
};

static const char *const methods[] = {"GET",	   "POST",   "PUT",	"HEAD",	  "DELETE",
				      "OPTIONS",   "PATCH",  "CONNECT", "TRACE",  "PROPFIND",
				      "PROPPATCH", "MKCOL",  "COPY",	"MOVE",	  "LOCK",
				      "UNLOCK",	   "REPORT", "PURGE",	"SEARCH", NULL};

/* Length of the method word when the bytes begin a request (or may, cut short), else 0. */
static size_t method_at(const uint8_t *p, size_t len)
{
	for (const char *const *m = methods; *m; m++) {
		size_t n = strlen(*m);

		if (len > n && !memcmp(p, *m, n) && p[n] == ' ')
			return n;
	}
	return 0;
}

static bool response_at(const uint8_t *p, size_t len)
{
	return len >= 12 && !memcmp(p, "HTTP/1.", 7) && p[8] == ' ' && p[9] >= '1' && p[9] <= '5' &&
	       p[10] >= '0' && p[10] <= '9' && p[11] >= '0' && p[11] <= '9';
}

static bool begins_message(const struct l7_view *v)
{
	return v->requests ? method_at(v->p, v->len) != 0 : response_at(v->p, v->len);
}

/* ---- heads ---- */

static struct span trim(struct span s)
{
	while (s.len && (*s.p == ' ' || *s.p == '\t'))
		s.p++, s.len--;
	while (s.len && (s.p[s.len - 1] == ' ' || s.p[s.len - 1] == '\t' || s.p[s.len - 1] == '\r'))
		s.len--;
	return s;
}

static bool named(struct span name, const char *text)
{
	return name.len == strlen(text) && !strncasecmp(name.p, text, name.len);
}

static bool contains_word(struct span s, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= s.len; i++)
		if (!strncasecmp(s.p + i, word, n))
			return true;
	return false;
}

/* "for=" of RFC 7239, first element. */
static struct span forwarded_for(struct span v)
{
	for (size_t i = 0; i + 4 <= v.len; i++) {
		if (strncasecmp(v.p + i, "for=", 4))
			continue;
		struct span s = {v.p + i + 4, 0};

		while (s.p + s.len < v.p + v.len && !strchr(";, ", s.p[s.len]))
			s.len++;
		return s;
	}
	return (struct span){"", 0};
}

static void header(struct head *h, struct span name, struct span value)
{
	if (named(name, "content-length")) {
		h->length = 0;
		for (size_t i = 0;
		     i < value.len && i < 18 && value.p[i] >= '0' && value.p[i] <= '9'; i++) {
			h->length = h->length * 10 + (value.p[i] - '0');
			h->has_length = true;
		}
	} else if (named(name, "transfer-encoding")) {
		h->chunked = contains_word(value, "chunked");
	} else if (named(name, "upgrade")) {
		h->h2c = contains_word(value, "h2c");
	} else if (named(name, "host")) {
		h->host = value;
	} else if (named(name, "user-agent")) {
		h->agent = value;
	} else if (named(name, "x-forwarded-for")) {
		const char *comma = memchr(value.p, ',', value.len);

		h->client =
			trim((struct span){value.p, comma ? (size_t)(comma - value.p) : value.len});
	} else if (named(name, "x-real-ip") && !h->client.len) {
		h->client = value;
	} else if (named(name, "forwarded") && !h->client.len) {
		h->client = forwarded_for(value);
	}
}

/* Lines from `at` to the empty one. 0, or L7_PARTIAL's meaning in h->partial, -1 for a line that is
 * no header. */
static int read_headers(struct head *h, const struct l7_view *v, size_t at)
{
	for (;;) {
		const uint8_t *nl = memchr(v->p + at, '\n', v->len - at), *colon;
		struct span line;

		if (!nl) {
			h->partial = true;
			h->sz = v->len;
			return 0;
		}
		line = (struct span){(const char *)v->p + at, nl - (v->p + at)};
		at = nl - v->p + 1;
		if (line.len && line.p[line.len - 1] == '\r')
			line.len--;
		if (!line.len) {
			h->sz = at;
			return 0;
		}
		colon = memchr(line.p, ':', line.len);
		if (!colon && *line.p != ' ' && *line.p != '\t')
			return -1;
		if (colon) {
			size_t n = (const char *)colon - line.p;

			header(h, (struct span){line.p, n},
			       trim((struct span){line.p + n + 1, line.len - n - 1}));
		}
	}
}

/* The first line up to its end; NULL when it is not in view. */
static const uint8_t *first_line_end(const struct l7_view *v)
{
	return memchr(v->p, '\n', v->len < MAX_LINE_SCAN ? v->len : MAX_LINE_SCAN);
}

/* ---- messages ---- */

static size_t copy(char *dst, size_t dst_sz, struct span s)
{
	size_t n = s.len < dst_sz ? s.len : dst_sz;

	memcpy(dst, s.p, n);
	return n;
}

static void add_detail(struct l7_parser *parser, struct words *s, const char *key,
		       struct span value, size_t max)
{
	size_t key_sz = strlen(key), at = s->detail_sz;
	struct span text;

	if (!value.len)
		return;
	text = l7_json(parser, value, max);
	if (key_sz + text.len + 6 >= sizeof(s->detail) - 1 - at) /* ,"":"" and the closing brace */
		return;
	if (at > 1)
		s->detail[at++] = ',';
	s->detail[at++] = '"';
	memcpy(s->detail + at, key, key_sz);
	memcpy(s->detail + at + key_sz, "\":\"", 3);
	at += key_sz + 3;
	memcpy(s->detail + at, text.p, text.len);
	at += text.len;
	s->detail[at++] = '"';
	s->detail_sz = at;
}

static void begin_detail(struct words *s)
{
	s->detail[0] = '{';
	s->detail_sz = 1;
}

static void end_detail(struct words *s)
{
	if (s->detail_sz == 1)
		s->detail_sz = 0;
	else
		s->detail[s->detail_sz++] = '}';
}

/* Path only, without query, ids folded; CONNECT's authority as it is. */
static void set_target(struct words *s, struct span target, bool connect)
{
	const char *p;

	if (!connect && target.len > 8 && (p = memmem(target.p, target.len, "://", 3))) {
		p += 3;
		while (p < target.p + target.len && *p != '/')
			p++;
		target = (struct span){p, target.p + target.len - p};
	}
	p = memchr(target.p, '?', target.len);
	if (p)
		target.len = p - target.p;
	s->target_sz = connect ? copy(s->target, sizeof(s->target), target)
			       : l7_fold(target, s->target, sizeof(s->target)).len;
	if (!s->target_sz)
		s->target[s->target_sz++] = '/';
}

static int read_request(struct l7_parser *parser, struct words *s, const struct l7_view *v,
			struct head *h)
{
	size_t n = method_at(v->p, v->len);
	const uint8_t *nl = first_line_end(v), *end;
	struct span target;

	s->method_sz = copy(s->method, sizeof(s->method), (struct span){(const char *)v->p, n});
	h->connect = n == 7 && !memcmp(v->p, "CONNECT", 7);
	target.p = (const char *)v->p + n + 1;
	end = nl ? nl : v->p + v->len;
	if (nl) {
		/* "... HTTP/1.x" */
		const char *version = memmem(target.p, (const char *)end - target.p, " HTTP/1.", 8);

		if (!version)
			return -1;
		target.len = version - target.p;
		if (read_headers(h, v, nl + 1 - v->p))
			return -1;
	} else {
		target.len = (const char *)end - target.p;
		h->partial = true;
		h->sz = v->len;
	}
	set_target(s, target, h->connect);
	begin_detail(s);
	add_detail(parser, s, "host", h->host, 128);
	add_detail(parser, s, "user_agent", h->agent, 128);
	add_detail(parser, s, "client", h->client, 64);
	end_detail(s);
	return 0;
}

static int read_response(struct l7_parser *parser, struct words *s, const struct l7_view *v,
			 struct head *h)
{
	const struct l7_message *req = l7_pending(parser, 0);
	const uint8_t *nl = first_line_end(v);

	memcpy(s->status, v->p + 9, 3);
	h->code = (v->p[9] - '0') * 100 + (v->p[10] - '0') * 10 + (v->p[11] - '0');
	s->is_error = h->code >= 400;
	s->detail_sz = 0;
	h->head_only = h->code < 200 || h->code == 204 || h->code == 304 ||
		       (req && l7_is(req->method, "HEAD"));
	h->upgrade = h->code == 101 || (h->code / 100 == 2 && req && l7_is(req->method, "CONNECT"));
	if (!nl) {
		h->partial = true;
		h->sz = v->len;
		return 0;
	}
	return read_headers(h, v, nl + 1 - v->p);
}

static void fill(struct l7_parser *parser, const struct words *s, bool requests,
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

static int wait_for_chunks(struct side *s, const struct words *w)
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
	struct head h = {0};
	struct words w;
	int err;

	if (v->requests)
		err = read_request(parser, &w, v, &h);
	else
		err = read_response(parser, &w, v, &h);
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
	if (response_at(v->p, v->len))
		return 2;
	method_sz = method_at(v->p, v->len);
	if (!method_sz || !target_at(v, method_sz + 1))
		return 0;
	nl = first_line_end(v);
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
		if (v->requests ? method_at(v->p + i, v->len - i) != 0
				: response_at(v->p + i, v->len - i))
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
