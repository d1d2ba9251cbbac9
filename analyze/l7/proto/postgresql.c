/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PostgreSQL frontend/backend protocol 3 (postgresql.org/docs/current/protocol.html).
 *
 *   startup   length:4  196608:4  name 0 value 0 ... 0     or a request code: SSL, GSS, cancel
 *   message   type:1  length:4 (big endian, itself included)  body
 *
 * A simple query (Q) is one request; its response ends with ReadyForQuery (Z). In the extended
 * protocol each Execute, with the preceding Parse, Bind and Describe, is one request. It is
 * answered by CommandComplete, EmptyQueryResponse, PortalSuspended or ErrorResponse. After an error
 * the server skips everything up to Sync. A batch without an Execute is one request, named after
 * its first message. The server only sends responses, so if only the first bytes of calls were
 * captured, a response ends with the next request, unless a later request is waiting (see order.h).
 */
#include "analyze/l7/proto/postgresql.h"

#include <stdlib.h>

#include "analyze/l7/proto/postgresql_message.h"

static int64_t postgresql_parse(struct l7_parser *parser, const struct l7_view *v,
				struct l7_message *m)
{
	struct postgresql *s = parser->state;

	return v->requests ? postgresql_request(s, parser, v, m)
			   : postgresql_response(s, parser, v, m);
}

static void postgresql_finish(struct l7_parser *parser)
{
	struct postgresql *s = parser->state;

	if (s->lost)
		postgresql_deliver_lost(s, parser);
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
