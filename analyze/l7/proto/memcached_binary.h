/* SPDX-License-Identifier: BSD-2-Clause */
/* memcached's binary protocol. */
#ifndef ANALYZE_L7_MEMCACHED_BINARY_H
#define ANALYZE_L7_MEMCACHED_BINARY_H

#include "analyze/l7/engine/l7.h"

/* `salt`: identifies the datagram; 0 for a stream. */
int64_t mc_binary(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
		  uint32_t salt);
/* Can the bytes be the header of a request or response? */
bool mc_binary_at(const uint8_t *p, size_t len, bool requests);

#endif
