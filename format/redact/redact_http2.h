/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP/2's secrets within field values and bodies; redact_http2.c follows the frames. */
#ifndef FORMAT_REDACT_HTTP2_H
#define FORMAT_REDACT_HTTP2_H

#include "format/hpack.h"
#include "format/redact/redact_conn.h"

/* A literal value, `raw` octets as they stand in the block, of which those from `earlier` on stand
 * at `at` of the call. */
struct redact_value {
	const uint8_t *raw;
	size_t sz, earlier, at;
	bool huffman, cut; /* cut: more of it follows */
};

/* Masks what names in it say is secret; -ENOMEM: cannot be told. */
int redact_http2_value(struct redact_call *c, const struct redact_value *v);

/* Bodies of a direction, one at a time. */
struct redact_body {
	struct redact_field field;
	uint8_t carry[CARRY_MAX], carry_sz; /* what may be a name's beginning */
	uint32_t stream;
};

void redact_http2_body(struct redact_body *b, struct redact_call *c, size_t at, size_t sz);

#endif
