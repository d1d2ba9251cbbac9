/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "redact_impl.h"

/* Those who know a connection by what it begins with, in the order in which they are asked. */
static bool (*const redactors[])(struct redact_call *) = {
#define REDACTOR(name) redact_##name,
#include "redactors.def"
#undef REDACTOR
};

struct redact_side *redact_side(struct redact_call *c)
{
	if (!*c->conn)
		*c->conn = calloc(1, sizeof(**c->conn));
	return *c->conn ? &(*c->conn)->side[c->dir] : NULL;
}

void *redact_own(struct redact_call *c, enum redactor who, size_t sz)
{
	if (!redact_side(c))
		return NULL;
	if (!(*c->conn)->own[who])
		(*c->conn)->own[who] = calloc(1, sz);
	return (*c->conn)->own[who];
}

void redact_conn__free(struct redact_conn *conn)
{
	if (!conn)
		return;
	for (int i = 0; i < 2; i++)
		redact_http2_free(conn->side[i].http2);
	for (int i = 0; i < REDACTORS; i++)
		free(conn->own[i]);
	free(conn);
}

bool redact__apply(struct redact_conn **conn, bool sql, const struct redact_payload *p)
{
	struct redact_call c = {
		.p = p->data,
		.kept = p->kept < p->len ? p->kept : p->len,
		.len = p->len,
		.pos = p->pos,
		.dir = p->dir & 1,
		.sql = sql,
		.conn = conn,
	};

	bool known = false;

	for (int i = 0; i < REDACTORS && !known; i++)
		known = redactors[i](&c);
	if (!known && !redact_http2(&c) && !redact_sql(&c))
		redact_text(&c);
	if (*conn)
		(*conn)->side[c.dir].next = c.pos + c.len;
	return c.masked;
}
