/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Redis serialization protocol, RESP2 and RESP3 (redis.io/docs/reference/protocol-spec).
 *
 *   request    *2\r\n $3\r\nGET\r\n $3\r\nkey\r\n        or an inline line: PING\r\n
 *   response   +OK\r\n  -ERR text\r\n  :1\r\n  $len\r\n...\r\n  *n ...
 *   RESP3      besides: _ # , ( ! = % ~ > |
 *
 * Paired in order, except that pushes and the output of MONITOR or a subscription belong to no
 * request, CLIENT REPLY suppresses responses, and a SUBSCRIBE to n channels is answered n times.
 */
#include <string.h>

#include "format/text.h"
#include "analyze/l7/proto/redis_command.h"

enum {
	MAX_DEPTH = 16,
	MAX_LINE = 65536, /* of an inline request or a simple string */
};
#define MAX_BULK (512ULL << 20)
#define MAX_ELEMENTS (1ULL << 20)

/* Effects of commands on the replies that follow. */
struct mode {
	bool subscribed, no_reply, skip_reply;
};

struct redis {
	struct mode mode;
	bool in_rest; /* inside an array whose end is unknown */
	struct redis_name name;
};

/* Reads a line up to CRLF and moves the cursor past it. */
static struct span line(struct l7_cursor *c)
{
	size_t left = c->end - c->p;
	const uint8_t *nl = c->cut ? NULL : memchr(c->p, '\n', left < MAX_LINE ? left : MAX_LINE);
	struct span s = {"", 0};

	if (!nl) {
		c->cut = true;
		return s;
	}
	s = (struct span){(const char *)c->p, nl - c->p};
	if (s.len && s.p[s.len - 1] == '\r')
		s.len--;
	c->p = nl + 1;
	return s;
}

/* -1 is the null length of RESP2; false: not a number. */
static bool number(struct span s, int64_t *v)
{
	bool minus = s.len && *s.p == '-';

	*v = 0;
	if (s.len <= minus || s.len > 19)
		return false;
	for (size_t i = minus; i < s.len; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		*v = *v * 10 + (s.p[i] - '0');
	}
	if (minus)
		*v = -*v;
	return true;
}

/* Walks one value. If it is a bulk string whose end is not in view, *over is the number of bytes
 * beyond the view. */
enum walk { WALK_OK, WALK_CUT, WALK_BAD };

static enum walk bulk(struct l7_cursor *c, int64_t len, struct span *s, uint64_t *over)
{
	uint64_t left = c->end - c->p;

	*s = (struct span){"", 0};
	if (len == -1)
		return WALK_OK;
	if (len < 0 || (uint64_t)len > MAX_BULK)
		return WALK_BAD;
	if (left < (uint64_t)len + 2) {
		*s = (struct span){(const char *)c->p, left < (uint64_t)len ? left : (uint64_t)len};
		*over = len + 2 - left;
		c->p = c->end;
		return WALK_OK;
	}
	*s = l7_bytes(c, len);
	return memcmp(l7_take(c, 2), "\r\n", 2) ? WALK_BAD : WALK_OK;
}

/* What a walk found besides the end of the value. */
struct found {
	uint64_t over;	      /* the value is complete on the wire except for these bytes */
	const uint8_t *error; /* the first error: the value, or within it (EXEC, scripts) */
};

/* Walks one value of any type. */
static enum walk value(struct l7_cursor *c, unsigned depth, struct found *f)
{
	struct span head, text;
	uint64_t elements;
	int64_t n;

	if (f->over || c->p == c->end)
		return WALK_CUT;
	head = line(c);
	if (c->cut)
		return WALK_CUT;
	if (!head.len)
		return WALK_BAD;
	if (!f->error && (*head.p == '-' || *head.p == '!'))
		f->error = (const uint8_t *)head.p;
	switch (*head.p) {
	case '+':
	case '-':
	case ':':
	case '_':
	case '#':
	case ',':
	case '(':
		return WALK_OK;
	case '$':
	case '=':
	case '!':
		return number((struct span){head.p + 1, head.len - 1}, &n)
			       ? bulk(c, n, &text, &f->over)
			       : WALK_BAD;
	case '*':
	case '~':
	case '>':
	case '%':
	case '|':
		break;
	default:
		return WALK_BAD;
	}
	if (depth >= MAX_DEPTH || !number((struct span){head.p + 1, head.len - 1}, &n) || n < -1 ||
	    n > (int64_t)MAX_ELEMENTS)
		return WALK_BAD;
	elements = n < 0 ? 0 : *head.p == '%' || *head.p == '|' ? 2 * n : n;
	for (uint64_t i = 0; i < elements; i++) {
		enum walk w = value(c, depth + 1, f);

		if (w != WALK_OK)
			return w;
	}
	/* An attribute precedes the value it belongs to. */
	return *head.p == '|' ? value(c, depth, f) : WALK_OK;
}

/* ---- requests ---- */

static void apply_request(struct mode *mode, struct l7_message *m, const struct span *words,
			  size_t cnt)
{
	char word[8];

	m->type = mode->no_reply || mode->skip_reply ? L7_ONEWAY : L7_REQUEST;
	m->waits = redis_waits(m->method);
	if (l7_is(m->method, "SET") && cnt > 3) /* with GET it returns the old value */
		m->kinds = 0;
	mode->skip_reply = false;
	if (l7_is(m->method, "CLIENT REPLY") && cnt > 2) {
		struct span how = l7_upper(words[2], word, sizeof(word));

		mode->skip_reply = l7_is(how, "SKIP");
		if (!mode->skip_reply)
			mode->no_reply = l7_is(how, "OFF");
		m->type = l7_is(how, "ON") ? L7_REQUEST : L7_ONEWAY;
	} else if (redis_is_subscription(m->method)) {
		mode->subscribed = true;
	} else if (l7_is(m->method, "RESET")) {
		*mode = (struct mode){0};
	}
}

static int64_t inline_request(struct redis *r, const struct l7_view *v, struct l7_message *m)
{
	struct l7_cursor c = l7_cursor(v);
	struct span text = line(&c), args[REDIS_WORDS];
	size_t cnt = 0, i = 0;

	if (c.cut)
		return v->len >= MAX_LINE ? L7_BAD : L7_PARTIAL;
	while (cnt < REDIS_WORDS) {
		while (i < text.len && text.p[i] == ' ')
			i++;
		if (i == text.len)
			break;
		args[cnt] = (struct span){text.p + i, 0};
		for (; i < text.len && text.p[i] != ' '; i++) {
			if ((unsigned char)text.p[i] < 0x20 || (unsigned char)text.p[i] > 0x7e)
				return L7_BAD;
			args[cnt].len++;
		}
		cnt++;
	}
	if (!cnt)
		return c.p - v->p; /* skip empty lines, as the server does */
	if (strspn(args[0].p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") < args[0].len)
		return L7_BAD;
	redis_name(&r->name, m, args, cnt);
	apply_request(&r->mode, m, args, cnt);
	return c.p - v->p;
}

static int64_t request(struct redis *r, const struct l7_view *v, struct l7_message *m)
{
	struct l7_cursor c = l7_cursor(v);
	struct span args[REDIS_WORDS], head, arg;
	uint64_t over = 0;
	size_t cnt = 0;
	int64_t argc, len;

	if (*v->p != '*')
		return inline_request(r, v, m);
	head = line(&c);
	if (c.cut)
		return v->len > 32 ? L7_BAD : L7_PARTIAL;
	if (!number((struct span){head.p + 1, head.len - 1}, &argc) || argc > (int64_t)MAX_ELEMENTS)
		return L7_BAD;
	if (argc <= 0)
		return c.p - v->p;
	for (int64_t i = 0; i < argc; i++) {
		head = over ? (struct span){"", 0} : line(&c);
		if (over || c.cut) {
			/* More arguments follow the captured bytes: the command is known, its end
			 * is not. */
			m->cut = cnt && v->cut;
			if (!m->cut)
				return L7_PARTIAL;
			break;
		}
		if (!head.len || *head.p != '$' ||
		    !number((struct span){head.p + 1, head.len - 1}, &len) || len < 0)
			return L7_BAD;
		if (bulk(&c, len, &arg, &over) == WALK_BAD)
			return L7_BAD;
		if (over && !v->cut && cnt < 2 && !v->last)
			return L7_PARTIAL; /* wait for the command and its key */
		if (cnt < REDIS_WORDS)
			args[cnt++] = arg;
	}
	redis_name(&r->name, m, args, cnt);
	apply_request(&r->mode, m, args, cnt);
	return c.p - v->p + over;
}

/* ---- responses ---- */

/* The first elements of an aggregate, if they are bulk or simple strings: "message" and its
 * channel. */
static void first_words(const struct l7_view *v, struct span words[2])
{
	struct l7_cursor c = l7_cursor(v);
	struct span head;
	uint64_t over = 0;
	int64_t n;

	words[0] = words[1] = (struct span){"", 0};
	line(&c);
	for (int i = 0; i < 2 && !over; i++) {
		head = line(&c);
		if (c.cut || !head.len)
			return;
		if (*head.p == '+')
			words[i] = (struct span){head.p + 1, head.len - 1};
		else if (*head.p != '$' || !number((struct span){head.p + 1, head.len - 1}, &n) ||
			 bulk(&c, n, &words[i], &over) != WALK_OK)
			return;
	}
}

/* Output of MONITOR: "+1339518083.107412 [0 127.0.0.1:60866] "get" "key"". */
static bool is_monitored(const struct l7_view *v)
{
	size_t i = 1;

	if (v->len < 2 || *v->p != '+')
		return false;
	while (i < v->len && i < 32 && ((v->p[i] >= '0' && v->p[i] <= '9') || v->p[i] == '.'))
		i++;
	return i > 8 && i + 1 < v->len && v->p[i] == ' ' && v->p[i + 1] == '[';
}

static bool is_published(struct span word)
{
	return l7_is(word, "message") || l7_is(word, "pmessage") || l7_is(word, "smessage");
}

/* Does it belong to no request? Then sets its name. */
static bool is_push(struct redis *r, struct l7_parser *parser, const struct l7_view *v,
		    struct l7_message *m)
{
	const struct l7_message *req = l7_pending(parser, 0);
	struct span words[2];

	if (is_monitored(v)) {
		m->method = (struct span){"monitor", 7};
		return true;
	}
	if (*v->p != '>' && !(r->mode.subscribed && *v->p == '*'))
		return false;
	first_words(v, words);
	if (redis_is_subscription(words[0]) && req && redis_is_subscription(req->method))
		return false;
	if (*v->p != '>' && !redis_is_subscription(words[0]) && !is_published(words[0]))
		return false;
	m->method = words[0];
	m->target = l7_fold(words[1], r->name.target, sizeof(r->name.target));
	return true;
}

/* Kind of a reply. Others, such as "+QUEUED" and errors, may answer any request. */
static uint32_t kind_of(const struct l7_view *v)
{
	bool null = v->len > 1 && v->p[1] == '-';

	switch (*v->p) {
	case '+':
		if (v->len >= 5 && !memcmp(v->p, "+OK\r\n", 5))
			return REDIS_OK;
		return v->len >= 7 && !memcmp(v->p, "+PONG\r\n", 7) ? REDIS_PONG : 0;
	case ':':
		return REDIS_INT;
	case '$':
		return null ? REDIS_NIL : REDIS_BULK;
	case '*':
		return null ? REDIS_NIL : REDIS_ARRAY;
	case '%':
	case '~':
		return REDIS_ARRAY;
	case '_':
		return REDIS_NIL;
	default:
		return 0;
	}
}

/*
 * SYNC and PSYNC make a stream of the connection: the reply, a dump without CRLF behind it,
 * commands that have no replies. Newlines keep the connection alive until the reply. Returns 0 if
 * this is not the reply to one of them.
 */
static int64_t begins_stream(struct l7_parser *parser, const struct l7_view *v,
			     struct l7_message *m)
{
	const struct l7_message *req = l7_pending(parser, 0);
	bool sync = req && l7_is(req->method, "SYNC");
	struct l7_cursor c = l7_cursor(v);

	if (!sync && !(req && l7_is(req->method, "PSYNC")))
		return 0;
	if (*v->p == '\n') {
		m->type = L7_SKIP;
		return 1;
	}
	if (*v->p != (sync ? '$' : '+'))
		return 0;
	line(&c);
	if (c.cut)
		return 0;
	m->type = L7_RESPONSE;
	m->opaque_after = true;
	m->status = (struct span){"OK", 2};
	return c.p - v->p;
}

static int64_t response(struct redis *r, struct l7_parser *parser, const struct l7_view *v,
			struct l7_message *m)
{
	struct l7_cursor c = l7_cursor(v), word;
	struct found f = {0};
	int64_t stream = begins_stream(parser, v, m);
	enum walk w;

	if (stream)
		return stream;
	/* Elements look like replies, but no replies come while no request is waiting. */
	r->in_rest &= !l7_pending(parser, 0);
	if (r->in_rest && *v->p != '>')
		return v->known;
	w = value(&c, 0, &f);
	if (w == WALK_BAD)
		return L7_BAD;
	if (w == WALK_CUT && !v->cut && !v->full)
		return L7_PARTIAL;
	m->type = is_push(r, parser, v, m) ? L7_ONEWAY : L7_RESPONSE;
	if (w == WALK_CUT) {
		m->cut = true;
		r->in_rest = m->type == L7_RESPONSE && !r->mode.subscribed;
	}
	if (w == WALK_CUT && !v->cut) {
		m->partial = m->no_end = true;
		m->detail = span_of(L7_NO_END);
	}
	m->kinds = kind_of(v);
	m->is_error = f.error;
	m->status = (struct span){"OK", 2};
	if (m->is_error) {
		/* The first word is the error kind: ERR, WRONGTYPE, MOVED. */
		word = l7_cursor_at(f.error, v->p + v->len - f.error);
		if (*f.error == '!')
			line(&word);
		m->status = (struct span){(const char *)word.p + (*f.error == '-'), 0};
		while ((const uint8_t *)m->status.p + m->status.len < v->p + v->len &&
		       m->status.len < 32 && m->status.p[m->status.len] > ' ')
			m->status.len++;
	}
	return c.p - v->p + f.over;
}

static int64_t redis_parse(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	struct redis *r = parser->state;

	return v->requests ? request(r, v, m) : response(r, parser, v, m);
}

/* ---- bidding ---- */

/* A one-line request that is not HTTP. The response must confirm it. */
static bool begins_line(const struct l7_view *v)
{
	struct l7_cursor c = l7_cursor(v);
	struct span text = line(&c);
	size_t sz = 0;

	while (sz < text.len && text.p[sz] > ' ')
		sz++;
	return redis_begins_line((struct span){text.p, sz}) &&
	       !memmem(text.p, text.len, " HTTP/", 6);
}

/* 2: a request in array form, 1: a plausible reply, 0: neither. */
static int looks_like(const struct l7_view *v)
{
	struct l7_cursor c = l7_cursor(v);
	struct span head;
	int64_t n;

	if (!v->len)
		return 0;
	head = line(&c);
	if (c.cut || !head.len || c.p - v->p < 3 || c.p[-2] != '\r')
		return 0;
	if (*head.p == '*' && number((struct span){head.p + 1, head.len - 1}, &n) && n > 0) {
		struct span next = line(&c);

		if (!c.cut && next.len > 1 && *next.p == '$' &&
		    number((struct span){next.p + 1, next.len - 1}, &n) && n >= 0)
			return 2;
		return c.cut || (next.len && strchr("+-:$*_#,(!=%~>|", *next.p)) ? 1 : 0;
	}
	if (strchr(":$*%~>", *head.p))
		return number((struct span){head.p + 1, head.len - 1}, &n);
	return *head.p == '+' ||
	       (*head.p == '-' && head.len > 3 && head.p[1] >= 'A' && head.p[1] <= 'Z') ||
	       (head.len == 1 && *head.p == '_') || (head.len == 2 && *head.p == '#');
}

static int redis_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent)
{
	int s = looks_like(sent), r = looks_like(received);

	if ((s == 1 && begins_line(received)) || (r == 1 && begins_line(sent))) {
		*requests_sent = r == 1;
		return 75;
	}
	if ((sent->len && !s) || (received->len && !r) || (!s && !r))
		return 0;
	if (s == 2 && r < 2)
		*requests_sent = 1;
	else if (r == 2 && s < 2)
		*requests_sent = 0;
	if (s == 2 || r == 2)
		return s && r ? 95 : 80;
	if (is_monitored(sent) || is_monitored(received)) {
		*requests_sent = is_monitored(received);
		return 80;
	}
	if (s && r)
		return 45;
	/* POP3 also answers "+OK". */
	return strchr("+-", *(s ? sent : received)->p) ? 15 : 25;
}

const struct l7_protocol l7_redis = {
	.name = "redis",
	.bid = redis_bid,
	.parse = redis_parse,
	.state_sz = sizeof(struct redis),
	.ports = {6379, 6380, 26379, 16379},
};
