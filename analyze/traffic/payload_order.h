/* SPDX-License-Identifier: BSD-2-Clause */
/* Payload as it lies in the archive, handed on in the order of time. */
#ifndef ANALYZE_PAYLOAD_ORDER_H
#define ANALYZE_PAYLOAD_ORDER_H

#include "analyze/l7/engine/l7.h"

struct payload_order;

/* feed gets each piece with the connection it was held for; 0 or negative errno, which ends the
 * release. */
int payload_order__new(struct payload_order **o,
		       int (*feed)(void *conn, const struct l7_piece *piece));
void payload_order__free(struct payload_order *o);

/* Takes a copy. */
int payload_order__hold(struct payload_order *o, void *conn, const struct l7_piece *piece);
/* Hands on what nothing older can come before any more; all of it at a capture's end. */
int payload_order__release(struct payload_order *o, bool all);
/* So much is held that half of it is to be handed on. */
bool payload_order__full(const struct payload_order *o);
uint64_t
payload_order__newest_ns(const struct payload_order *o); /* 0: none since a capture began */

#endif
