/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memcached (github.com/memcached/memcached doc/protocol.txt): text and meta commands; the binary
 * protocol stands in memcached_binary.c.
 *
 *   get KEY ...\r\n                            VALUE KEY FLAGS BYTES [CAS]\r\n DATA\r\n ... END\r\n
 *   set KEY FLAGS TIME BYTES [noreply]\r\n DATA\r\n        STORED\r\n
 *   mg KEY FLAG ...\r\n                        VA BYTES FLAG ...\r\n DATA\r\n  HD ...  EN\r\n
 *   ms KEY BYTES FLAG ...\r\n DATA\r\n         HD  NS  EX  NF
 *
 * In order. noreply is one-way; meta's q is answered only where that says something
 * (memcached_pair.c), its O is an id. In UDP eight bytes stand in front of each datagram: request
 * id, number, count, 0 (16 bits each).
 */
#include <stdio.h>
#include <string.h>

#include "memcached.h"

enum { MAX_LINE = 1 << 17, MAX_ARGS = 24, MAX_WORD = 512, NAMES_MAX = 16 };

/* What stands behind the command. */
enum form {
	BARE,	    /* [anything] [noreply] */
	READ,	    /* keys */
	READ_1,	    /* time, keys */
	STORE,	    /* key flags time bytes [noreply] */
	CAS,	    /* key flags time bytes unique [noreply] */
	KEY,	    /* key [number] [noreply] */
	META,	    /* key flags */
	META_STORE, /* key bytes flags */
	SILENT,	    /* no answer */
};

static const struct command {
	const char *name;
	enum form form;
} commands[] = {
	{"get", READ},
	{"gets", READ},
	{"gat", READ_1},
	{"gats", READ_1},
	{"set", STORE},
	{"add", STORE},
	{"replace", STORE},
	{"append", STORE},
	{"prepend", STORE},
	{"cas", CAS},
	{"delete", KEY},
	{"incr", KEY},
	{"decr", KEY},
	{"touch", KEY},
	{"mg", META},
	{"md", META},
	{"ma", META},
	{"me", META},
	{"ms", META_STORE},
	{"mn", BARE},
	{"stats", BARE},
	{"version", BARE},
	{"flush_all", BARE},
	{"verbosity", BARE},
	{"quit", SILENT},
	{"shutdown", SILENT},
	{"slabs", BARE},
	{"lru", BARE},
	{"lru_crawler", BARE},
	{"watch", BARE},
	{"cache_memlimit", BARE},
	{"refresh_certs", BARE},
	{"extstore", BARE},
};

struct words {
	struct span v[MAX_ARGS];
	size_t cnt;   /* in v */
	size_t total; /* in the line */
};

/* ---- lines ---- */

/* Up to its end; 0 where that is not in view. */
static size_t line_size(const uint8_t *p, size_t len)
{
	const uint8_t *nl = memchr(p, '\n', len < MAX_LINE ? len : MAX_LINE);

	return nl ? nl - p + 1 : 0;
}

/* False: bytes that no command and no answer holds. */
static bool split(const uint8_t *p, size_t n, struct words *w)
{
	*w = (struct words){.cnt = 0};
	if (n && p[n - 1] == '\n')
		n -= n > 1 && p[n - 2] == '\r' ? 2 : 1;
	for (size_t i = 0; i < n;) {
		size_t begin = i;

		for (; i < n && p[i] != ' '; i++)
			if (p[i] < 0x20 || p[i] == 0x7f)
				return false;
		if (i > begin && w->total++ < MAX_ARGS)
			w->v[w->cnt++] = (struct span){(const char *)p + begin, i - begin};
		i++;
	}
	return true;
}

static bool number(struct span s, uint64_t *v)
{
	*v = 0;
	if (!s.len || s.len > 19)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		*v = *v * 10 + (s.p[i] - '0');
	}
	return true;
}

/* Times may lie in the past. */
static bool is_number(struct span s)
{
	uint64_t v;

	if (s.len && *s.p == '-')
		s.p++, s.len--;
	return number(s, &v);
}

static const struct command *command_of(struct span s)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (l7_is(s, commands[i].name))
			return &commands[i];
	return NULL;
}

static bool is_key(struct span s)
{
	return s.len && s.len <= MC_KEY_MAX;
}

/* The data behind the line, with its \r\n; false: the line is not as it must be. */
static bool data_size(const struct command *c, const struct words *w, uint64_t *n)
{
	size_t at = c->form == META_STORE ? 2 : 4;

	*n = 0;
	if (c->form != STORE && c->form != CAS && c->form != META_STORE)
		return true;
	if (w->cnt <= at || !is_key(w->v[1]) || !number(w->v[at], n) || *n > MC_VALUE_MAX) {
		*n = 0;
		return false;
	}
	*n += 2;
	return at == 2 || (is_number(w->v[2]) && is_number(w->v[3]));
}

/* As a client would write it. */
static bool well_formed(const struct command *c, const struct words *w)
{
	static const char *const flags = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	uint64_t n;

	switch (c->form) {
	case READ:
		return w->cnt > 1 && is_key(w->v[1]);
	case READ_1:
		return w->cnt > 2 && is_number(w->v[1]) && is_key(w->v[2]);
	case STORE:
	case CAS:
		return data_size(c, w, &n) && w->total >= (c->form == CAS ? 6u : 5u) &&
		       w->total <= (c->form == CAS ? 7u : 6u);
	case KEY:
		if (*c->name != 'd' || c->name[2] == 'c')
			return (w->total == 3 || w->total == 4) && is_key(w->v[1]) &&
			       is_number(w->v[2]);
		return w->total >= 2 && w->total <= 4 && is_key(w->v[1]);
	case META_STORE:
		if (!data_size(c, w, &n))
			return false;
		break;
	case META:
		if (w->cnt < 2 || !is_key(w->v[1]))
			return false;
		break;
	case BARE:
	case SILENT:
		return w->total <= 4;
	}
	for (size_t i = c->form == META ? 2 : 3; i < w->cnt; i++)
		if (!strchr(flags, *w->v[i].p))
			return false;
	return true;
}

/* ---- requests ---- */

static bool has_word(const struct words *w, size_t from, const char *text)
{
	for (size_t i = from; i < w->cnt; i++)
		if (l7_is(w->v[i], text))
			return true;
	return false;
}

/* The flag's argument; p NULL: it is not there. */
static struct span flag(const struct words *w, size_t from, char f)
{
	for (size_t i = from; i < w->cnt; i++)
		if (*w->v[i].p == f)
			return (struct span){w->v[i].p + 1, w->v[i].len - 1};
	return (struct span){NULL, 0};
}

/* All keys of one that reads several. */
static void name_keys(struct l7_parser *parser, const struct words *w, size_t from,
		      struct l7_message *m)
{
	char text[1024];
	size_t at = 0;

	for (size_t i = from; i < w->cnt && i < from + NAMES_MAX; i++) {
		struct span key = l7_json(parser, w->v[i], MC_KEY_MAX);
		int n = snprintf(text + at, sizeof(text) - at, "%s\"%s\"", i > from ? "," : "",
				 key.p);

		if (n < 0 || (size_t)n >= sizeof(text) - at)
			break;
		at += n;
	}
	m->detail =
		l7_text(parser, "{\"keys\":%zu,\"names\":[%.*s]}", w->total - from, (int)at, text);
}

static void meta_request(struct l7_parser *parser, const struct words *w, size_t from,
			 struct l7_message *m, struct mc_mark *mark)
{
	struct span opaque = flag(w, from, 'O');

	m->quiet = flag(w, from, 'q').p != NULL;
	if (opaque.len)
		mark->name = mc_hash(opaque, 'O');
	mark->key = mc_hash(w->v[1], 'k');
	if (opaque.len && m->quiet)
		m->detail = l7_text(parser, "{\"opaque\":\"%s\",\"quiet\":true}",
				    l7_json(parser, opaque, 32).p);
	else if (opaque.len)
		m->detail = l7_text(parser, "{\"opaque\":\"%s\"}", l7_json(parser, opaque, 32).p);
	else if (m->quiet)
		m->detail = l7_text(parser, "{\"quiet\":true}");
}

static void describe_request(struct l7_parser *parser, const struct command *c,
			     const struct words *w, struct l7_message *m, uint32_t salt)
{
	struct memcached *mc = parser->state;
	struct mc_mark mark = {.name = 0};
	size_t key = c->form == READ_1 ? 2 : 1;
	uint64_t keys = w->total > key ? 1 : 0;

	m->type = c->form == SILENT ? L7_ONEWAY : L7_REQUEST;
	m->method = l7_upper(w->v[0], mc->method, sizeof(mc->method));
	if (w->cnt > key && (c->form != BARE || l7_is(w->v[0], "stats")))
		m->target = l7_fold(w->v[key], mc->target, sizeof(mc->target));
	if (c->form == READ || c->form == READ_1) {
		keys = w->total > key ? w->total - key : 0;
		if (keys > 1)
			name_keys(parser, w, key, m);
	} else if (c->form == META || c->form == META_STORE) {
		if (w->cnt > 1)
			meta_request(parser, w, c->form == META ? 2 : 3, m, &mark);
	} else if (c->form != SILENT && w->total == w->cnt && has_word(w, w->cnt - 1, "noreply")) {
		m->type = L7_ONEWAY;
	}
	if (l7_is(w->v[0], "watch"))
		mc->watching = true;
	if (salt)
		mark.name = salt;
	m->id = ++mc->asked;
	m->note = mc_note(mark, keys);
}

/* A command of which the rest was not kept. */
static int64_t cut_request(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
			   uint32_t salt)
{
	const struct command *c;
	struct words w;

	/* A last word that may go on tells nothing. */
	if (!split(v->p, v->len, &w) || w.cnt < 2 || !(c = command_of(w.v[0])))
		return L7_BAD;
	if (w.cnt == w.total && w.cnt > 2) {
		w.cnt--;
		w.total--;
	}
	describe_request(parser, c, &w, m, salt);
	m->note = mc_note((struct mc_mark){.name = salt}, MC_KEYS_MAX);
	m->cut = true;
	return v->len;
}

static int64_t request(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
		       uint32_t salt)
{
	static const struct command other = {"", BARE};
	size_t n = line_size(v->p, v->len);
	const struct command *c;
	struct words w;
	uint64_t data;

	if (!n && v->len >= MAX_LINE)
		return L7_BAD;
	if (!n)
		return v->cut ? cut_request(parser, v, m, salt) : L7_PARTIAL;
	if (!split(v->p, n, &w) || !w.cnt || w.v[0].len > MAX_WORD)
		return L7_BAD;
	c = command_of(w.v[0]);
	/* The server answers ERROR to what it does not know; behind a hole it may be a value. */
	if (parser->after_hole && !(c && well_formed(c, &w)))
		return L7_BAD;
	if (!c)
		c = &other;
	if (!data_size(c, &w, &data) && data)
		data = 0;
	describe_request(parser, c, &w, m, salt);
	return n + data;
}

/* ---- responses ---- */

static const char *const plain_words[] = {
	"STORED",  "NOT_STORED", "EXISTS",   "NOT_FOUND", "DELETED",	  "TOUCHED",	 "OK",
	"RESET",   "BUSY",	 "BADCLASS", "NOSPARE",	  "NOTFULL",	  "UNSAFE",	 "SAME",
	"VERSION", "MN",	 "ME",	     "HD",	  "EN",		  "NS",		 "EX",
	"NF",	   "END",	 "VA",	     "ERROR",	  "CLIENT_ERROR", "SERVER_ERROR"};

/* Lines before the one that ends the answer. */
static bool is_row(const struct words *w)
{
	static const char *const rows[] = {"STAT", "ITEM", "PREFIX"};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (l7_is(w->v[0], rows[i]))
			return w->cnt > 1;
	return w->v[0].len > 4 && !memcmp(w->v[0].p, "key=", 4);
}

static bool is_value(const struct words *w, uint64_t *bytes)
{
	if (!l7_is(w->v[0], "VALUE") || w->total < 4 || w->total > 5 || !is_number(w->v[2]) ||
	    !number(w->v[3], bytes) || *bytes > MC_VALUE_MAX)
		return false;
	*bytes += 2;
	return w->total == 4 || is_number(w->v[4]);
}

static bool is_plain(const struct words *w)
{
	struct span s = w->v[0];
	uint64_t v;

	for (size_t i = 0; i < sizeof(plain_words) / sizeof(plain_words[0]); i++) {
		if (!l7_is(s, plain_words[i]))
			continue;
		if (l7_is(s, "VA"))
			return w->cnt > 1 && number(w->v[1], &v) && v <= MC_VALUE_MAX;
		return true;
	}
	return w->cnt == 1 && number(s, &v);
}

static bool is_meta(struct span s)
{
	return s.len == 2 && *s.p != 'O' && *s.p >= 'A' && *s.p <= 'Z';
}

/* Can a quiet command be answered so? */
static bool may(const struct l7_message *q, const void *ctx)
{
	struct span s = ((const struct words *)ctx)->v[0];

	if (s.len > 2)
		return s.p[s.len - 1] == 'R' && memmem(s.p, s.len, "ERROR", 5);
	if (l7_is(q->method, "MG"))
		return l7_is(s, "VA") || l7_is(s, "HD");
	if (l7_is(q->method, "MS"))
		return l7_is(s, "NS") || l7_is(s, "EX") || l7_is(s, "NF");
	/* Whether a quiet one is told of what it did not find depends on the server's version. */
	if (l7_is(q->method, "MA"))
		return l7_is(s, "NS") || l7_is(s, "EX") || l7_is(s, "NF");
	return l7_is(q->method, "MD") && (l7_is(s, "EX") || l7_is(s, "NF"));
}

static struct span text_span(const char *s)
{
	return (struct span){s, strlen(s)};
}

static struct span status_of(const struct memcached *mc, const struct words *w,
			     const struct l7_message *q)
{
	struct span s = w->v[0];
	uint64_t keys = q ? mc_keys(q) : 0;

	if (l7_is(s, "VA"))
		return text_span(q && !l7_is(q->method, "MG") ? "OK" : "HIT");
	if (l7_is(s, "HD") && q && l7_is(q->method, "MG"))
		return text_span("HIT");
	if (l7_is(s, "EN"))
		return text_span("MISS");
	if (*s.p >= '0' && *s.p <= '9')
		return text_span("OK");
	if (!l7_is(s, "END"))
		return s;
	if (q && (*q->method.p == 'S' || *q->method.p == 'L')) /* rows */
		return text_span("OK");
	if (!mc->got.hits)
		return text_span(q && *q->method.p == 'G' ? "MISS" : "END");
	return text_span(keys > 1 && keys < MC_KEYS_MAX && mc->got.hits < keys ? "PARTIAL" : "HIT");
}

static void describe_response(struct l7_parser *parser, const struct l7_view *v,
			      const struct words *w, struct l7_message *m, uint32_t salt)
{
	struct memcached *mc = parser->state;
	struct mc_mark mark = {.name = salt, .one = salt != 0};
	const struct l7_message *q;
	struct span s = w->v[0], opaque;

	m->type = L7_RESPONSE;
	if (is_meta(s)) {
		size_t from = l7_is(s, "VA") ? 2 : 1;
		struct span key = flag(w, from, 'k');

		opaque = flag(w, from, 'O');
		if (opaque.len && !l7_is(s, "ME"))
			mark.name = mc_hash(opaque, 'O');
		if (key.len && !l7_is(s, "ME"))
			mark.key = mc_hash(key, 'k');
		mark.one = mark.name || mark.key;
	}
	q = mc_choose(parser, mark, may, w, m);
	m->status = status_of(mc, w, q);
	m->is_error = s.len >= 5 && !memcmp(s.p + s.len - 5, "ERROR", 5);
	if (m->is_error && w->cnt > 1)
		m->detail = l7_text(
			parser, "{\"error\":\"%s\"}",
			l7_json(parser,
				(struct span){w->v[1].p, w->v[w->cnt - 1].p + w->v[w->cnt - 1].len -
								 w->v[1].p},
				200)
				.p);
	else if (q && mc_keys(q) > 1)
		m->detail = l7_text(parser, "{\"hits\":%llu}", (unsigned long long)mc->got.hits);
}

/* An answer of which the end was not kept. */
static int64_t end_unseen(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
			  uint64_t n, uint32_t salt)
{
	static const struct words end = {.v = {{"END", 3}}, .cnt = 1, .total = 1};
	struct memcached *mc = parser->state;

	describe_response(parser, v, &end, m, salt);
	if (mc->got.hits)
		m->status = text_span("HIT");
	m->detail = l7_text(parser, "{\"hits_seen\":%llu}", (unsigned long long)mc->got.hits);
	m->cut = true;
	mc_gather_end(&mc->got, m, v->known);
	return n ? (int64_t)n : (int64_t)v->len;
}

/* A value of `n` bytes from `at` on. Behind as many as were asked for
 * there is nothing but the end. */
static int64_t value_at(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
			uint64_t at, uint64_t n)
{
	static const struct words end = {.v = {{"END", 3}}, .cnt = 1, .total = 1};
	struct memcached *mc = parser->state;
	const struct l7_message *q = l7_pending(parser, 0);

	if (!mc->got.active)
		mc->got.hits = 0;
	mc->got.hits++;
	if (v->cut && at + n >= v->len && q && mc_keys(q) == mc->got.hits && *q->method.p == 'G') {
		describe_response(parser, v, &end, m, 0);
		mc_gather_end(&mc->got, m, at + n + 5);
		return at + n + 5;
	}
	if (v->cut && at + n >= v->len && at + n < v->known)
		return end_unseen(parser, v, m, v->len, 0);
	mc_gather_add(&mc->got, v, at + n);
	return at + n;
}

/* What is not the end of an answer: values, rows, a line of `watch`. 0: it is the end. */
static int64_t part(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
		    const struct words *w, size_t n)
{
	struct memcached *mc = parser->state;
	uint64_t bytes;

	if (is_value(w, &bytes))
		return value_at(parser, v, m, n, bytes);
	if (mc->watching && w->v[0].len > 3 && !memcmp(w->v[0].p, "ts=", 3)) {
		m->type = L7_ONEWAY;
		m->method = text_span("LOG");
		return n;
	}
	if (!is_row(w))
		return 0;
	mc_gather_add(&mc->got, v, n);
	return n;
}

/* A hole in the middle of an answer: what came of it stands for it. */
static void give_back(struct l7_parser *parser, enum l7_dir dir)
{
	struct memcached *mc = parser->state;
	struct l7_message m = {.type = L7_RESPONSE,
			       .first_ns = mc->got.first_ns,
			       .last_ns = mc->got.last_ns,
			       .size = mc->got.size,
			       .status = text_span(mc->got.hits ? "HIT" : "OK"),
			       .dir = dir};

	mc->got = (struct mc_gather){0};
	l7_deliver(parser, &m);
}

static int64_t response(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
			uint32_t salt)
{
	struct memcached *mc = parser->state;
	size_t n = line_size(v->p, v->len);
	struct words w;
	uint64_t value = 0;
	int64_t more;

	if (!n && v->len >= MAX_LINE)
		return L7_BAD;
	if (!n && v->cut && mc->got.active)
		return end_unseen(parser, v, m, 0, salt);
	if (!n)
		return L7_PARTIAL;
	if (!split(v->p, n, &w) || !w.cnt)
		return L7_BAD;
	more = part(parser, v, m, &w, n);
	if (more)
		return more;
	if (!is_plain(&w))
		return L7_BAD;
	if (l7_is(w.v[0], "VA")) {
		number(w.v[1], &value);
		value += 2;
	}
	describe_response(parser, v, &w, m, salt);
	mc_gather_end(&mc->got, m, n + value);
	return n + value;
}

/* ---- datagrams ---- */

static bool udp_head(const struct l7_view *v, uint16_t *id, uint16_t *number, uint16_t *count)
{
	struct l7_cursor c = l7_cursor(v);

	*id = l7_be(&c, 2);
	*number = l7_be(&c, 2);
	*count = l7_be(&c, 2);
	return !l7_be(&c, 2) && !c.cut && *number < *count && c.p < c.end;
}

/* All of an answer that is in this one; `more`: others go on with it, and are not looked at. A
 * server may as well send each value in a frame of its own. */
static void udp_response(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
			 uint32_t salt, bool more)
{
	struct memcached *mc = parser->state;
	struct l7_view rest = *v;
	int64_t n;

	if (*v->p == 0x81) {
		mc_binary(parser, v, m, salt);
		return;
	}
	if (mc->got_of != salt)
		mc->got = (struct mc_gather){0};
	mc->got_of = salt;
	rest.cut = false;
	while (m->type == L7_SKIP && rest.len) {
		n = response(parser, &rest, m, salt);
		if (n <= 0)
			break;
		n = (uint64_t)n > rest.len ? (int64_t)rest.len : n;
		rest.p += n;
		rest.len -= n;
	}
	if (m->type == L7_SKIP && mc->got.active && (more || v->cut))
		end_unseen(parser, v, m, 0, salt);
	if (m->type != L7_SKIP)
		m->size = 0;
	m->cut = false;
}

static int64_t datagram(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	uint16_t id, number, count;
	struct l7_view inner = *v;
	int64_t n;
	char text[6];
	uint32_t salt;

	if (!udp_head(v, &id, &number, &count))
		return L7_BAD;
	if (number)
		return v->known;
	memcpy(text, &id, 2);
	memcpy(text + 2, &v->peer, 4);
	salt = mc_hash((struct span){text, sizeof(text)}, 'U');
	inner.p += MC_UDP_HEAD;
	inner.len -= MC_UDP_HEAD;
	inner.known -= MC_UDP_HEAD;
	inner.datagram = false;
	if (!v->requests) {
		udp_response(parser, &inner, m, salt, count > 1);
		return v->known;
	}
	n = *inner.p == 0x80 ? mc_binary(parser, &inner, m, salt)
			     : request(parser, &inner, m, salt);
	m->cut = false;
	return n > 0 ? (int64_t)v->known : n;
}

static int64_t memcached_parse(struct l7_parser *parser, const struct l7_view *v,
			       struct l7_message *m)
{
	struct memcached *mc = parser->state;

	if (v->datagram)
		return datagram(parser, v, m);
	if (parser->after_hole && !v->requests && mc->got.active)
		give_back(parser, !l7_requests_dir(parser));
	if (*v->p == 0x80 || *v->p == 0x81)
		return mc_binary(parser, v, m, 0);
	return v->requests ? request(parser, v, m, 0) : response(parser, v, m, 0);
}

static void memcached_finish(struct l7_parser *parser)
{
	struct memcached *mc = parser->state;

	if (mc->got.active)
		give_back(parser, !l7_requests_dir(parser));
}

/* ---- bidding ---- */

/* 3: it can be nothing else, 2: a command or an answer as memcached's are, 1: other protocols have
 * such lines as well, 0: neither. */
static int request_at(const uint8_t *p, size_t len)
{
	size_t n = line_size(p, len);
	const struct command *c;
	struct words w;

	if (len && *p == 0x80)
		return mc_binary_at(p, len, true) ? 3 : 0;
	if (!split(p, n ? n : len, &w) || !w.cnt || !(c = command_of(w.v[0])))
		return 0;
	if (!n || n < 2 || p[n - 2] != '\r')
		return (c->form == READ || c->form == READ_1) && w.cnt > 1 ? 1 : 0;
	if (!well_formed(c, &w))
		return 0;
	return c->form == STORE || c->form == CAS || c->form == META_STORE || c->form == READ_1 ? 3
	       : c->form == META || c->form == READ						? 2
												: 1;
}

static int response_at(const uint8_t *p, size_t len)
{
	static const char *const own[] = {"STORED",    "NOT_STORED", "EXISTS",
					  "NOT_FOUND", "DELETED",    "TOUCHED"};
	size_t n = line_size(p, len);
	struct words w;
	uint64_t bytes;

	if (len && *p == 0x81)
		return mc_binary_at(p, len, false) ? 3 : 0;
	if (!n || n < 3 || p[n - 2] != '\r' || !split(p, n, &w) || !w.cnt)
		return 0;
	if (is_value(&w, &bytes))
		return 3;
	if (l7_is(w.v[0], "STAT"))
		return w.cnt > 2 ? 2 : 0;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (w.cnt == 1 && l7_is(w.v[0], own[i]))
			return 2;
	if (!is_plain(&w) && !is_row(&w))
		return 0;
	return l7_is(w.v[0], "VA") || l7_is(w.v[0], "CLIENT_ERROR") ||
			       l7_is(w.v[0], "SERVER_ERROR") || l7_is(w.v[0], "HD")
		       ? 2
		       : 1;
}

static void look(const struct l7_view *v, int *requests, int *responses)
{
	const uint8_t *p = v->p;
	size_t len = v->len;
	uint16_t id, number, count;

	*requests = *responses = 0;
	if (v->datagram) {
		if (!udp_head(v, &id, &number, &count))
			return;
		p += MC_UDP_HEAD;
		len -= MC_UDP_HEAD;
	}
	*requests = request_at(p, len);
	*responses = response_at(p, len);
}

/* Both sides as far as they can be told. */
static int both(int q, int a, bool q_empty, bool a_empty)
{
	if (q && a)
		return q + a > 3 ? 97 : q + a > 2 ? 80 : 55;
	if (q < 2 && a < 2)
		return 0;
	/* The other one may stand in the middle of a value. */
	if (q ? a_empty : q_empty)
		return (q | a) == 3 ? 80 : 55;
	return (q | a) == 3 ? 70 : 0;
}

static int memcached_bid(const struct l7_view *sent, const struct l7_view *received,
			 int *requests_sent)
{
	int sq, sa, rq, ra, client, server;

	look(sent, &sq, &sa);
	look(received, &rq, &ra);
	client = both(sq, ra, !sent->len, !received->len);
	server = both(rq, sa, !received->len, !sent->len);
	if (client || server)
		*requests_sent = client >= server;
	return client > server ? client : server;
}

/* A line that only memcached has. */
static size_t memcached_resync(const struct l7_view *v, size_t from)
{
	for (size_t i = from ? from - 1 : 0; i < v->len;) {
		const uint8_t *nl = memchr(v->p + i, '\n', v->len - i);

		if (!nl)
			break;
		i = nl - v->p + 1;
		if (v->requests ? request_at(v->p + i, v->len - i) > 1
				: response_at(v->p + i, v->len - i) > 1)
			return i;
	}
	return v->len;
}

const struct l7_protocol l7_memcached = {
	.name = "memcached",
	.bid = memcached_bid,
	.parse = memcached_parse,
	.resync = memcached_resync,
	.finish = memcached_finish,
	.state_sz = sizeof(struct memcached),
	.datagrams = true,
	.ports = {11211, 11212},
};
