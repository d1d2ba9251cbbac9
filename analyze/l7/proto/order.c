/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "analyze/l7/proto/order.h"

uint64_t order_push(struct order *o, unsigned kind)
{
	if (o->first + o->cnt == o->cap) {
		size_t cap = o->cap ? o->cap * 2 : 16;
		void *p;

		if (o->first) {
			memmove(o->items, o->items + o->first, o->cnt * sizeof(*o->items));
			o->first = 0;
		} else if (o->cnt >= ORDER_MAX ||
			   !(p = realloc(o->items, cap * sizeof(*o->items)))) {
			return 0;
		} else {
			o->items = p;
			o->cap = cap;
		}
	}
	o->items[o->first + o->cnt++] = (struct order_item){++o->last_id, kind};
	return o->last_id;
}

struct order_item *order_front(const struct order *o)
{
	return o->cnt ? &o->items[o->first] : NULL;
}

void order_pop(struct order *o)
{
	o->first++;
	if (!--o->cnt)
		o->first = 0;
}

void order_take(struct order *o, size_t i)
{
	memmove(o->items + o->first + 1, o->items + o->first, i * sizeof(*o->items));
	order_pop(o);
}

void order_give_up(struct order *o, struct l7_parser *parser, size_t keep)
{
	while (o->cnt > keep) {
		l7_give_up(parser, order_front(o)->id);
		order_pop(o);
	}
}
