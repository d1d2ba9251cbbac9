/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NATS client protocol (docs.nats.io reference/nats-protocol).
 *
 *   server   INFO {json}  MSG subject sid [reply] bytes  HMSG subject sid [reply] head bytes
 *            PING  PONG  +OK  -ERR 'text'
 *   client   CONNECT {json}  PUB subject [reply] bytes  HPUB subject [reply] head bytes
 *            SUB subject [queue] sid  UNSUB sid [max]  PING  PONG
 *
 * Published and delivered messages are one-way unless they name a reply subject. Then the first
 * message on that subject in the other direction is the response, so both directions carry
 * requests. PING and PONG are paired in order, per direction. With CONNECT's verbose option every
 * command is answered by +OK.
 */

#include <string.h>
#include <strings.h>

#include "analyze/l7/engine/l7.h"

enum { MAX_LINE = 1 << 16, MAX_WORDS = 6, ASKED_SLOTS = 4096 };
#define MAX_PAYLOAD (64u << 20)
/* Ids of pings, by direction, and of commands that wait for +OK. Other ids are hashes of
 * subjects. */
#define PING_ID 0x100000000ull
#define OK_ID 0x300000000ull
#define HASH_BIT (1ull << 63)

struct nats {
	bool verbose;
	uint32_t pings[2], pongs[2]; /* by sender of the PING: 1 is the client */
	uint32_t commands, oks;
	uint8_t asked[ASKED_SLOTS]; /* number of reply subjects waiting, by hash */
	char target[256];
};

struct line {
	struct span v[MAX_WORDS];
	size_t cnt, size; /* number of words; size including the line end */
	const struct verb *verb;
};

enum side { CLIENT = 1, SERVER = 2 };

static const struct verb {
	const char *name;
	uint8_t sides, min, max; /* min, max: arguments; max 0: JSON or text */
	bool payload, head;
} verbs[] = {
	{"PUB", CLIENT, 2, 3, true, false},
	{"HPUB", CLIENT, 3, 4, true, true},
	{"MSG", SERVER, 3, 4, true, false},
	{"HMSG", SERVER, 4, 5, true, true},
	{"SUB", CLIENT, 2, 3, false, false},
	{"UNSUB", CLIENT, 1, 2, false, false},
	{"INFO", SERVER, 1, 0, false, false},
	{"CONNECT", CLIENT, 1, 0, false, false},
	{"PING", CLIENT | SERVER, 0, 1, false, false},
	{"PONG", CLIENT | SERVER, 0, 1, false, false},
	{"+OK", SERVER, 0, 1, false, false},
	{"-ERR", SERVER, 1, 0, false, false},
};

static bool is_verb(struct span s, const char *name)
{
	return s.len == strlen(name) && !strncasecmp(s.p, name, s.len);
}

static bool number(struct span s, uint64_t *v)
{
	*v = 0;
	if (!s.len || s.len > 9)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		*v = *v * 10 + (s.p[i] - '0');
	}
	return true;
}

/* 1: a line, 0: its end is missing, -1: not a NATS line. */
static int read_line(const uint8_t *p, size_t len, enum side side, struct line *l)
{
	const uint8_t *nl = memchr(p, '\n', len < MAX_LINE ? len : MAX_LINE);
	size_t n = nl ? (size_t)(nl - p) : len, i = 0;

	*l = (struct line){.size = nl ? n + 1 : 0};
	if (n && p[n - 1] == '\r')
		n--;
	while (i < n && l->cnt < MAX_WORDS) {
		size_t begin = i;

		while (i < n && p[i] != ' ' && p[i] != '\t' && p[i] >= 0x20 && p[i] != 0x7f)
			i++;
		if (i < n && p[i] != ' ' && p[i] != '\t')
			return -1;
		if (i > begin)
			l->v[l->cnt++] = (struct span){(const char *)p + begin, i - begin};
		i++;
		if (l->cnt == 1 && !l->verb)
			for (size_t k = 0; k < sizeof(verbs) / sizeof(verbs[0]); k++)
				if (is_verb(l->v[0], verbs[k].name) && verbs[k].sides & side)
					l->verb = &verbs[k];
		if (l->cnt == 1 && (!l->verb || !l->verb->max))
			break; /* text may contain anything */
	}
	if (!nl && !l->verb)
		return len < 9 ? 0 : -1;
	if (!l->verb)
		return -1;
	if (!l->verb->max) {
		/* JSON, or the text of an error in quotes. */
		while (i < n && p[i] == ' ')
			i++;
		if (i < n && p[i] != (*l->v[0].p == '-' ? '\'' : '{'))
			return -1;
		l->v[1] = (struct span){(const char *)p + i, i < n ? n - i : 0};
		l->cnt = 2;
	} else if (nl && (l->cnt < 1u + l->verb->min || l->cnt > 1u + l->verb->max || i < n)) {
		return -1;
	}
	return nl != NULL;
}

/* *n: size of the payload after the line. False: the line is malformed. */
static bool payload_size(const struct line *l, uint64_t *n)
{
	uint64_t head;

	*n = 0;
	if (!l->verb->payload)
		return true;
	if (!number(l->v[l->cnt - 1], n) || *n > MAX_PAYLOAD)
		return false;
	if (l->verb->head && (!number(l->v[l->cnt - 2], &head) || head > *n))
		return false;
	*n += 2;
	return true;
}

/* ---- pairing ---- */

/* `asked`: direction of the request that waits on this subject. A connection may send requests to
 * itself. */
static uint64_t hash(struct span s, enum l7_dir asked)
{
	uint64_t h = 14695981039346656037ull;

	for (size_t i = 0; i < s.len; i++)
		h = (h ^ (unsigned char)s.p[i]) * 1099511628211ull;
	return (h << 1 | asked) | HASH_BIT;
}

static uint8_t *slot(struct nats *s, uint64_t id)
{
	return &s->asked[(id >> 20) % ASKED_SLOTS];
}

/* Is a request of the other direction waiting for a message on this subject? */
static bool is_awaited(struct l7_parser *parser, uint64_t id, enum l7_dir dir)
{
	struct nats *s = parser->state;
	const struct l7_message *q = *slot(s, id) ? l7_pending(parser, id) : NULL;

	if (!q || q->dir == dir)
		return false;
	--*slot(s, id);
	return true;
}

static void await(struct nats *s, uint64_t id)
{
	uint8_t *n = slot(s, id);

	*n += *n < 255;
}

static void ping(struct l7_parser *parser, bool client, bool is_ping, struct l7_message *m)
{
	struct nats *s = parser->state;

	if (is_ping) {
		m->type = L7_REQUEST;
		m->id = PING_ID * (client + 1ull) + s->pings[client]++;
		return;
	}
	/* Pings of the other side are answered in order. Those before the first one waiting were
	 * given up after a hole. */
	client = !client;
	m->status = (struct span){"PONG", 4};
	m->type = L7_RESPONSE;
	m->id = PING_ID * (client + 1ull) + s->pongs[client];
	if (s->pongs[client] != s->pings[client])
		s->pongs[client]++;
	else
		m->type = L7_ONEWAY;
}

/* After a hole it is unknown which ping or command the next response belongs to. */
static void forget(struct l7_parser *parser)
{
	struct nats *s = parser->state;

	for (int c = 0; c < 2; c++)
		while (s->pongs[c] != s->pings[c])
			l7_give_up(parser, PING_ID * (c + 1ull) + s->pongs[c]++);
	while (s->oks != s->commands)
		l7_give_up(parser, OK_ID + s->oks++);
}

/* ---- messages ---- */

/* "NATS/1.0 503" before the headers. */
static struct span head_status(const struct l7_view *v, const struct line *l)
{
	static const char version[] = "NATS/1.0 ";
	const char *p = (const char *)v->p + l->size;
	size_t len = v->len - l->size, n = sizeof(version) - 1, digits = 0;

	if (!l->verb->head || len < n + 3 || memcmp(p, version, n))
		return (struct span){"", 0};
	while (digits < 3 && p[n + digits] >= '0' && p[n + digits] <= '9')
		digits++;
	return digits == 3 ? (struct span){p + n, 3} : (struct span){"", 0};
}

static void message(struct l7_parser *parser, const struct l7_view *v, const struct line *l,
		    struct l7_message *m)
{
	struct nats *s = parser->state;
	size_t sid = *l->verb->name == 'M' || l->verb->name[1] == 'M', sizes = 1u + l->verb->head,
	       reply_at = 2 + sid;
	struct span reply = {"", 0}, status = head_status(v, l);
	enum l7_dir own = v->requests ? l7_requests_dir(parser) : !l7_requests_dir(parser);

	if (l->cnt == reply_at + sizes + 1)
		reply = l->v[reply_at];
	m->target = l7_fold(l->v[1], s->target, sizeof(s->target));
	m->id = hash(l->v[1], !own);
	m->status = status;
	m->is_error = status.len && *status.p >= '4';
	if (is_awaited(parser, m->id, own)) {
		m->type = L7_RESPONSE;
		if (!status.len)
			m->status = (struct span){"OK", 2};
		return;
	}
	m->type = L7_ONEWAY;
	if (!reply.len)
		return;
	m->type = L7_REQUEST;
	m->id = hash(reply, own);
	await(s, m->id);
	m->detail = l7_text(parser, "{\"reply\":\"%s\"%s}", l7_json(parser, reply, 200).p,
			    l->verb->head ? ",\"headers\":true" : "");
}

/* The default is verbose (nats-server server/client.go, defaultOpts). */
static bool is_verbose(const struct line *l)
{
	static const char name[] = "\"verbose\"";
	const char *end = l->v[1].p + l->v[1].len,
		   *p = memmem(l->v[1].p, l->v[1].len, name, sizeof(name) - 1);

	if (!p) /* unknown if its end was not captured, or was masked because of a password */
		return l->size && l->v[1].len > 1 && l->v[1].p[1] != '*';
	p += sizeof(name) - 1;
	while (p < end && (*p == ' ' || *p == ':'))
		p++;
	return end - p >= 4 && !memcmp(p, "true", 4);
}

static void command(struct l7_parser *parser, const struct line *l, struct l7_message *m)
{
	struct nats *s = parser->state;

	if (is_verb(l->v[0], "CONNECT"))
		s->verbose = is_verbose(l);
	if (is_verb(l->v[0], "SUB")) {
		m->target = l7_fold(l->v[1], s->target, sizeof(s->target));
		if (l->cnt == 4)
			m->detail = l7_text(parser, "{\"queue\":\"%s\"}",
					    l7_json(parser, l->v[2], 200).p);
	}
}

static void answer(struct l7_parser *parser, const struct line *l, struct l7_message *m)
{
	struct nats *s = parser->state;
	bool ok = *l->v[0].p == '+';

	m->is_error = !ok;
	m->status = ok ? (struct span){"OK", 2} : (struct span){"ERR", 3};
	if (!ok)
		m->detail = l7_text(parser, "{\"error\":\"%s\"}", l7_json(parser, l->v[1], 200).p);
	m->type = L7_ONEWAY;
	if (s->oks == s->commands || (!ok && !s->verbose))
		return;
	m->id = OK_ID + s->oks++;
	m->type = l7_pending(parser, m->id) ? L7_RESPONSE : L7_SKIP;
}

static void describe(struct l7_parser *parser, const struct l7_view *v, const struct line *l,
		     struct l7_message *m)
{
	struct nats *s = parser->state;

	m->method = (struct span){l->verb->name, strlen(l->verb->name)};
	m->type = L7_ONEWAY;
	if (*l->verb->name == '+' || *l->verb->name == '-') {
		answer(parser, l, m);
		return;
	}
	if (is_verb(l->v[0], "PING") || is_verb(l->v[0], "PONG")) {
		ping(parser, v->requests, l->verb->name[1] == 'I', m);
		return;
	}
	if (l->verb->payload)
		message(parser, v, l, m);
	else
		command(parser, l, m);
	if (!s->verbose || !v->requests)
		return;
	/* A message that has another response includes its +OK. */
	if (m->type == L7_ONEWAY) {
		m->type = L7_REQUEST;
		m->id = OK_ID + s->commands;
	}
	s->commands++;
}

static int64_t nats_parse(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	enum side side = v->requests ? CLIENT : SERVER;
	struct line l;
	uint64_t n;
	int got;

	if (parser->after_hole)
		forget(parser);
	got = read_line(v->p, v->len, side, &l);
	if (got < 0)
		return L7_BAD;
	if (!got) {
		if (v->len >= MAX_LINE)
			return L7_BAD;
		/* CONNECT and INFO are often longer than the captured bytes. */
		if (!v->cut || !l.verb || l.verb->max)
			return L7_PARTIAL;
		describe(parser, v, &l, m);
		m->cut = true;
		return v->len;
	}
	if (!payload_size(&l, &n))
		return L7_BAD;
	/* The status is in the payload. */
	if (l.verb->head && v->len < l.size + 12 && n >= 12 && !v->cut && !v->last)
		return L7_PARTIAL;
	describe(parser, v, &l, m);
	return l.size + n;
}

static size_t nats_resync(const struct l7_view *v, size_t from)
{
	enum side side = v->requests ? CLIENT : SERVER;

	for (size_t i = from ? from - 1 : 0; i < v->len;) {
		const uint8_t *nl = memchr(v->p + i, '\n', v->len - i);
		struct line l;
		uint64_t n;

		if (!nl)
			break;
		i = nl - v->p + 1;
		if (read_line(v->p + i, v->len - i, side, &l) > 0 && payload_size(&l, &n))
			return i;
	}
	return v->len;
}

/* ---- bidding ---- */

/* MSN Messenger also has a MSG with three words and a length. Its payload is a text with a header,
 * and is not followed by a line end. NATS clients use numbers as subscription ids. */
static bool is_messenger(const struct l7_view *v, const struct line *l)
{
	static const char mime[] = "MIME-Version:";
	size_t left = v->len - l->size, n = left < sizeof(mime) - 1 ? left : sizeof(mime) - 1;
	uint64_t sid;

	if (!is_verb(l->v[0], "MSG"))
		return false;
	return !number(l->v[2], &sid) || (n && !memcmp(v->p + l->size, mime, n));
}

/* 3: NATS only, 2: likely, 1: other protocols have such lines, too, 0: not NATS. */
static int looks_like(const struct l7_view *v, enum side side)
{
	struct line l;
	uint64_t n;
	int got;

	if (!v->len)
		return 0;
	got = read_line(v->p, v->len, side, &l);
	if (got < 0 || !l.verb || v->p[0] >= 'a')
		return 0;
	if (!got)
		return !l.verb->max && l.v[1].len ? 3 : 0;
	if (l.size < 3 || v->p[l.size - 2] != '\r' || !payload_size(&l, &n))
		return 0;
	if (is_messenger(v, &l))
		return 0;
	if (l.verb->payload) /* the payload is followed by a line end */
		return l.size + n > v->len || !memcmp(v->p + l.size + n - 2, "\r\n", 2) ? 3 : 0;
	if (is_verb(l.v[0], "PING") || is_verb(l.v[0], "PONG") || *l.v[0].p == '+')
		return 1;
	if (is_verb(l.v[0], "UNSUB") || is_verb(l.v[0], "SUB"))
		return number(l.v[l.cnt - 1], &n) || is_verb(l.v[0], "UNSUB") ? 2 : 0;
	return *l.v[0].p == '-' ? 2 : 3;
}

static int bid_of(int q, int a, bool q_empty, bool a_empty)
{
	if (q && a)
		return q + a > 3 ? 97 : q + a == 3 ? 80 : 0;
	if (q ? a_empty : q_empty)
		return (q | a) == 3 ? 85 : (q | a) == 2 ? 55 : 0;
	return (q | a) == 3 ? 72 : 0;
}

static int nats_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent)
{
	int client = bid_of(looks_like(sent, CLIENT), looks_like(received, SERVER), !sent->len,
			    !received->len),
	    server = bid_of(looks_like(received, CLIENT), looks_like(sent, SERVER), !received->len,
			    !sent->len);

	if (client != server)
		*requests_sent = client > server;
	return client > server ? client : server;
}

const struct l7_protocol l7_nats = {
	.name = "nats",
	.bid = nats_bid,
	.parse = nats_parse,
	.resync = nats_resync,
	.state_sz = sizeof(struct nats),
	.pair_by_id = true,
	.ports = {4222},
};
