/* SPDX-License-Identifier: BSD-2-Clause */
/* Text and meta commands, and their responses. */
#include <stdio.h>
#include <string.h>

#include "format/text.h"
#include "analyze/l7/proto/memcached_line.h"
#include "analyze/l7/proto/memcached_text.h"

enum { WORD_MAX = 512, NAMES_MAX = 16 };

/* ---- requests ---- */

static bool has_word(const struct mc_words *w, size_t from, const char *text)
{
	for (size_t i = from; i < w->cnt; i++)
		if (l7_is(w->v[i], text))
			return true;
	return false;
}

/* The argument of the flag; p NULL: the flag is absent. */
static struct span flag(const struct mc_words *w, size_t from, char f)
{
	for (size_t i = from; i < w->cnt; i++)
		if (*w->v[i].p == f)
			return (struct span){w->v[i].p + 1, w->v[i].len - 1};
	return (struct span){NULL, 0};
}

/* Lists all keys of a command that reads several. */
static void name_keys(struct l7_parser *parser, const struct mc_words *w, size_t from,
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

static void meta_request(struct l7_parser *parser, const struct mc_words *w, size_t from,
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

static void describe_request(struct l7_parser *parser, const struct mc_command *c,
			     const struct mc_words *w, struct l7_message *m, uint32_t salt)
{
	struct memcached *mc = parser->state;
	struct mc_mark mark = {.name = 0};
	size_t key = c->form == MC_READ_1 ? 2 : 1;
	uint64_t keys = w->total > key ? 1 : 0;

	m->type = c->form == MC_SILENT ? L7_ONEWAY : L7_REQUEST;
	m->method = l7_upper(w->v[0], mc->method, sizeof(mc->method));
	if (w->cnt > key && (c->form != MC_BARE || l7_is(w->v[0], "stats")))
		m->target = l7_fold(w->v[key], mc->target, sizeof(mc->target));
	if (c->form == MC_READ || c->form == MC_READ_1) {
		keys = w->total > key ? w->total - key : 0;
		if (keys > 1)
			name_keys(parser, w, key, m);
	} else if (c->form == MC_META || c->form == MC_META_STORE) {
		if (w->cnt > 1)
			meta_request(parser, w, c->form == MC_META ? 2 : 3, m, &mark);
	} else if (c->form != MC_SILENT && w->total == w->cnt &&
		   has_word(w, w->cnt - 1, "noreply")) {
		m->type = L7_ONEWAY;
	}
	if (l7_is(w->v[0], "watch"))
		mc->watching = true;
	if (salt)
		mark.name = salt;
	m->id = ++mc->asked;
	m->note = mc_note(mark, keys);
}

/* A command whose end was not captured. */
static int64_t cut_request(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
			   uint32_t salt)
{
	const struct mc_command *c;
	struct mc_words w;

	/* The last word may be incomplete, so it is ignored. */
	if (!mc_split(v->p, v->len, &w) || w.cnt < 2 || !(c = mc_command(w.v[0])))
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

int64_t mc_text_request(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
			uint32_t salt)
{
	static const struct mc_command other = {"", MC_BARE};
	size_t n = mc_line_size(v->p, v->len);
	const struct mc_command *c;
	struct mc_words w;
	uint64_t data;

	if (!n && v->len >= MC_LINE_MAX)
		return L7_BAD;
	if (!n)
		return v->cut ? cut_request(parser, v, m, salt) : L7_PARTIAL;
	if (!mc_split(v->p, n, &w) || !w.cnt || w.v[0].len > WORD_MAX)
		return L7_BAD;
	c = mc_command(w.v[0]);
	/* The server answers ERROR to unknown commands; after a hole the line may be part of a
	 * value. */
	if (parser->after_hole && !(c && mc_is_command(c, &w)))
		return L7_BAD;
	if (!c)
		c = &other;
	if (!mc_data_size(c, &w, &data) && data)
		data = 0;
	describe_request(parser, c, &w, m, salt);
	return n + data;
}

/* ---- responses ---- */

static bool is_meta(struct span s)
{
	return s.len == 2 && *s.p != 'O' && *s.p >= 'A' && *s.p <= 'Z';
}

/* Can a quiet command have this response? */
static bool may(const struct l7_message *q, const void *ctx)
{
	struct span s = ((const struct mc_words *)ctx)->v[0];

	if (s.len > 2)
		return s.p[s.len - 1] == 'R' && memmem(s.p, s.len, "ERROR", 5);
	if (l7_is(q->method, "MG"))
		return l7_is(s, "VA") || l7_is(s, "HD");
	if (l7_is(q->method, "MS"))
		return l7_is(s, "NS") || l7_is(s, "EX") || l7_is(s, "NF");
	/* Whether a miss of a quiet command is reported depends on the server's version. */
	if (l7_is(q->method, "MA"))
		return l7_is(s, "NS") || l7_is(s, "EX") || l7_is(s, "NF");
	return l7_is(q->method, "MD") && (l7_is(s, "EX") || l7_is(s, "NF"));
}

static struct span status_of(const struct memcached *mc, const struct mc_words *w,
			     const struct l7_message *q)
{
	struct span s = w->v[0];
	uint64_t keys = q ? mc_keys(q) : 0;

	if (l7_is(s, "VA"))
		return span_of(q && !l7_is(q->method, "MG") ? "OK" : "HIT");
	if (l7_is(s, "HD") && q && l7_is(q->method, "MG"))
		return span_of("HIT");
	if (l7_is(s, "EN"))
		return span_of("MISS");
	if (*s.p >= '0' && *s.p <= '9')
		return span_of("OK");
	if (!l7_is(s, "END"))
		return s;
	if (q && (*q->method.p == 'S' || *q->method.p == 'L')) /* rows */
		return span_of("OK");
	if (!mc->got.hits)
		return span_of(q && *q->method.p == 'G' ? "MISS" : "END");
	return span_of(keys > 1 && keys < MC_KEYS_MAX && mc->got.hits < keys ? "PARTIAL" : "HIT");
}

static void describe_response(struct l7_parser *parser, const struct l7_view *v,
			      const struct mc_words *w, struct l7_message *m, uint32_t salt)
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

int64_t mc_end_unseen(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
		      uint64_t n, uint32_t salt)
{
	static const struct mc_words end = {.v = {{"END", 3}}, .cnt = 1, .total = 1};
	struct memcached *mc = parser->state;

	describe_response(parser, v, &end, m, salt);
	if (mc->got.hits)
		m->status = span_of("HIT");
	m->detail = l7_text(parser, "{\"hits_seen\":%llu}", (unsigned long long)mc->got.hits);
	m->cut = true;
	mc_gather_end(&mc->got, m, v->known);
	return n ? (int64_t)n : (int64_t)v->len;
}

/* Parses a value of `n` bytes at `at`. After as many values as keys only the end can follow. */
static int64_t value_at(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
			uint64_t at, uint64_t n)
{
	static const struct mc_words end = {.v = {{"END", 3}}, .cnt = 1, .total = 1};
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
		return mc_end_unseen(parser, v, m, v->len, 0);
	mc_gather_add(&mc->got, v, at + n);
	return at + n;
}

/* Parses a part that does not end the response: values, rows, a line of `watch`. 0: it is the
 * end. */
static int64_t part(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
		    const struct mc_words *w, size_t n)
{
	struct memcached *mc = parser->state;
	uint64_t bytes;

	if (mc_is_value(w, &bytes))
		return value_at(parser, v, m, n, bytes);
	if (mc->watching && w->v[0].len > 3 && !memcmp(w->v[0].p, "ts=", 3)) {
		m->type = L7_ONEWAY;
		m->method = span_of("LOG");
		return n;
	}
	if (!mc_is_row(w))
		return 0;
	mc_gather_add(&mc->got, v, n);
	return n;
}

void mc_give_back(struct l7_parser *parser, enum l7_dir dir)
{
	struct memcached *mc = parser->state;
	struct l7_message m = {.type = L7_RESPONSE,
			       .first_ns = mc->got.first_ns,
			       .last_ns = mc->got.last_ns,
			       .size = mc->got.size,
			       .status = span_of(mc->got.hits ? "HIT" : "OK"),
			       .dir = dir};

	mc->got = (struct mc_gather){0};
	l7_deliver(parser, &m);
}

int64_t mc_text_response(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
			 uint32_t salt)
{
	struct memcached *mc = parser->state;
	size_t n = mc_line_size(v->p, v->len);
	struct mc_words w;
	uint64_t value = 0;
	int64_t more;

	if (!n && v->len >= MC_LINE_MAX)
		return L7_BAD;
	if (!n && v->cut && mc->got.active)
		return mc_end_unseen(parser, v, m, 0, salt);
	if (!n)
		return L7_PARTIAL;
	if (!mc_split(v->p, n, &w) || !w.cnt)
		return L7_BAD;
	more = part(parser, v, m, &w, n);
	if (more)
		return more;
	if (!mc_is_plain(&w))
		return L7_BAD;
	if (l7_is(w.v[0], "VA")) {
		mc_number(w.v[1], &value);
		value += 2;
	}
	describe_response(parser, v, &w, m, salt);
	mc_gather_end(&mc->got, m, n + value);
	return n + value;
}
