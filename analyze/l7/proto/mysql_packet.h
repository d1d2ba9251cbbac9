/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of the MySQL protocol and the bid on them. */
#ifndef ANALYZE_L7_MYSQL_PACKET_H
#define ANALYZE_L7_MYSQL_PACKET_H

#include "analyze/l7/engine/l7.h"

enum mysql_command {
	COM_QUIT = 0x01,
	COM_INIT_DB = 0x02,
	COM_QUERY = 0x03,
	COM_FIELD_LIST = 0x04,
	COM_STATISTICS = 0x09,
	COM_PING = 0x0e,
	COM_CHANGE_USER = 0x11,
	COM_BINLOG_DUMP = 0x12,
	COM_STMT_PREPARE = 0x16,
	COM_STMT_EXECUTE = 0x17,
	COM_STMT_SEND_LONG_DATA = 0x18,
	COM_STMT_CLOSE = 0x19,
	COM_STMT_RESET = 0x1a,
	COM_STMT_FETCH = 0x1c,
	COM_BINLOG_DUMP_GTID = 0x1e,
	COM_RESET_CONNECTION = 0x1f,
	COM_STMT_BULK_EXECUTE = 0xfa, /* MariaDB */
	MYSQL_LOGIN = 0x100,	      /* not a command, but has the same response */
};

enum mysql_capability {
	MYSQL_CONNECT_WITH_DB = 1 << 3,
	MYSQL_COMPRESS = 1 << 5,
	MYSQL_PROTOCOL_41 = 1 << 9,
	MYSQL_SSL = 1 << 11,
	MYSQL_SECURE_CONNECTION = 1 << 15,
	MYSQL_AUTH_LENENC = 1 << 21,
	MYSQL_ZSTD = 1 << 26,
};

enum mysql_status { MYSQL_MORE_RESULTS = 8, MYSQL_CURSOR_EXISTS = 64 };

enum { MYSQL_MAX_PACKET = 0xffffff, MYSQL_LOOK = 32, MYSQL_LOOK_ERROR = 300 };

struct mysql_packet {
	uint32_t len;
	uint8_t seq;
	const uint8_t *p; /* payload, of which `have` bytes are in view */
	size_t have;
};

/* Is the packet at `off` complete enough to identify its type? */
enum mysql_at { MYSQL_PACKET, MYSQL_SHORT };
enum mysql_at mysql_packet_at(const struct l7_view *v, uint64_t off, struct mysql_packet *k);

bool mysql_is_eof(const struct mysql_packet *k);
unsigned mysql_eof_flags(const struct mysql_packet *k);

/* The text of a COM_QUERY, without query attributes; empty: not captured. */
struct span mysql_query_text(const struct mysql_packet *k);
/* An ERR instead of a greeting: no login follows. */
bool mysql_is_refusal(const struct mysql_packet *k);

uint64_t mysql_lenenc(struct l7_cursor *c);
struct span mysql_string(struct l7_cursor *c); /* up to its NUL or the end */

int mysql_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent);

#endif
