/* SPDX-License-Identifier: BSD-2-Clause */
/* Secrets in HTTP/2 field values and bodies; redact_http2.c tracks the frames. */
#ifndef FORMAT_REDACT_HTTP2_H
#define FORMAT_REDACT_HTTP2_H

#include "format/hpack.h"
#include "format/redact/redact_conn.h"

/* A literal value: `raw` octets of the block. Those from `earlier` on are at offset `at` of the
 * call. */
struct redact_value {
	const uint8_t *raw;
	size_t sz, earlier, at;
	bool huffman, cut; /* cut: the value continues */
};

/* Masks secrets identified by names in the value. -ENOMEM: not decided. */
int redact_http2_value(struct redact_call *c, const struct redact_value *v);

/* Bodies of a direction, one stream at a time. */
struct redact_body {
	struct redact_field field;
	uint8_t carry[CARRY_MAX], carry_sz; /* possible start of a name */
	uint32_t stream;
};

void redact_http2_body(struct redact_body *b, struct redact_call *c, size_t at, size_t sz);

#endif
