/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks secrets in payload before it is written: the values of HTTP Authorization,
 * Proxy-Authorization, Cookie and Set-Cookie (HTTP/1 text and HPACK); commands and settings of
 * Redis that carry a secret; the logins of MySQL, PostgreSQL, Kafka and the protocols in
 * redactors.def; literals of statements that name a secret (redact_statement.c); with `sql`, all
 * SQL literals and parameters. Lengths never change, and the length and name of a secret are not
 * masked, so that messages still parse. A secret may span calls, so calls must be passed in stream
 * order.
 *
 * This code is in format/ because both obrec (payload from sockets) and obana (payload from
 * packets) need it before writing payload records. It depends on neither.
 */
#ifndef FORMAT_REDACT_H
#define FORMAT_REDACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* State of a connection between calls; NULL while there is none. */
struct redact_conn;

/*
 * One call or datagram: `len` bytes at position `pos` of direction `dir` (0 sent, 1 received), of
 * which the first `kept` are in `data`. Most calls contain no secret and are not copied. For the
 * others, all `kept` bytes are written to `masked`, which has room for them and may be equal to
 * `data`.
 */
struct redact_payload {
	unsigned dir;
	uint64_t pos;
	uint32_t len, kept;
	const uint8_t *data;
	uint8_t *masked;
};

/* Returns true when something was masked; only then `masked` contains the bytes of the call. The
 * caller owns *conn and frees it with the connection. */
bool redact__apply(struct redact_conn **conn, bool sql, const struct redact_payload *p);
/*
 * Bytes of a direction before the next call are missing: discards the state that depends on them.
 */
void redact__lost(struct redact_conn **conn, unsigned dir);
void redact_conn__free(struct redact_conn *conn);

#endif
