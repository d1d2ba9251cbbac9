/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks secrets in payload before it is written: the values of HTTP Authorization,
 * Proxy-Authorization, Cookie and Set-Cookie (HTTP/1 text and HPACK), Redis AUTH and HELLO, the
 * login packets of MySQL and PostgreSQL; with `sql`, literals in SQL text. The length never
 * changes. A secret may span calls: each connection's direction has a state.
 */
#ifndef RECORD_REDACT_H
#define RECORD_REDACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redact;

int redact__new(struct redact **r, bool sql);
void redact__free(struct redact *r);

/*
 * Masks in place in the first `kept` bytes of a call of `len` bytes at `pos` of that direction (0
 * sent, 1 received). True when something was masked.
 */
bool redact__apply(struct redact *r, uint32_t connection, unsigned dir, uint64_t pos, uint32_t len,
		   uint8_t *data, uint32_t kept);
void redact__forget(struct redact *r, uint32_t connection);

#endif
