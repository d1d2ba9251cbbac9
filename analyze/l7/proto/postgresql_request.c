/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "analyze/l7/proto/postgresql.h"
#include "analyze/l7/proto/postgresql_message.h"
#include "analyze/l7/proto/sqltext.h"

static void set_sql(struct postgresql *s, struct span sql, bool cut)
{
	struct span w = sql_keyword(sql, SQL_POSTGRESQL, s->method, sizeof(s->method));

	s->method_sz = w.len;
	s->target_sz = sql_digest(sql, SQL_POSTGRESQL, cut, s->target, DIGEST_MAX).len;
	s->sql_sz = sql.len < SQL_SHOWN ? sql.len : SQL_SHOWN;
	memcpy(s->sql, sql.p, s->sql_sz);
}

static void set_named(struct postgresql *s, const struct name *name, const char *what,
		      const char *why, struct span key)
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
	n = snprintf(s->target, sizeof(s->target), "%s:%.*s%s", what,
		     (int)(key.len < KEY_MAX ? key.len : KEY_MAX), key.p, why);
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
	/* The SQL text is shown for the batch that contains its Parse. */
	memcpy(sql, s->sql, sql_sz);
	set_named(s, names_get(&s->statements, key), "stmt", NAMES_UNSEEN, key);
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
	set_named(s, name, "portal", "", portal);
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

static void grow(const struct postgresql *s, struct l7_parser *parser, const struct l7_view *v,
		 uint64_t size)
{
	const struct order_item *req = order_front(&s->order);

	if (req)
		l7_grow(parser, req->id, v, size);
}

/* Parses one message. True: m is complete. */
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
	case 'd':
		s->copying = true;
		grow(s, parser, v, 1 + (uint64_t)k->len);
		return false;
	default: /* end of COPY, passwords, Flush */
		return false;
	}
}

/* The rest of the call was not captured: what began in it counts as one request. */
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

int64_t postgresql_request(struct postgresql *s, struct l7_parser *parser, const struct l7_view *v,
			   struct l7_message *m)
{
	uint64_t off = 0;

	if (s->lost)
		postgresql_deliver_lost(s, parser);
	if (pg_is_startup(v))
		return startup(s, parser, v, m);
	/* The messages are not followed, because usually only the first bytes of calls are
	 * captured. The server's response ends the COPY. */
	if (s->copying) {
		grow(s, parser, v, v->known);
		return v->known;
	}
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
