/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "analyze/l7/proto/postgresql.h"
#include "analyze/l7/proto/postgresql_message.h"

static void describe_response(struct postgresql *s, struct l7_parser *parser, struct l7_message *m,
			      uint64_t id)
{
	struct response *r = &s->resp;

	m->type = L7_RESPONSE;
	m->id = id;
	m->first_ns = r->first_ns ? r->first_ns : r->last_ns;
	m->last_ns = r->last_ns;
	m->size = r->size;
	m->dir = r->dir;
	m->is_error = r->is_error;
	m->status = r->status_sz ? l7_text(parser, "%.*s", (int)r->status_sz, r->status)
				 : (struct span){"OK", 2};
	if (r->text_sz)
		m->detail = l7_text(
			parser, "{\"error\":\"%s\"}",
			l7_json(parser, (struct span){r->text, r->text_sz}, sizeof(r->text)).p);
	else if (s->lost)
		m->detail = (struct span){"{\"cut\":true}", 12};
	else if (r->has_rows)
		m->detail = l7_text(parser, "{\"rows\":%llu}", (unsigned long long)r->rows);
}

/* Delivers the response whose end was not captured, before the next request. */
void postgresql_deliver_lost(struct postgresql *s, struct l7_parser *parser)
{
	struct order_item *req = order_front(&s->order);
	struct l7_message m = {0};

	while (req && req->kind == SYNC) {
		order_pop(&s->order);
		req = order_front(&s->order);
	}
	if (s->resp.active && req && !s->order.pipelines) {
		describe_response(s, parser, &m, req->id);
		l7_deliver(parser, &m);
		order_pop(&s->order);
	}
	order_give_up(&s->order, parser, 0);
	s->resp = (struct response){0};
	s->lost = false;
}

/* Field type:1, text 0, ...: C is the SQLSTATE, M the message, S the localized severity, V the
 * severity in English. */
static void on_error(struct response *r, struct l7_cursor c)
{
	if (r->is_error)
		return;
	r->is_error = true;
	r->status_sz = 0;
	while (c.p < c.end && *c.p) {
		char field = *c.p++;
		struct span text = pg_string(&c);

		if (field == 'S' || field == 'V') {
			r->is_fatal |= l7_is(text, "FATAL") || l7_is(text, "PANIC");
		} else if (field == 'C') {
			r->status_sz = text.len < 5 ? text.len : 5;
			memcpy(r->status, text.p, r->status_sz);
		} else if (field == 'M') {
			r->text_sz = text.len < sizeof(r->text) ? text.len : sizeof(r->text);
			memcpy(r->text, text.p, r->text_sz);
		}
	}
	for (size_t i = 0; i < r->status_sz; i++)
		if (r->status[i] < '0' || r->status[i] > 'Z')
			r->status[i] = '?';
}

/* "SELECT 5", "INSERT 0 1", "CREATE TABLE": the words, and the last number. */
static void on_complete(struct response *r, struct span tag)
{
	size_t words = 0, i;
	uint64_t rows = 0;

	r->complete = true;
	if (r->is_error)
		return;
	while (words < tag.len && words < sizeof(r->status) &&
	       ((tag.p[words] >= 'A' && tag.p[words] <= 'Z') || tag.p[words] == ' '))
		words++;
	i = tag.len;
	while (i && tag.p[i - 1] >= '0' && tag.p[i - 1] <= '9')
		i--;
	if (i < tag.len && tag.len - i < 19) {
		for (; i < tag.len; i++)
			rows = rows * 10 + (tag.p[i] - '0');
		r->rows += rows;
		r->has_rows = true;
	}
	while (words && tag.p[words - 1] == ' ')
		words--;
	memcpy(r->status, tag.p, words);
	r->status_sz = words;
}

/* After an error the server skips the requests up to Sync without answering. */
static void skip_to_sync(struct postgresql *s, struct l7_parser *parser, const struct l7_view *v)
{
	struct order_item *req;

	while ((req = order_front(&s->order)) && req->kind == EXECUTE) {
		struct l7_message m = {.type = L7_RESPONSE,
				       .id = req->id,
				       .first_ns = v->ts_ns,
				       .last_ns = v->ts_ns,
				       .dir = s->resp.dir,
				       .is_error = true,
				       .status = {"skipped", 7}};

		l7_deliver(parser, &m);
		order_pop(&s->order);
	}
}

static bool sync_waits_twice(const struct order *o)
{
	size_t ends = 0;

	for (size_t i = 0; i < o->cnt && ends < 2; i++)
		ends += o->items[o->first + i].kind != EXECUTE;
	return ends > 1;
}

/* Z: all requests up to the one that caused it are answered. True: m is its response. */
static bool on_ready(struct postgresql *s, struct l7_parser *parser, struct l7_message *m)
{
	struct order_item *req;
	bool named = false;

	s->order.pipelines |= sync_waits_twice(&s->order);
	while ((req = order_front(&s->order)) && req->kind == EXECUTE) {
		l7_give_up(parser, req->id);
		order_pop(&s->order);
	}
	if (req && req->kind != SYNC) {
		describe_response(s, parser, m, req->id);
		named = true;
	}
	if (req)
		order_pop(&s->order);
	s->resp = (struct response){0};
	s->lost = false;
	return named;
}

/* The response to an Execute is complete. */
static bool on_executed(struct postgresql *s, struct l7_parser *parser, struct l7_message *m)
{
	struct order_item *req = order_front(&s->order);

	if (!req || req->kind != EXECUTE)
		return false;
	describe_response(s, parser, m, req->id);
	order_pop(&s->order);
	s->resp.active = false;
	return true;
}

/* The connection ends with this error (54.2.9), as with any error during login. No ReadyForQuery
 * follows. */
static bool on_fatal(struct postgresql *s, struct l7_parser *parser, struct l7_message *m)
{
	const struct order_item *req = order_front(&s->order);

	if (!s->resp.is_fatal && !(req && req->kind == STARTUP))
		return false;
	return on_ready(s, parser, m);
}

static void collect(struct postgresql *s, const struct l7_view *v, uint64_t size)
{
	struct response *r = &s->resp;

	if (!r->active) {
		enum l7_dir dir = v->requests ? L7_SENT : L7_RECEIVED;

		*r = (struct response){.active = true, .first_ns = v->ts_ns, .dir = dir};
	}
	if (!r->first_ns)
		r->first_ns = v->ts_ns;
	r->last_ns = v->ts_ns;
	r->size += size;
}

/* Parses one message. True: m is complete. */
static bool on_message(struct postgresql *s, struct l7_parser *parser, const struct pg_message *k,
		       const struct l7_view *v, struct l7_message *m)
{
	struct l7_cursor c = {k->p, k->p + k->have, false};
	bool asked = order_front(&s->order) != NULL;

	switch (k->type) {
	case 'A': /* process id:4, channel, payload */
		l7_take(&c, 4);
		m->type = L7_ONEWAY;
		m->method = (struct span){"NOTIFY", 6};
		m->target = pg_string(&c);
		m->first_ns = v->ts_ns;
		m->size = 1 + k->len;
		return true;
	case 'N':
	case 'S':
		if (asked)
			collect(s, v, 1 + k->len);
		return false;
	case 'Z':
		s->copying = false;
		collect(s, v, 1 + k->len);
		return on_ready(s, parser, m);
	default:
		break;
	}
	if (!asked)
		return false;
	collect(s, v, 1 + k->len);
	s->copying = k->type == 'G' || k->type == 'W' || (s->copying && !strchr("CEZ", k->type));
	switch (k->type) {
	case 'G': /* requests COPY data; the response comes after it */
		s->resp.first_ns = 0;
		return false;
	case 'E':
		on_error(&s->resp, c);
		if (!on_executed(s, parser, m))
			return on_fatal(s, parser, m);
		skip_to_sync(s, parser, v);
		return true;
	case 'C':
		on_complete(&s->resp, pg_string(&c));
		return on_executed(s, parser, m);
	case 'I':
		on_complete(&s->resp, (struct span){"EMPTY", 5});
		return on_executed(s, parser, m);
	case 's':
		on_complete(&s->resp, (struct span){"SUSPENDED", 9});
		return on_executed(s, parser, m);
	default:
		return false;
	}
}

static int64_t pass_lost(struct postgresql *s, const struct l7_view *v)
{
	s->lost = true;
	if (order_front(&s->order))
		collect(s, v, v->known);
	return v->known;
}

/* Gives up requests before the last batch: without pipelining their responses were lost. */
static void keep_newest_batch(struct postgresql *s, struct l7_parser *parser)
{
	const struct order *o = &s->order;
	size_t n = o->cnt;

	while (n && o->items[o->first + n - 1].kind == EXECUTE)
		n--;
	n -= n != 0;
	while (n && o->items[o->first + n - 1].kind == EXECUTE)
		n--;
	order_give_up(&s->order, parser, o->pipelines ? 0 : o->cnt - n);
}

/* Does the view consist of complete messages, the last of them ReadyForQuery? */
static bool is_whole_answer(const struct l7_view *v)
{
	struct pg_message k;
	uint64_t off = 0;

	if (v->cut || v->len < 6 || !pg_is_ready(v->p + v->len - 6))
		return false;
	while (off < v->len && pg_message_at(v, off, PG_BACKEND, &k) == PG_MESSAGE)
		off += 1 + (uint64_t)k.len;
	return off == v->len;
}

/* Bytes before this view were lost: does it continue a response, or begin the next one? */
static void after_hole(struct postgresql *s, struct l7_parser *parser, const struct l7_view *v)
{
	bool whole = is_whole_answer(v), another = false;

	if (s->resp.active && whole && sync_waits_twice(&s->order)) {
		struct l7_message m = {0};

		s->lost = true;
		describe_response(s, parser, &m, order_front(&s->order)->id);
		l7_deliver(parser, &m);
		order_pop(&s->order);
		s->resp = (struct response){0};
		another = true;
	}
	/* A complete response after a hole while one batch is waiting: its response may have been
	 * in the hole. */
	if (whole && !s->resp.active && !another && !sync_waits_twice(&s->order))
		order_give_up(&s->order, parser, 0);
	keep_newest_batch(s, parser);
	s->lost = !whole || s->resp.active;
}

/* The rest of a response with a gap. It ends with a call that ends with ReadyForQuery, or with the
 * next request. */
static int64_t lost_rest(struct postgresql *s, struct l7_parser *parser, const struct l7_view *v)
{
	bool ends = !v->cut && v->len >= 6 && pg_is_ready(v->p + v->len - 6);

	pass_lost(s, v);
	s->copying &= !ends;
	if (ends)
		postgresql_deliver_lost(s, parser);
	return v->known;
}

int64_t postgresql_response(struct postgresql *s, struct l7_parser *parser, const struct l7_view *v,
			    struct l7_message *m)
{
	uint64_t off = 0;

	if (s->tls_asked && (*v->p == 'S' || *v->p == 'N' || *v->p == 'G') && v->known == 1) {
		s->tls_asked = false;
		m->opaque_after = *v->p != 'N';
		return 1;
	}
	if (parser->after_hole && !s->lost)
		after_hole(s, parser, v);
	if (s->lost)
		return lost_rest(s, parser, v);
	while (off < v->len) {
		struct pg_message k;
		enum pg_at at = pg_message_at(v, off, PG_BACKEND, &k);

		if (at == PG_NOT && !off)
			return L7_BAD;
		if (at == PG_NOT || (at == PG_SHORT && v->cut))
			return pass_lost(s, v);
		if (at == PG_SHORT)
			return off;
		off += 1 + k.len;
		if (on_message(s, parser, &k, v, m))
			return off;
		if (v->cut && off >= v->len && off < v->known)
			return pass_lost(s, v);
	}
	return off;
}
