/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "idmap.h"
#include "redact_impl.h"

struct redact {
	bool sql;
	struct idmap conns; /* only those that carry something over */
};

int redact__new(struct redact **r, bool sql)
{
	*r = calloc(1, sizeof(**r));
	if (!*r)
		return -ENOMEM;
	(*r)->sql = sql;
	return 0;
}

static void conn_free(struct redact_conn *conn)
{
	if (conn)
		redact_http2_fini(conn);
	free(conn);
}

void redact__free(struct redact *r)
{
	struct redact_conn *conn;

	if (!r)
		return;
	for (size_t i = 0; (conn = idmap_next(&r->conns, &i));)
		conn_free(conn);
	idmap_fini(&r->conns);
	free(r);
}

struct redact_conn *redact_state(struct redact *r, uint32_t connection)
{
	struct redact_conn *conn = idmap_get(&r->conns, connection);

	if (conn)
		return conn;
	conn = calloc(1, sizeof(*conn));
	if (conn && idmap_put(&r->conns, connection, conn)) {
		free(conn);
		return NULL;
	}
	return conn;
}

void redact__forget(struct redact *r, uint32_t connection)
{
	conn_free(idmap_del(&r->conns, connection));
}

bool redact__apply(struct redact *r, uint32_t connection, unsigned dir, uint64_t pos, uint32_t len,
		   uint8_t *data, uint32_t kept)
{
	struct redact_call c = {.p = data, .kept = kept, .len = len, .pos = pos, .sql = r->sql};
	struct redact_conn *conn = idmap_get(&r->conns, connection);

	dir &= 1;
	if (conn && conn->side[dir].mask_until > pos)
		redact_mask(&c, 0, conn->side[dir].mask_until - pos, '*');
	if (!redact_http2(r, connection, conn, dir, &c)) {
		redact_http1(r, connection, conn, dir, &c);
		redact_redis(r, connection, conn, dir, &c);
		redact_mysql(r, connection, conn, dir, &c);
		redact_postgresql(r, connection, dir, &c);
	}
	conn = idmap_get(&r->conns, connection);
	if (conn)
		conn->side[dir].next = pos + len;
	return c.masked;
}
