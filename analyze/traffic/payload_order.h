/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorts the payload of an archive by time. */
#ifndef ANALYZE_PAYLOAD_ORDER_H
#define ANALYZE_PAYLOAD_ORDER_H

#include "analyze/l7/engine/l7.h"

struct payload_order;

/* feed is called for each piece with the connection it was held for. It returns 0 or negative
 * errno, which ends the release. */
int payload_order__new(struct payload_order **o,
		       int (*feed)(void *conn, const struct l7_piece *piece));
void payload_order__free(struct payload_order *o);

/* Copies the piece. */
int payload_order__hold(struct payload_order *o, void *conn, const struct l7_piece *piece);
/* Passes on the pieces before which no older ones can come; with `all`, at the end of a capture,
 * every piece. */
int payload_order__release(struct payload_order *o, bool all);
/* The limit is reached: half of what is held is to be released. */
bool payload_order__full(const struct payload_order *o);
uint64_t
payload_order__newest_ns(const struct payload_order *o); /* 0: none since the capture began */

#endif
