/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks secrets in payload before it is written: the values of HTTP Authorization,
 * Proxy-Authorization, Cookie and Set-Cookie (HTTP/1 text and HPACK), commands and settings of
 * Redis that carry one, the logins of MySQL, PostgreSQL, Kafka and of what redactors.def names,
 * literals of statements that name a secret (redact_statement.c); with `sql`, all literals and
 * parameters of SQL. Lengths never change, and what carries a secret's length or name stays, so
 * that messages read as before. A secret may span calls, so calls are to be given in the order of
 * their bytes.
 *
 * Here, and not with the recorder, because it is what makes a payload record fit to be written,
 * whoever writes it: obrec from sockets, obana from packets. It knows neither.
 */
#ifndef FORMAT_REDACT_H
#define FORMAT_REDACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a connection carries over from call to call; NULL while that is nothing. */
struct redact_conn;

/* One call, or datagram: `len` bytes at position `pos` of direction `dir` (0 sent, 1 received), of
 * which the first `kept` are in `data`. Most hold no secret and are copied nowhere; of the others
 * `masked`, with room for as many, or `data` itself, gets all of them. */
struct redact_payload {
	unsigned dir;
	uint64_t pos;
	uint32_t len, kept;
	const uint8_t *data;
	uint8_t *masked;
};

/* True when something was masked: only then `masked` holds the call's bytes. The caller owns *conn,
 * and frees it with the connection. */
bool redact__apply(struct redact_conn **conn, bool sql, const struct redact_payload *p);
/* Bytes of a direction, right before the next call's, will never come: of what they began nothing
 * is carried. */
void redact__lost(struct redact_conn **conn, unsigned dir);
void redact_conn__free(struct redact_conn *conn);

#endif
