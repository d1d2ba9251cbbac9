/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/text.h"
#include "analyze/l7/proto/cassandra_body.h"
#include "analyze/l7/proto/sqltext.h"

enum { SQL_SHOWN = 256 };

static const char *consistency(unsigned c)
{
	static const char *const names[] = {"ANY",    "ONE",	      "TWO",	      "THREE",
					    "QUORUM", "ALL",	      "LOCAL_QUORUM", "EACH_QUORUM",
					    "SERIAL", "LOCAL_SERIAL", "LOCAL_ONE"};

	return c < sizeof(names) / sizeof(names[0]) ? names[c] : NULL;
}

/* Skips what precedes the body, as its flags tell: tracing id, warnings, payload. */
static struct l7_cursor body_of(const struct cql_envelope *e)
{
	struct l7_cursor c = l7_cursor_at(e->p, e->have);

	if (e->response && e->flags & CQL_TRACING)
		l7_take(&c, 16);
	if (e->response && e->flags & CQL_WARNING)
		for (unsigned n = l7_be(&c, 2); n && !c.cut; n--)
			l7_take(&c, l7_be(&c, 2));
	if (e->flags & CQL_PAYLOAD)
		for (unsigned n = l7_be(&c, 2); n && !c.cut; n--) {
			int32_t sz;

			l7_take(&c, l7_be(&c, 2));
			sz = (int32_t)l7_be(&c, 4);
			l7_take(&c, sz > 0 ? sz : 0);
		}
	return c;
}

/* Reads a [long string], as far as it is present. */
static struct span statement(struct l7_cursor *c, bool *cut)
{
	uint32_t n = l7_be(c, 4);
	size_t left = l7_left(c);

	*cut = n > left;
	return l7_bytes(c, *cut ? left : n);
}

static struct span digest(struct cql_bodies *s, struct span sql, bool cut)
{
	return sql_digest(sql, SQL_CQL, cut, s->digest, sizeof(s->digest));
}

static void on_statement(struct cql_bodies *s, struct l7_parser *parser,
			 const struct cql_envelope *e, struct l7_cursor *c, struct l7_message *m)
{
	struct span sql;
	bool cut;
	const char *level = NULL;

	sql = statement(c, &cut);
	m->target = digest(s, sql, cut);
	if (e->opcode == CQL_QUERY && !cut)
		level = consistency(l7_be(c, 2));
	m->detail = l7_text(parser, "{\"sql\":\"%s\"%s%s%s}", l7_json(parser, sql, SQL_SHOWN).p,
			    level && !c->cut ? ",\"consistency\":\"" : "",
			    level && !c->cut ? level : "", level && !c->cut ? "\"" : "");
}

/* Looks up a prepared id; uses the id itself if its preparation was not seen. */
static void name_prepared(struct cql_bodies *s, struct l7_parser *parser, struct span id,
			  struct l7_message *m)
{
	const struct name *name = names_get(&s->prepared, id);
	char hex[17] = "";

	for (size_t i = 0; i < id.len && i < 8; i++)
		snprintf(hex + i * 2, 3, "%02x", (unsigned char)id.p[i]);
	m->target = name ? name->target : l7_text(parser, "prepared:%s" NAMES_UNSEEN, hex);
}

static void on_execute(struct cql_bodies *s, struct l7_parser *parser, const struct cql_envelope *e,
		       struct l7_cursor *c, struct l7_message *m)
{
	struct span id = l7_counted(c, 2);
	const char *level;

	if (c->cut)
		return;
	name_prepared(s, parser, id, m);
	if (e->version >= 5)
		l7_take(c, l7_be(c, 2));
	level = consistency(l7_be(c, 2));
	if (level && !c->cut)
		m->detail = l7_text(parser, "{\"consistency\":\"%s\"}", level);
}

/* type:1  count:2  then for each: 0 and its text, or 1 and its id; values */
static void on_batch(struct cql_bodies *s, struct l7_parser *parser, struct l7_cursor *c,
		     struct l7_message *m)
{
	static const char *const types[] = {"logged", "unlogged", "counter"};
	unsigned type = l7_be(c, 1), cnt = l7_be(c, 2), kind = l7_be(c, 1);
	struct span first;
	bool cut;

	if (c->cut)
		return;
	if (cnt && !kind) {
		first = statement(c, &cut);
		m->target = digest(s, first, cut);
	} else if (cnt) {
		first = l7_counted(c, 2);
		if (!c->cut)
			name_prepared(s, parser, first, m);
	}
	m->detail = l7_text(parser, "{\"statements\":%u,\"batch\":\"%s\"}", cnt,
			    type < 3 ? types[type] : "?");
}

void cql_add_flag(struct l7_parser *parser, struct l7_message *m, const char *flag)
{
	m->detail = m->detail.len ? l7_text(parser, "%.*s,\"%s\":true}", (int)m->detail.len - 1,
					    m->detail.p, flag)
				  : l7_text(parser, "{\"%s\":true}", flag);
}

void cql_request(struct cql_bodies *s, struct l7_parser *parser, const struct cql_envelope *e,
		 struct l7_message *m)
{
	struct l7_cursor c = body_of(e);
	const char *name = cql_opcode_name(e->opcode);

	m->type = L7_REQUEST;
	m->method = (struct span){name, strlen(name)};
	if (!(e->flags & CQL_COMPRESSED)) {
		if (e->opcode == CQL_QUERY || e->opcode == CQL_PREPARE)
			on_statement(s, parser, e, &c, m);
		else if (e->opcode == CQL_EXECUTE)
			on_execute(s, parser, e, &c, m);
		else if (e->opcode == CQL_BATCH)
			on_batch(s, parser, &c, m);
	}
}

static void on_error(struct l7_parser *parser, struct l7_cursor *c, struct l7_message *m)
{
	uint32_t code = l7_be(c, 4);
	const char *name = cql_error_name(code);
	size_t n = l7_be(c, 2), left = l7_left(c);
	struct span text = l7_bytes(c, n < left ? n : left);

	m->is_error = true;
	m->status = l7_text(parser, "0x%04" PRIx32, code);
	m->detail = l7_text(parser, "{\"name\":\"%s\",\"error\":\"%s\"}", name ?: "?",
			    l7_json(parser, text, 200).p);
}

static void on_prepared(struct cql_bodies *s, const struct l7_message *request, struct l7_cursor *c)
{
	struct span id = l7_counted(c, 2);

	if (!c->cut && id.len && request && l7_is(request->method, "PREPARE"))
		names_put(&s->prepared, id, (struct span){"EXECUTE", 7}, request->target);
}

/* Metadata: flags:4 columns:4; the number of rows follows if there are no column definitions (flag
 * 4). */
static void on_rows(struct l7_parser *parser, struct l7_cursor *c, struct l7_message *m)
{
	uint32_t flags = l7_be(c, 4), columns = l7_be(c, 4), rows;

	if (c->cut)
		return;
	m->detail = l7_text(parser, "{\"columns\":%u}", columns);
	if (!(flags & 4))
		return;
	if (flags & 2) { /* paging state */
		int32_t sz = (int32_t)l7_be(c, 4);

		l7_take(c, sz > 0 ? sz : 0);
	}
	if (flags & 8)
		l7_take(c, l7_be(c, 2));
	rows = l7_be(c, 4);
	if (!c->cut)
		m->detail = l7_text(parser, "{\"columns\":%u,\"rows\":%u}", columns, rows);
}

static void on_result(struct cql_bodies *s, struct l7_parser *parser, const struct l7_message *q,
		      struct l7_cursor *c, struct l7_message *m)
{
	static const char *const kinds[] = {"RESULT",	    "VOID",	"ROWS",
					    "SET_KEYSPACE", "PREPARED", "SCHEMA_CHANGE"};
	unsigned kind = l7_be(c, 4);

	m->status = (struct span){kinds[kind < 6 ? kind : 0], strlen(kinds[kind < 6 ? kind : 0])};
	if (kind == 2)
		on_rows(parser, c, m);
	else if (kind == 4)
		on_prepared(s, q, c);
}

void cql_response(struct cql_bodies *s, struct l7_parser *parser, const struct cql_envelope *e,
		  struct l7_message *m)
{
	struct l7_cursor c = body_of(e);
	const char *name = cql_opcode_name(e->opcode);
	const struct l7_message *q = l7_pending(parser, m->id);

	m->type = L7_RESPONSE;
	m->status = (struct span){name, strlen(name)};
	m->is_error = e->opcode == CQL_ERROR;
	if (e->opcode == CQL_EVENT) {
		m->type = L7_ONEWAY;
		m->method = m->status;
		m->status = (struct span){"", 0};
		m->id = 0;
	}
	if (e->flags & CQL_COMPRESSED)
		return;
	if (e->opcode == CQL_EVENT)
		m->target = l7_counted(&c, 2);
	else if (e->opcode == CQL_ERROR)
		on_error(parser, &c, m);
	else if (e->opcode == CQL_RESULT)
		on_result(s, parser, q, &c, m);
}
