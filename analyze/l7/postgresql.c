/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PostgreSQL frontend/backend protocol 3 (postgresql.org/docs/current/protocol.html).
 *
 *   startup   length:4  196608:4  name 0 value 0 ... 0     or a request code: SSL, GSS, cancel
 *   message   type:1  length:4 (big endian, itself included)  body
 *
 * A simple query (Q) is one request, answered up to ReadyForQuery (Z). In the extended protocol
 * each Execute is one request (what was parsed, bound and described for it included), answered by
 * its CommandComplete, EmptyQueryResponse, PortalSuspended or ErrorResponse; after an error the
 * server skips all until Sync. A batch without an Execute is one request, named for what it began
 * with. As the server speaks only when asked, a response of which only heads were kept ends with
 * the next request, where no later one waits (see order.h).
 */
#include <stdio.h>
#include <string.h>

#include "names.h"
#include "order.h"
#include "postgresql_message.h"
#include "sqltext.h"

enum { SQL_KEPT = 2048, SQL_SHOWN = 256, DIGEST_MAX = 1024, KEY_MAX = 64 };

/* What waits for an answer. All but EXECUTE end with ReadyForQuery. */
enum waits { STARTUP, QUERY, EXECUTE, BATCH, SYNC };

struct response {
	bool active;
	uint64_t first_ns, last_ns, size, rows;
	bool is_error, has_rows, complete, copy;
	enum l7_dir dir;
	char status[32], text[200];
	size_t status_sz, text_sz;
};

/* The messages of the extended protocol since the last request was named. */
struct batch {
	bool begun, executes; /* executes: an Execute was seen since the last Sync */
	uint64_t first_ns, size;
	const char *begins_with;
	char key[2][KEY_MAX + 1]; /* portal or statement named last */
};

struct postgresql {
	bool tls_asked, lost;
	struct order order;
	struct names statements, portals;
	struct response resp;
	struct batch batch;
	char method[24], target[DIGEST_MAX + KEY_MAX];
	char sql[SQL_SHOWN];
	size_t method_sz, target_sz, sql_sz;
};

/* ---- responses ---- */

static void describe_response(struct postgresql *s, struct l7_parser *parser, struct l7_message *m,
			      uint64_t id)
{
	struct response *r = &s->resp;

	m->type = L7_RESPONSE;
	m->id = id;
	m->first_ns = r->first_ns;
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

/* The response of which the end was not kept, before the next request. */
static void deliver_lost(struct postgresql *s, struct l7_parser *parser)
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

/* Field type:1, text 0, ...: C is the SQLSTATE, M the message. */
static void on_error(struct response *r, struct l7_cursor c)
{
	if (r->is_error)
		return;
	r->is_error = true;
	r->status_sz = 0;
	while (c.p < c.end && *c.p) {
		char field = *c.p++;
		struct span text = pg_string(&c);

		if (field == 'C') {
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

/* After an error the server answers nothing up to Sync: those requests were skipped. */
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

/* Z: everything up to the request that asked for it is answered. True: m is its response. */
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

/* The answer to an Execute is whole. */
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

static void collect(struct postgresql *s, const struct l7_view *v, uint64_t size)
{
	struct response *r = &s->resp;

	if (!r->active) {
		enum l7_dir dir = v->requests ? L7_SENT : L7_RECEIVED;

		*r = (struct response){.active = true, .first_ns = v->ts_ns, .dir = dir};
	}
	r->last_ns = v->ts_ns;
	r->size += size;
}

/* One message; true: m is to be handed out. */
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
		collect(s, v, 1 + k->len);
		return on_ready(s, parser, m);
	default:
		break;
	}
	if (!asked)
		return false;
	collect(s, v, 1 + k->len);
	switch (k->type) {
	case 'E':
		on_error(&s->resp, c);
		if (!on_executed(s, parser, m))
			return false;
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

/* Requests before the last batch wait in vain: without pipelining their answers were lost. */
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

/* All of the view is messages, the last of them ReadyForQuery. */
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

/* Bytes were lost before this view: is it the rest of a response, or the next one? */
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
	/* A whole answer behind a hole, one batch waiting: the hole may have had its answer. */
	if (whole && !s->resp.active && !another && !sync_waits_twice(&s->order))
		order_give_up(&s->order, parser, 0);
	keep_newest_batch(s, parser);
	s->lost = !whole || s->resp.active;
}

/* The rest of a response with a gap: it ends with a call that ends with ReadyForQuery, or with the
 * next request. */
static int64_t lost_rest(struct postgresql *s, struct l7_parser *parser, const struct l7_view *v)
{
	bool ends = !v->cut && v->len >= 6 && pg_is_ready(v->p + v->len - 6);

	pass_lost(s, v);
	if (ends)
		deliver_lost(s, parser);
	return v->known;
}

static int64_t response(struct postgresql *s, struct l7_parser *parser, const struct l7_view *v,
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

/* ---- requests ---- */

static void set_sql(struct postgresql *s, struct span sql, bool cut)
{
	struct span w = sql_keyword(sql, SQL_POSTGRESQL, s->method, sizeof(s->method));

	s->method_sz = w.len;
	s->target_sz = sql_digest(sql, SQL_POSTGRESQL, cut, s->target, DIGEST_MAX).len;
	s->sql_sz = sql.len < SQL_SHOWN ? sql.len : SQL_SHOWN;
	memcpy(s->sql, sql.p, s->sql_sz);
}

static void set_named(struct postgresql *s, const struct name *name, const char *what,
		      struct span key)
{
	int n;

	s->sql_sz = 0;
	s->method_sz = 0;
	if (name) {
		s->method_sz =
			name->method.len < sizeof(s->method) ? name->method.len : sizeof(s->method);
		memcpy(s->method, name->method.p, s->method_sz);
		s->target_sz = name->target.len < DIGEST_MAX ? name->target.len : DIGEST_MAX;
		memcpy(s->target, name->target.p, s->target_sz);
		return;
	}
	n = snprintf(s->target, sizeof(s->target), "%s:%.*s", what,
		     (int)(key.len < KEY_MAX ? key.len : KEY_MAX), key.p);
	s->target_sz = n;
}

static struct span named_method(const struct postgresql *s, const char *other)
{
	return s->method_sz ? (struct span){s->method, s->method_sz}
			    : (struct span){other, strlen(other)};
}

static void emit(struct postgresql *s, struct l7_parser *parser, struct l7_message *m,
		 enum waits kind, struct span method)
{
	m->type = L7_REQUEST;
	m->method = method;
	m->target = (struct span){s->target, s->target_sz};
	if (s->sql_sz)
		m->detail = l7_text(parser, "{\"sql\":\"%s\"}",
				    l7_json(parser, (struct span){s->sql, s->sql_sz}, SQL_SHOWN).p);
	m->id = order_push(&s->order, kind);
	if (s->batch.begun) {
		m->first_ns = s->batch.first_ns;
		m->size = s->batch.size;
	}
	s->batch.begun = false;
	s->batch.size = 0;
}

/* 196608:4, name 0 value 0 ... 0 */
static int64_t startup(struct postgresql *s, struct l7_parser *parser, const struct l7_view *v,
		       struct l7_message *m)
{
	struct l7_cursor c = l7_cursor(v);
	uint32_t len = l7_be(&c, 4), code = l7_be(&c, 4);
	struct span user = {"", 0}, db = user, app = user;

	if (c.cut)
		return L7_PARTIAL;
	if (code == PG_SSL || code == PG_GSS) {
		s->tls_asked = true;
		return len;
	}
	if (code == PG_CANCEL) {
		m->type = L7_ONEWAY;
		m->method = (struct span){"CANCEL", 6};
		return len;
	}
	if (v->len < len && !v->cut && !v->last)
		return L7_PARTIAL;
	if (v->len > len)
		c.end = v->p + len;
	while (c.p < c.end && *c.p) {
		struct span name = pg_string(&c), value = pg_string(&c);

		if (l7_is(name, "user"))
			user = value;
		else if (l7_is(name, "database"))
			db = value;
		else if (l7_is(name, "application_name"))
			app = value;
	}
	m->type = L7_REQUEST;
	m->method = (struct span){"STARTUP", 7};
	m->target = user;
	m->detail = l7_text(parser, "{\"database\":\"%s\",\"application_name\":\"%s\"}",
			    l7_json(parser, db.len ? db : user, 64).p, l7_json(parser, app, 64).p);
	m->id = order_push(&s->order, STARTUP);
	return len;
}

static void on_parse(struct postgresql *s, const struct pg_message *k)
{
	struct l7_cursor c = {k->p, k->p + k->have, false};
	struct span key = pg_string(&c), sql = pg_string(&c);

	if (c.cut)
		return;
	set_sql(s, sql, c.p == c.end && k->have < k->len - 4);
	names_put(&s->statements, key, (struct span){s->method, s->method_sz},
		  (struct span){s->target, s->target_sz});
}

static void on_bind(struct postgresql *s, const struct pg_message *k)
{
	struct l7_cursor c = {k->p, k->p + k->have, false};
	struct span portal = pg_string(&c), key = pg_string(&c);
	char sql[SQL_SHOWN];
	size_t sql_sz = s->sql_sz;

	if (c.cut)
		return;
	/* The text is shown where it was sent: with the Parse of this batch. */
	memcpy(sql, s->sql, sql_sz);
	set_named(s, names_get(&s->statements, key), "stmt", key);
	memcpy(s->sql, sql, sql_sz);
	s->sql_sz = sql_sz;
	names_put(&s->portals, portal, (struct span){s->method, s->method_sz},
		  (struct span){s->target, s->target_sz});
}

static void on_close(struct postgresql *s, const struct pg_message *k)
{
	struct l7_cursor c = {k->p, k->p + k->have, false};
	unsigned what = l7_be(&c, 1);
	struct span key = pg_string(&c);

	if (!c.cut)
		names_remove(what == 'S' ? &s->statements : &s->portals, key);
}

static void extend_batch(struct postgresql *s, const struct l7_view *v, const struct pg_message *k,
			 const char *what)
{
	if (!s->batch.begun) {
		s->batch.begun = true;
		s->batch.first_ns = v->ts_ns;
		s->batch.size = 0;
		s->batch.begins_with = what;
		s->sql_sz = s->target_sz = s->method_sz = 0;
	}
	s->batch.size += 1 + (uint64_t)k->len;
}

static void on_execute(struct postgresql *s, struct l7_parser *parser, const struct pg_message *k,
		       struct l7_message *m)
{
	struct l7_cursor c = {k->p, k->p + k->have, false};
	struct span portal = pg_string(&c);
	const struct name *name = names_get(&s->portals, portal);
	size_t sql_sz = s->sql_sz;
	char sql[SQL_SHOWN];

	memcpy(sql, s->sql, sql_sz);
	set_named(s, name, "portal", portal);
	memcpy(s->sql, sql, sql_sz);
	s->sql_sz = sql_sz;
	s->batch.executes = true;
	emit(s, parser, m, EXECUTE, named_method(s, "EXECUTE"));
}

static void on_sync(struct postgresql *s, struct l7_parser *parser, const struct l7_view *v,
		    const struct pg_message *k, struct l7_message *m)
{
	if (s->batch.begun || !s->batch.executes) {
		extend_batch(s, v, k, "SYNC");
		emit(s, parser, m, BATCH,
		     (struct span){s->batch.begins_with, strlen(s->batch.begins_with)});
	} else {
		order_push(&s->order, SYNC);
	}
	s->batch.executes = false;
}

/* One message; true: m is to be handed out. */
static bool on_frontend(struct postgresql *s, struct l7_parser *parser, const struct l7_view *v,
			const struct pg_message *k, struct l7_message *m)
{
	struct l7_cursor c = {k->p, k->p + k->have, false};

	switch (k->type) {
	case 'Q':
		s->batch.begun = s->batch.executes = false;
		set_sql(s, pg_string(&c), k->have < k->len - 4);
		emit(s, parser, m, QUERY, named_method(s, "QUERY"));
		return true;
	case 'F':
		s->target_sz = s->sql_sz = 0;
		emit(s, parser, m, QUERY, (struct span){"FUNCTION", 8});
		return true;
	case 'X':
		m->type = L7_ONEWAY;
		m->method = (struct span){"TERMINATE", 9};
		return true;
	case 'P':
		extend_batch(s, v, k, "PARSE");
		on_parse(s, k);
		return false;
	case 'B':
		extend_batch(s, v, k, "BIND");
		on_bind(s, k);
		return false;
	case 'D':
		extend_batch(s, v, k, "DESCRIBE");
		return false;
	case 'C':
		extend_batch(s, v, k, "CLOSE");
		on_close(s, k);
		return false;
	case 'E':
		extend_batch(s, v, k, "EXECUTE");
		on_execute(s, parser, k, m);
		return true;
	case 'S':
		on_sync(s, parser, v, k, m);
		return m->type != L7_SKIP;
	default: /* COPY data, passwords, Flush */
		return false;
	}
}

/* The rest of the call was not kept: what was begun in it counts as one request. */
static int64_t cut_batch(struct postgresql *s, struct l7_parser *parser, const struct l7_view *v,
			 struct l7_message *m)
{
	if (s->batch.begun) {
		bool execute = s->batch.begins_with[0] != 'C';

		emit(s, parser, m, BATCH,
		     execute ? named_method(s, s->batch.begins_with)
			     : (struct span){s->batch.begins_with, 5});
	} else if (s->batch.executes) {
		order_push(&s->order, SYNC);
	}
	s->batch.executes = false;
	return v->known;
}

static int64_t request(struct postgresql *s, struct l7_parser *parser, const struct l7_view *v,
		       struct l7_message *m)
{
	uint64_t off = 0;

	if (s->lost)
		deliver_lost(s, parser);
	if (pg_is_startup(v))
		return startup(s, parser, v, m);
	while (off < v->len) {
		struct pg_message k;
		enum pg_at at = pg_message_at(v, off, PG_FRONTEND, &k);

		if (at == PG_NOT)
			return off ? (int64_t)off : L7_BAD;
		if (at == PG_SHORT && v->cut)
			return cut_batch(s, parser, v, m);
		if (at == PG_SHORT)
			return off;
		off += 1 + k.len;
		if (on_frontend(s, parser, v, &k, m))
			return off;
		if (v->cut && off >= v->len && off < v->known)
			return cut_batch(s, parser, v, m);
	}
	return off;
}

static int64_t postgresql_parse(struct l7_parser *parser, const struct l7_view *v,
				struct l7_message *m)
{
	struct postgresql *s = parser->state;

	return v->requests ? request(s, parser, v, m) : response(s, parser, v, m);
}

static void postgresql_finish(struct l7_parser *parser)
{
	struct postgresql *s = parser->state;

	if (s->lost)
		deliver_lost(s, parser);
}

static void postgresql_fini(void *state)
{
	struct postgresql *s = state;

	names_fini(&s->statements);
	names_fini(&s->portals);
	free(s->order.items);
}

const struct l7_protocol l7_postgresql = {
	.name = "postgresql",
	.bid = pg_bid,
	.parse = postgresql_parse,
	.finish = postgresql_finish,
	.state_sz = sizeof(struct postgresql),
	.fini = postgresql_fini,
	.pair_by_id = true,
	.ports = {5432, 5433, 6432},
};
