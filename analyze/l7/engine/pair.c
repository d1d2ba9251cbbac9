/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/l7/engine/pair.h"
#include "analyze/l7/engine/pair_known.h"

void pair_init(struct pair *p, const struct l7_protocol *protocol, bool late,
	       void (*sink)(void *ctx, const struct l7_exchange *x), void *ctx)
{
	*p = (struct pair){.by_id = protocol->pair_by_id, .out = {.sink = sink, .ctx = ctx}};
	if (p->by_id) {
		p->ids = (struct pair_id){.out = &p->out};
		return;
	}
	p->order = (struct pair_order){.out = &p->out,
				       .late = late,
				       .asks_singly = protocol->asks_singly,
				       .doubtful_ns = {UINT64_MAX, UINT64_MAX},
				       .idle.lowest = INT64_MAX};
	if (late)
		pair_known_lose(&p->order, L7_LATE);
}

void pair_moved(struct pair *p, void *ctx)
{
	p->out.ctx = ctx;
	if (p->by_id)
		p->ids.out = &p->out;
	else
		p->order.out = &p->out;
}

void pair_add(struct pair *p, const struct l7_message *m)
{
	struct l7_exchange alone = {.request = m};

	switch (m->type) {
	case L7_REQUEST:
		if (p->by_id)
			pair_id_request(&p->ids, m);
		else
			pair_order_request(&p->order, m);
		break;
	case L7_RESPONSE:
		if (m->interim)
			break;
		if (p->by_id)
			pair_id_response(&p->ids, m);
		else
			pair_order_response(&p->order, m);
		break;
	case L7_ONEWAY:
		if (!p->by_id)
			p->order.missed.alone = true;
		if (!p->by_id && m->dir == L7_RECEIVED)
			p->order.idle.pushes = true;
		p->out.sink(p->out.ctx, &alone);
		break;
	case L7_SKIP:
		break;
	}
}

void pair_give_up(struct pair *p, uint64_t id)
{
	if (p->by_id)
		pair_id_give_up(&p->ids, id);
}

void pair_hole(struct pair *p, bool requests, enum l7_why why)
{
	if (p->by_id)
		pair_id_hole(&p->ids, requests, why);
	else
		pair_order_hole(&p->order, requests, why);
}

const struct l7_message *pair_pending(struct pair *p, uint64_t id)
{
	return p->by_id ? pair_id_pending(&p->ids, id) : pair_order_pending(&p->order);
}

const struct l7_message *pair_next(const struct l7_message *m)
{
	const struct waiting *w = (const void *)((const char *)m - offsetof(struct waiting, m));

	do
		w = w->next;
	while (w && w->missed);
	return w ? &w->m : NULL;
}

struct waiting *pair_take_oldest(struct pair *p)
{
	return p->by_id ? NULL : pair_order_take_oldest(&p->order);
}

void pair_fini(struct pair *p)
{
	if (p->by_id)
		pair_id_fini(&p->ids);
	else
		pair_order_fini(&p->order);
}

size_t pair_held(const struct pair *p)
{
	const struct pair_order *o = &p->order;

	if (p->by_id)
		return waiting_held(&p->ids.reqs) + p->ids.bucket_cnt * sizeof(*p->ids.buckets);
	return waiting_held(&o->reqs) + waiting_held(&o->resps) + waiting_held(&o->old_reqs) +
	       waiting_held(&o->old_resps);
}
