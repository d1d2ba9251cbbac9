/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the order is known: how that ends, and how it is found again, for pair_order.c. */
#ifndef ANALYZE_L7_PAIR_KNOWN_H
#define ANALYZE_L7_PAIR_KNOWN_H

#include "analyze/l7/engine/pair_order.h"

/* From here on it is not, but for those that are sure. */
void pair_known_end(struct pair_order *p);
/* It may not be: responses were missed that no request seen can have had. If the next request is
 * seen too, it is. */
void pair_known_doubt(struct pair_order *p);
/* Nor of any that waits. */
void pair_known_lose(struct pair_order *p, enum l7_why why);
/* It was taken for known, and never was. */
void pair_known_retract(struct pair_order *p);

/* Does the client ask on only when all answers have come? */
bool pair_known_bursts(const struct pair_order *p);

/* How many requests are outstanding, or PAIR_WINDOW_UNKNOWN; less than none: answers came to
 * requests that must have been missed. */
int64_t pair_known_outstanding(const struct pair_order *p);
/* Before a request: what the turn before it says against the order. */
void pair_known_turn(struct pair_order *p);
/* Before a response: what was taken for known is not possible. */
bool pair_known_contradicted(const struct pair_order *p);
/* Before a request or response: if the order is not known, is it now? */
void pair_known_find(struct pair_order *p, bool request);

#endif
