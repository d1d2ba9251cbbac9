/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that are answered in order, for parsers that number them. Each request gets an id, and a
 * response takes the id of the oldest. After a hole the parser decides which requests are lost; the
 * engine cannot know.
 */
#ifndef ANALYZE_L7_ORDER_H
#define ANALYZE_L7_ORDER_H

#include <stdlib.h>

#include "analyze/l7/engine/l7.h"

enum { ORDER_MAX = 65536 };

struct order_item {
	uint64_t id;
	unsigned kind; /* private to the parser */
};

struct order {
	struct order_item *items; /* items[first .. first + cnt) are waiting, oldest first */
	size_t first, cnt, cap;
	uint64_t last_id;
	bool pipelines; /* proven: a request was sent while another was waiting */
};

/* Adds a request and returns its id. 0: out of memory; the request will not be paired. */
uint64_t order_push(struct order *o, unsigned kind);
/* The oldest request; NULL: none is waiting. */
struct order_item *order_front(const struct order *o);
void order_pop(struct order *o);
/* Removes the i-th oldest request. */
void order_take(struct order *o, size_t i);
/* No response will come for any but the newest `keep` requests. */
void order_give_up(struct order *o, struct l7_parser *parser, size_t keep);

#endif
