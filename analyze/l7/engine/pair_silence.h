/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What silence tells of the order: who asks after a pause that is long beside the answers has had
 * all of them. That is taken for so once the same number of requests came back to be answered
 * several times, and was never undercut: a pause of a client's own, with answers unread, would show
 * by then. Until that the messages since the silence are held in `reqs` and `resps`, those before
 * it in `old_reqs` and `old_resps`.
 */
#ifndef ANALYZE_L7_PAIR_SILENCE_H
#define ANALYZE_L7_PAIR_SILENCE_H

#include "analyze/l7/engine/pair_order.h"

/* Was it long before that request? */
bool pair_silence_before(const struct pair_order *p, const struct l7_message *m);
/* Before a request that follows answers, while the order is not known. */
void pair_silence_turn(struct pair_order *p, const struct l7_message *m);
/* Before a response: how long it took at least. */
void pair_silence_response(struct pair_order *p, const struct l7_message *m);
/* It tells nothing any longer. */
void pair_silence_doubt(struct pair_order *p);

/* What was held before the last burst or silence: its end is proven, or is not. */
void pair_silence_settle_old(struct pair_order *p, bool proven);

#endif
