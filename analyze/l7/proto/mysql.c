/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MySQL and MariaDB client/server protocol (dev.mysql.com: "MySQL Client/Server Protocol";
 * mariadb.com/kb: "Clientserver Protocol").
 *
 *   packet    length:3 (little endian)  sequence:1  payload
 *   request   sequence 0: command:1, its arguments
 *   response  OK 00 | ERR ff | LOCAL INFILE fb | a result set: column count, columns, [EOF,] rows,
 *             EOF or OK fe; repeated while the status indicates more results
 *
 * Paired in order. The server only sends responses. If only the first bytes of calls were captured,
 * a response therefore ends where the next request begins, and is held until then. Whether EOF
 * packets are sent (CLIENT_DEPRECATE_EOF) is derived from the packets: an EOF has 5 bytes, the OK
 * that replaces it at least 7, and a row that begins with fe is longer than 16 MiB.
 */
#include "analyze/l7/proto/mysql.h"

#include <stdlib.h>

#include "analyze/l7/proto/mysql_packet.h"

static int64_t mysql_parse(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	struct mysql *s = parser->state;

	return v->requests ? mysql_request(s, parser, v, m) : mysql_response(s, parser, v, m);
}

static void mysql_finish(struct l7_parser *parser)
{
	mysql_deliver_lost(parser->state, parser);
}

static void mysql_fini(void *state)
{
	struct mysql *s = state;

	names_fini(&s->statements);
	free(s->order.items);
}

const struct l7_protocol l7_mysql = {
	.name = "mysql",
	.bid = mysql_bid,
	.parse = mysql_parse,
	.finish = mysql_finish,
	.state_sz = sizeof(struct mysql),
	.state_stays = true,
	.fini = mysql_fini,
	.pair_by_id = true,
	.ports = {3306, 3307, 33060, 4000},
};
