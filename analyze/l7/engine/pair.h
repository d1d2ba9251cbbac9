/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests that wait for responses, by id or in order, as the protocol is. */
#ifndef ANALYZE_L7_PAIR_H
#define ANALYZE_L7_PAIR_H

#include "analyze/l7/engine/pair_id.h"
#include "analyze/l7/engine/pair_order.h"

/* Stays where it was initialised: its parts point to `out`. */
struct pair {
	bool by_id;
	struct pair_out out;
	union {
		struct pair_id ids;
		struct pair_order order;
	};
};

/* `late`: others may have come before the first. */
void pair_init(struct pair *p, const struct l7_protocol *protocol, bool late,
	       void (*sink)(void *ctx, const struct l7_exchange *x), void *ctx);
/* It stands elsewhere now. */
void pair_moved(struct pair *p, void *ctx);
/* Takes copies. Messages come in the order of time. */
void pair_add(struct pair *p, const struct l7_message *m);
const struct l7_message *pair_pending(struct pair *p, uint64_t id);
/* In order: what waits behind a message that pair_pending gave. */
const struct l7_message *pair_next(const struct l7_message *m);
/* By id: the request waits no longer. */
void pair_give_up(struct pair *p, uint64_t id);
/* Bytes of that direction were missed: L7_NOT_KEPT or L7_LOST. */
void pair_hole(struct pair *p, bool requests, enum l7_why why);
/* In order: the oldest request, the caller's to free; NULL: none waits. */
struct waiting *pair_take_oldest(struct pair *p);
/* The memory that what waits takes. */
size_t pair_held(const struct pair *p);
/* Hands out everything that waits. */
void pair_fini(struct pair *p);

#endif
