/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the order of requests and responses is known: how it is lost and recovered, for
 * pair_order.c. */
#ifndef ANALYZE_L7_PAIR_KNOWN_H
#define ANALYZE_L7_PAIR_KNOWN_H

#include "analyze/l7/engine/pair_order.h"

/* The order is unknown from here on, except for the requests counted in sure_cnt. */
void pair_known_end(struct pair_order *p);
/* The order may be unknown: responses were missed although no request was waiting. It is known
 * again if the next request is seen without a hole before it. */
void pair_known_doubt(struct pair_order *p);
/* The order is unknown for all waiting requests. */
void pair_known_lose(struct pair_order *p, enum l7_why why);
/* The order was assumed to be known, but the assumption was wrong. */
void pair_known_retract(struct pair_order *p);

/* Does the client wait for all responses before it sends the next request? */
bool pair_known_bursts(const struct pair_order *p);

/* Number of outstanding requests, or PAIR_WINDOW_UNKNOWN. Negative: responses came whose requests
 * must have been missed. */
int64_t pair_known_outstanding(const struct pair_order *p);
/* Before a request: checks the assumed order against the turn before it. */
void pair_known_turn(struct pair_order *p);
/* Before a response: is the assumed order impossible? */
bool pair_known_contradicted(const struct pair_order *p);
/* Before a request or response: tries to recover the order. */
void pair_known_find(struct pair_order *p, bool request);

/* Before a request at the lowest level (pair_idle.h), while the order is unknown. */
void pair_known_idle(struct pair_order *p);
/* Before a response, which idle.level includes: recovers the order if idle moments tell. Not before
 * a request, because responses that were lost are noticed only at the next one. */
void pair_known_answered(struct pair_order *p);
/* The end: delivers the held responses with their requests, if idle moments tell. False: they do
 * not. */
bool pair_known_at_end(struct pair_order *p);

#endif
