/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Redis serialization protocol, RESP2 and RESP3 (redis.io/docs/reference/protocol-spec).
 *
 *   request    *2\r\n $3\r\nGET\r\n $3\r\nkey\r\n        or an inline line: PING\r\n
 *   response   +OK\r\n  -ERR text\r\n  :1\r\n  $len\r\n...\r\n  *n ...  and RESP3: _ # , ( ! = % ~
 * > |
 *
 * In order, but: pushes and what follows MONITOR or a subscription belong to no request; CLIENT
 * REPLY takes responses away; a SUBSCRIBE to n channels is answered n times.
 */
#include <string.h>

#include "l7.h"

enum {
	MAX_DEPTH = 16,
	MAX_LINE = 65536, /* of an inline request or a simple string */
};
#define MAX_BULK (512ULL << 20)
#define MAX_ELEMENTS (1ULL << 20)

struct redis {
	bool subscribed, monitors, no_reply, skip_reply;
	uint64_t more_confirmations; /* answers to a SUBSCRIBE after its first */
	char method[64], target[128];
};

/* A line up to \r\n; the cursor stands behind it. */
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

/* Walks one value. How far it reaches on the wire goes to *over when it is a bulk whose end is not
 * in view. */
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

/* One value of any type; the cursor at the end with *over set is whole on the wire but for `over`
 * bytes. */
static enum walk value(struct l7_cursor *c, unsigned depth, uint64_t *over)
{
	struct span head, text;
	uint64_t elements;
	int64_t n;

	if (*over || c->p == c->end)
		return WALK_CUT;
	head = line(c);
	if (c->cut)
		return WALK_CUT;
	if (!head.len)
		return WALK_BAD;
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
		return number((struct span){head.p + 1, head.len - 1}, &n) ? bulk(c, n, &text, over)
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
		enum walk w = value(c, depth + 1, over);

		if (w != WALK_OK)
			return w;
	}
	/* An attribute comes before the value it belongs to. */
	return *head.p == '|' ? value(c, depth, over) : WALK_OK;
}

/* ---- requests ---- */

static const char *const containers[] = {
	"CONFIG", "CLIENT", "CLUSTER", "COMMAND", "OBJECT",   "MEMORY", "SCRIPT", "ACL", "XGROUP",
	"XINFO",  "PUBSUB", "SLOWLOG", "LATENCY", "FUNCTION", "DEBUG",	"MODULE", NULL};
/* Their first argument is not a key. */
static const char *const keyless[] = {
	"PING",	    "ECHO",    "AUTH", "HELLO",	  "SELECT",   "INFO",	   "QUIT",    "MULTI",
	"EXEC",	    "DISCARD", "EVAL", "EVALSHA", "FCALL",    "SCAN",	   "KEYS",    "WAIT",
	"FLUSHALL", "FLUSHDB", "SAVE", "BGSAVE",  "SHUTDOWN", "REPLICAOF", "SLAVEOF", "PSYNC",
	"REPLCONF", "MONITOR", "TIME", "DBSIZE",  "SWAPDB",   NULL};

static bool listed(struct span s, const char *const *list)
{
	for (; *list; list++)
		if (l7_is(s, *list))
			return true;
	return false;
}

static bool is_subscription(struct span method)
{
	static const char *const names[] = {"SUBSCRIBE",   "PSUBSCRIBE",   "SSUBSCRIBE",
					    "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE",
					    NULL};

	return listed(method, names);
}

static void name_request(struct redis *r, struct l7_message *m, const struct span *args, size_t cnt)
{
	m->method = l7_upper(args[0], r->method, sizeof(r->method) / 2);
	if (cnt > 1 && listed(m->method, containers)) {
		size_t at = m->method.len;

		r->method[at++] = ' ';
		m->method.len = at + l7_upper(args[1], r->method + at, sizeof(r->method) - at).len;
	} else if (cnt > 1 && !listed(m->method, keyless)) {
		m->target = l7_fold(args[1], r->target, sizeof(r->target));
	}
}

/* What the command does to the replies that follow. */
static void apply_request(struct redis *r, struct l7_message *m, const struct span *args,
			  size_t cnt, int64_t argc)
{
	char word[8];

	m->type = r->no_reply || r->skip_reply ? L7_ONEWAY : L7_REQUEST;
	r->skip_reply = false;
	if (l7_is(m->method, "CLIENT REPLY") && cnt > 2) {
		struct span how = l7_upper(args[2], word, sizeof(word));

		r->no_reply = l7_is(how, "OFF");
		r->skip_reply = l7_is(how, "SKIP");
		m->type = l7_is(how, "ON") ? L7_REQUEST : L7_ONEWAY;
	} else if (l7_is(m->method, "MONITOR")) {
		r->monitors = true;
	} else if (is_subscription(m->method)) {
		r->subscribed = true;
		r->more_confirmations += argc > 2 ? argc - 2 : 0;
	} else if (l7_is(m->method, "RESET")) {
		*r = (struct redis){0};
	}
}

static int64_t inline_request(struct redis *r, const struct l7_view *v, struct l7_message *m)
{
	struct l7_cursor c = l7_cursor(v);
	struct span text = line(&c), args[3];
	size_t cnt = 0, i = 0;

	if (c.cut)
		return v->len >= MAX_LINE ? L7_BAD : L7_PARTIAL;
	while (cnt < 3) {
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
		return c.p - v->p; /* empty lines are passed over, as the server does */
	if (strspn(args[0].p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") < args[0].len)
		return L7_BAD;
	name_request(r, m, args, cnt);
	apply_request(r, m, args, cnt, cnt);
	return c.p - v->p;
}

static int64_t request(struct redis *r, const struct l7_view *v, struct l7_message *m)
{
	struct l7_cursor c = l7_cursor(v);
	struct span args[4], head, arg;
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
			/* Arguments after the kept bytes: the command is known, its end is not. */
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
		if (cnt < sizeof(args) / sizeof(args[0]))
			args[cnt++] = arg;
	}
	name_request(r, m, args, cnt);
	apply_request(r, m, args, cnt, argc);
	return c.p - v->p + over;
}

/* ---- responses ---- */

/* The first element of an aggregate when it is a bulk or simple string: "message", "subscribe", ...
 */
static struct span first_word(const struct l7_view *v)
{
	struct l7_cursor c = l7_cursor(v);
	struct span head, text = {"", 0};
	uint64_t over = 0;
	int64_t n;

	line(&c);
	head = line(&c);
	if (c.cut || !head.len)
		return text;
	if (*head.p == '+')
		return (struct span){head.p + 1, head.len - 1};
	if (*head.p == '$' && number((struct span){head.p + 1, head.len - 1}, &n))
		bulk(&c, n, &text, &over);
	return text;
}

static enum l7_type response_type(struct redis *r, struct l7_parser *parser,
				  const struct l7_view *v)
{
	static const char *const confirmations[] = {"subscribe",   "psubscribe",   "ssubscribe",
						    "unsubscribe", "punsubscribe", "sunsubscribe",
						    NULL};
	static const char *const messages[] = {"message", "pmessage", "smessage", NULL};
	const struct l7_message *req = l7_pending(parser, 0);
	struct span word;

	if (*v->p == '>' || (r->subscribed && *v->p == '*')) {
		word = first_word(v);
		if (listed(word, confirmations)) {
			if (req && is_subscription(req->method))
				return L7_RESPONSE;
			if (r->more_confirmations)
				r->more_confirmations--;
			return L7_ONEWAY;
		}
		if (*v->p == '>' || listed(word, messages))
			return L7_ONEWAY;
	}
	if (r->monitors && *v->p == '+' && !req)
		return L7_ONEWAY;
	return L7_RESPONSE;
}

static int64_t response(struct redis *r, struct l7_parser *parser, const struct l7_view *v,
			struct l7_message *m)
{
	struct l7_cursor c = l7_cursor(v), word;
	uint64_t over = 0;
	enum walk w = value(&c, 0, &over);

	if (w == WALK_BAD)
		return L7_BAD;
	if (w == WALK_CUT) {
		if (!v->cut)
			return L7_PARTIAL;
		m->cut = true;
	}
	m->type = response_type(r, parser, v);
	m->is_error = *v->p == '-' || *v->p == '!';
	if (m->type == L7_ONEWAY)
		m->method = first_word(v);
	m->status = (struct span){"OK", 2};
	if (m->is_error) {
		/* Its first word names the kind: ERR, WRONGTYPE, MOVED. */
		word = l7_cursor(v);
		if (*v->p == '!')
			line(&word);
		m->status = (struct span){(const char *)word.p + (*v->p == '-'), 0};
		while ((const uint8_t *)m->status.p + m->status.len < v->p + v->len &&
		       m->status.len < 32 && m->status.p[m->status.len] > ' ')
			m->status.len++;
	}
	return c.p - v->p + over;
}

static int64_t redis_parse(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	struct redis *r = parser->state;

	return v->requests ? request(r, v, m) : response(r, parser, v, m);
}

/* ---- bidding ---- */

/* 2: a request in full form, 1: a plausible reply, 0: neither. */
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

	if ((sent->len && !s) || (received->len && !r) || (!s && !r))
		return 0;
	if (s == 2 && r < 2)
		*requests_sent = 1;
	else if (r == 2 && s < 2)
		*requests_sent = 0;
	if (s == 2 || r == 2)
		return s && r ? 95 : 80;
	if (s && r)
		return 45;
	/* "+OK" alone is a word of POP3, too. */
	return strchr("+-", *(s ? sent : received)->p) ? 15 : 25;
}

const struct l7_protocol l7_redis = {
	.name = "redis",
	.bid = redis_bid,
	.parse = redis_parse,
	.state_sz = sizeof(struct redis),
	.ports = {6379, 6380, 26379, 16379},
};
