/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recovers the order from silence. A client that sends a request after a pause much longer than its
 * response times has received all responses. This is accepted once the number outstanding has
 * returned to the same value several times and never fell below it; a client that paused with
 * responses unread would be noticed by then. Until then the messages since the silence are held in
 * `reqs` and `resps`, those before it in `old_reqs` and `old_resps`.
 */
#ifndef ANALYZE_L7_PAIR_SILENCE_H
#define ANALYZE_L7_PAIR_SILENCE_H

#include "analyze/l7/engine/pair_order.h"

/* Was there a long silence before that request? */
bool pair_silence_before(const struct pair_order *p, const struct l7_message *m);
/* Before a request that follows responses, while the order is unknown. */
void pair_silence_turn(struct pair_order *p, const struct l7_message *m);
/* Before a response: updates the response times. */
void pair_silence_response(struct pair_order *p, const struct l7_message *m);
/* Drops the assumption made from silence. */
void pair_silence_doubt(struct pair_order *p);

/* Delivers what was held before the last burst or silence, paired if its end is proven. */
void pair_silence_settle_old(struct pair_order *p, bool proven);

#endif
