/* SPDX-License-Identifier: BSD-2-Clause */
/* Selects the redactors for the bytes of a call. */
#include <stdlib.h>

#include "format/redact/redact_conn.h"

/* Tries the redactors that recognise a connection by its first bytes. */
static bool is_known(struct redact_call *c)
{
	const struct redact_conn *conn;
	const uint8_t *p = c->p;
	const size_t sz = c->kept;
	const bool first = !c->pos;

	if (!sz)
		return false;
#define REDACTOR(name, begins)                                                                     \
	conn = *c->conn;                                                                           \
	if (((conn && conn->own[REDACT_##name]) || (begins)) && redact_##name(c))                  \
		return true;
#include "format/redact/redactors.def"
#undef REDACTOR
	return false;
}

void redact_conn__free(struct redact_conn *conn)
{
	if (!conn)
		return;
	for (int i = 0; i < 2; i++) {
		free(conn->side[i].text);
		free(conn->side[i].first);
		free(conn->side[i].packets);
		redact_http2_free(conn->side[i].http2);
	}
	for (int i = 0; i < REDACTORS; i++)
		free(conn->own[i]);
	free(conn);
}

/* Whether the connection has state for this side: a fast check, nearly always true when there is a
 * connection. */
static bool holds(const struct redact_conn *conn, const struct redact_side *s)
{
	for (int i = 0; i < REDACTORS; i++)
		if (conn->own[i])
			return true;
	return conn->http2 || conn->sql || s->text || s->first;
}

/* Frees state that is no longer needed. */
static void shrink(struct redact_conn **conn, struct redact_side *s)
{
	struct redact_conn nothing;

	if (s->first && !s->first->start_sz && !s->first->sniff_sz && !s->first->sniff_pos &&
	    !s->first->has_head) {
		free(s->first);
		s->first = NULL;
	}
	if (holds(*conn, s))
		return;
	memset(&nothing, 0, sizeof(nothing));
	for (int i = 0; i < 2; i++)
		nothing.side[i].next = (*conn)->side[i].next;
	if (!memcmp(*conn, &nothing, sizeof(nothing))) {
		free(*conn);
		*conn = NULL;
	}
}

bool redact__apply(struct redact_conn **conn, bool sql, const struct redact_payload *p)
{
	struct redact_call c = {
		.p = p->data,
		.out = p->masked,
		.all = p->kept,
		.kept = p->kept < p->len ? p->kept : p->len,
		.len = p->len,
		.pos = p->pos,
		.dir = p->dir & 1,
		.sql = sql,
		.conn = conn,
	};
	bool known = is_known(&c);

	if (!known && !redact_http2(&c) && !redact_sql(&c))
		redact_text(&c);
	if (*conn) {
		(*conn)->side[c.dir].next = c.pos + c.len;
		shrink(conn, &(*conn)->side[c.dir]);
	}
	return c.masked;
}
