/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that are answered in their order, for parsers that number them: each gets an id, the
 * response takes the id of the oldest. After a hole the parser decides which are lost, which the
 * engine could not know.
 */
#ifndef ANALYZE_L7_ORDER_H
#define ANALYZE_L7_ORDER_H

#include <stdlib.h>

#include "analyze/l7/engine/l7.h"

enum { ORDER_MAX = 65536 };

struct order_item {
	uint64_t id;
	unsigned kind; /* the parser's */
};

struct order {
	struct order_item *items; /* items[first .. first + cnt) wait, oldest first */
	size_t first, cnt, cap;
	uint64_t last_id;
	bool pipelines; /* proved: a request was sent while another waited */
};

/* A new request; its id. 0 without memory: it will not be paired. */
uint64_t order_push(struct order *o, unsigned kind);
/* NULL when none waits. */
struct order_item *order_front(const struct order *o);
void order_pop(struct order *o);
/* Takes the i-th oldest out. */
void order_take(struct order *o, size_t i);
/* All but the newest `keep` will have no response any more. */
void order_give_up(struct order *o, struct l7_parser *parser, size_t keep);

#endif
