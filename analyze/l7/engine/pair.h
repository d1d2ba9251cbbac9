/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs requests with responses, by id or in order, depending on the protocol. */
#ifndef ANALYZE_L7_PAIR_H
#define ANALYZE_L7_PAIR_H

#include "analyze/l7/engine/pair_id.h"
#include "analyze/l7/engine/pair_order.h"

/* Must not be moved after pair_init, because its parts point to `out`; see pair_moved. */
struct pair {
	bool by_id;
	struct pair_out out;
	union {
		struct pair_id ids;
		struct pair_order order;
	};
};

/* `late`: requests may have been sent before the first one seen. */
void pair_init(struct pair *p, const struct l7_protocol *protocol, bool late,
	       void (*sink)(void *ctx, const struct l7_exchange *x), void *ctx);
/* To be called after the struct was moved. */
void pair_moved(struct pair *p, void *ctx);
/* Copies the message. Messages come in time order. */
void pair_add(struct pair *p, const struct l7_message *m);
const struct l7_message *pair_pending(struct pair *p, uint64_t id);
/* In order: the request that waits after a message that pair_pending returned. */
const struct l7_message *pair_next(const struct l7_message *m);
/* By id: delivers the request unpaired. */
void pair_give_up(struct pair *p, uint64_t id);
/* Bytes of that direction were missed; why is L7_NOT_KEPT or L7_LOST. */
void pair_hole(struct pair *p, bool requests, enum l7_why why);
/* In order: removes the oldest request, which the caller frees. NULL: none is waiting. */
struct waiting *pair_take_oldest(struct pair *p);
/* Memory of the waiting messages. */
size_t pair_held(const struct pair *p);
/* Delivers everything that is waiting. */
void pair_fini(struct pair *p);

#endif
