/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/l7/proto/http1_head.h"

#include <string.h>
#include <strings.h>

#include "format/text.h"
#include "analyze/l7/proto/client_address.h"

enum { MAX_LINE_SCAN = 65536, METHOD_MAX = 32 };
#define LENGTH_END (1ull << 60) /* longer than any body */

/* Methods recognized by the word alone; any other token needs a complete request line. */
static const char *const methods[] = {"GET",	   "POST",   "PUT",	"HEAD",	  "DELETE",
				      "OPTIONS",   "PATCH",  "CONNECT", "TRACE",  "PROPFIND",
				      "PROPPATCH", "MKCOL",  "COPY",	"MOVE",	  "LOCK",
				      "UNLOCK",	   "REPORT", "PURGE",	"SEARCH", NULL};

/* Length of a token (RFC 9110 5.6.2) followed by a blank; 0: none. */
static size_t token_at(const uint8_t *p, size_t len)
{
	static const char others[] = "!#$%&'*+-.^_`|~";
	size_t n = 0;

	while (n < len && n <= METHOD_MAX &&
	       ((p[n] >= 'A' && p[n] <= 'Z') || (p[n] >= 'a' && p[n] <= 'z') ||
		(p[n] >= '0' && p[n] <= '9') || (p[n] && strchr(others, p[n]))))
		n++;
	return n && n <= METHOD_MAX && n < len && p[n] == ' ' ? n : 0;
}

static size_t known_at(const uint8_t *p, size_t len)
{
	for (const char *const *m = methods; *m; m++) {
		size_t n = strlen(*m);

		if (len > n && !memcmp(p, *m, n) && p[n] == ' ')
			return n;
	}
	return 0;
}

/* Does the line end in SP HTTP/1.x [CR]? nl points to its LF. */
static bool ends_request(const uint8_t *p, const uint8_t *nl)
{
	nl -= nl > p && nl[-1] == '\r';
	return nl - p > 10 && !memcmp(nl - 9, " HTTP/1.", 8) && nl[-1] >= '0' && nl[-1] <= '9';
}

size_t http1_method_at(const uint8_t *p, size_t len)
{
	size_t n = known_at(p, len);
	const uint8_t *nl;

	if (n)
		return n;
	n = token_at(p, len);
	nl = n ? memchr(p, '\n', len < MAX_LINE_SCAN ? len : MAX_LINE_SCAN) : NULL;
	return nl && ends_request(p + n, nl) ? n : 0;
}

size_t http1_method_cut(const uint8_t *p, size_t len)
{
	size_t n = token_at(p, len);

	return n && n + 1 < len && (p[n + 1] == '/' || p[n + 1] == '*') && len < MAX_LINE_SCAN &&
			       !memchr(p, '\n', len)
		       ? n
		       : 0;
}

bool http1_response_at(const uint8_t *p, size_t len)
{
	return len >= 12 && !memcmp(p, "HTTP/1.", 7) && p[8] == ' ' && p[9] >= '1' && p[9] <= '5' &&
	       p[10] >= '0' && p[10] <= '9' && p[11] >= '0' && p[11] <= '9';
}

static struct span trim(struct span s)
{
	while (s.len && (*s.p == ' ' || *s.p == '\t'))
		s.p++, s.len--;
	while (s.len && (s.p[s.len - 1] == ' ' || s.p[s.len - 1] == '\t' || s.p[s.len - 1] == '\r'))
		s.len--;
	return s;
}

static inline bool named(struct span name, const char *text)
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

/* Any number of digits (RFC 9110 8.6), including leading zeros. */
static void content_length(struct http1_head *h, struct span value)
{
	h->length = 0;
	for (size_t i = 0; i < value.len && value.p[i] >= '0' && value.p[i] <= '9'; i++) {
		h->length = h->length * 10 + (value.p[i] - '0');
		h->has_length = h->length < LENGTH_END;
		if (!h->has_length)
			return;
	}
}

static void client(struct http1_head *h, struct span name, struct span value)
{
	struct span client = client_address(name, value, &h->client_rank);

	if (client.len)
		h->client = client;
}

/* Dispatches on the first letter, because most fields are not relevant. */
static void header(struct http1_head *h, struct span name, struct span value)
{
	switch (*name.p | 0x20) {
	case 'c':
		if (named(name, "content-length"))
			content_length(h, trim(value));
		break;
	case 't':
		if (named(name, "transfer-encoding"))
			h->chunked = contains_word(value, "chunked");
		break;
	case 'u':
		if (named(name, "upgrade"))
			h->h2c = contains_word(value, "h2c");
		else if (named(name, "user-agent"))
			h->agent = trim(value);
		break;
	case 'h':
		if (named(name, "host"))
			h->host = trim(value);
		break;
	case 'f':
	case 'x':
		client(h, name, trim(value));
		break;
	}
}

/* Reads lines from `at` to the empty line. 0; h->partial is set if the end is missing. -1: a line
 * that is not a header field. */
static int read_headers(struct http1_head *h, const struct l7_view *v, size_t at)
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
			       (struct span){line.p + n + 1, line.len - n - 1});
		}
	}
}

const uint8_t *http1_first_line_end(const struct l7_view *v)
{
	return memchr(v->p, '\n', v->len < MAX_LINE_SCAN ? v->len : MAX_LINE_SCAN);
}

static size_t copy(char *dst, size_t dst_sz, struct span s)
{
	size_t n = s.len < dst_sz ? s.len : dst_sz;

	memcpy(dst, s.p, n);
	return n;
}

static void add_detail(struct l7_parser *parser, struct http1_words *s, struct span key,
		       struct span value, size_t max)
{
	size_t at = s->detail_sz;
	struct span text;

	if (!value.len)
		return;
	text = l7_json(parser, value, max);
	if (key.len + text.len + 6 >= sizeof(s->detail) - 1 - at) /* ,"":"" and the closing brace */
		return;
	if (at > 1)
		s->detail[at++] = ',';
	s->detail[at++] = '"';
	memcpy(s->detail + at, key.p, key.len);
	memcpy(s->detail + at + key.len, "\":\"", 3);
	at += key.len + 3;
	memcpy(s->detail + at, text.p, text.len);
	at += text.len;
	s->detail[at++] = '"';
	s->detail_sz = at;
}

static void begin_detail(struct http1_words *s)
{
	s->detail[0] = '{';
	s->detail_sz = 1;
}

static void end_detail(struct http1_words *s)
{
	if (s->detail_sz == 1)
		s->detail_sz = 0;
	else
		s->detail[s->detail_sz++] = '}';
}

/* Like memmem, but fast if the first byte is rare. */
static const char *find(struct span s, struct span what)
{
	const char *p = s.p, *end = s.p + s.len;

	for (; (p = memchr(p, *what.p, end - p)) && (size_t)(end - p) >= what.len; p++)
		if (!memcmp(p, what.p, what.len))
			return p;
	return NULL;
}

/* Number of bytes before the first of `stop`. */
static size_t until(struct span s, struct span stop)
{
	size_t n = 0;

	while (n < s.len && !memchr(stop.p, s.p[n], stop.len))
		n++;
	return n;
}

/* absolute-form (RFC 9112 3.2.2): size of scheme and authority. */
static size_t origin_size(struct span target)
{
	size_t n = until(target, span_of(":/?#"));

	if (!n || n + 3 > target.len || memcmp(target.p + n, "://", 3))
		return 0;
	n += 3;
	return n + until((struct span){target.p + n, target.len - n}, span_of("/?#"));
}

/* The path without query, with ids folded; for CONNECT the authority as it is. */
static void set_target(struct http1_words *s, struct span target, bool connect)
{
	size_t n = connect || !target.len || *target.p == '/' ? 0 : origin_size(target);
	const char *end;

	target = (struct span){target.p + n, target.len - n};
	if ((end = memchr(target.p, '?', target.len)))
		target.len = end - target.p;
	if ((end = memchr(target.p, '#', target.len)))
		target.len = end - target.p;
	s->target_sz = connect ? copy(s->target, sizeof(s->target), target)
			       : l7_fold(target, s->target, sizeof(s->target)).len;
	if (!s->target_sz)
		s->target[s->target_sz++] = '/';
}

/* Size of a truncated target, without a possible beginning of " HTTP/1.x". */
static size_t cut_target(struct span target)
{
	static const char version[] = " HTTP/1.";
	const char *blank = memchr(target.p, ' ', target.len);
	size_t left = blank ? target.p + target.len - blank : 0;

	return blank && !memcmp(blank, version,
				left < sizeof(version) - 1 ? left : sizeof(version) - 1)
		       ? (size_t)(blank - target.p)
		       : target.len;
}

int http1_read_request(struct l7_parser *parser, struct http1_words *s, const struct l7_view *v,
		       struct http1_head *h)
{
	size_t n = http1_method_at(v->p, v->len);
	const uint8_t *nl = http1_first_line_end(v), *end;
	struct span target;

	n = n ? n : http1_method_cut(v->p, v->len);
	s->method_sz = copy(s->method, sizeof(s->method), (struct span){(const char *)v->p, n});
	h->connect = n == 7 && !memcmp(v->p, "CONNECT", 7);
	target.p = (const char *)v->p + n + 1;
	end = nl ? nl : v->p + v->len;
	if (nl) {
		/* "... HTTP/1.x" */
		const char *version = find((struct span){target.p, (const char *)end - target.p},
					   span_of(" HTTP/1."));

		if (!version)
			return -1;
		target.len = version - target.p;
		if (read_headers(h, v, nl + 1 - v->p))
			return -1;
	} else {
		target.len = (const char *)end - target.p;
		target.len = cut_target(target);
		h->partial = true;
		h->sz = v->len;
	}
	set_target(s, target, h->connect);
	begin_detail(s);
	add_detail(parser, s, span_of("host"), h->host, 128);
	add_detail(parser, s, span_of("user_agent"), h->agent, 128);
	add_detail(parser, s, span_of("client"), h->client, 64);
	end_detail(s);
	return 0;
}

int http1_read_response(struct l7_parser *parser, struct http1_words *s, const struct l7_view *v,
			struct http1_head *h)
{
	const struct l7_message *req = l7_pending(parser, 0);
	const uint8_t *nl = http1_first_line_end(v);

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
