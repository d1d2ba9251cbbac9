/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/pcap/pcap_flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "format/redact/redact.h"
#include "analyze/pcap/pcap_undecided.h"

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 33) * 0xff51afd7ed558ccdULL;
	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

uint64_t endpoint_hash(const struct endpoint *e, uint64_t seed)
{
	uint64_t a, b;

	memcpy(&a, e->addr, 8);
	memcpy(&b, e->addr + 8, 8);
	return mix(mix(a ^ seed) ^ b ^ (uint64_t)e->port << 48);
}

/* The bucket is the same for both directions. */
static struct flow **bucket(const struct flow_table *t, const struct endpoint *a,
			    const struct endpoint *b, uint8_t proto, uint64_t net)
{
	uint64_t h = endpoint_hash(a, t->seed) + endpoint_hash(b, t->seed) + proto + net;

	return &t->buckets[mix(h) & (t->bucket_cnt - 1)];
}

int flow_table__init(struct flow_table *t, const struct flow_limits *l, flow_gone_fn gone,
		     void *ctx)
{
	*t = (struct flow_table){.limits = *l, .gone = gone, .ctx = ctx, .bucket_cnt = 64};
	/* A random seed, so that the author of a capture cannot cause hash collisions. */
	if (getrandom(&t->seed, sizeof(t->seed), 0) != sizeof(t->seed))
		return -EIO;
	t->buckets = calloc(t->bucket_cnt, sizeof(*t->buckets));
	return t->buckets ? 0 : -ENOMEM;
}

static void grow(struct flow_table *t)
{
	struct flow **old = t->buckets, *f, *next;
	uint32_t cnt = t->bucket_cnt;
	struct flow **buckets = calloc(cnt * 2, sizeof(*buckets));

	if (!buckets)
		return; /* keep the table; longer chains work, too */
	t->buckets = buckets;
	t->bucket_cnt = cnt * 2;
	for (uint32_t i = 0; i < cnt; i++)
		for (f = old[i]; f; f = next) {
			struct flow **b = bucket(t, &f->end[0], &f->end[1], f->proto, f->net);

			next = f->chain;
			f->chain = *b;
			*b = f;
		}
	free(old);
}

struct flow *flow_table__find(struct flow_table *t, const struct packet *pk)
{
	struct flow *f = *bucket(t, &pk->from, &pk->to, pk->proto, pk->net);

	for (; f; f = f->chain) {
		bool forth = endpoint_equal(&f->end[0], &pk->from) &&
			     endpoint_equal(&f->end[1], &pk->to);
		bool back = endpoint_equal(&f->end[1], &pk->from) &&
			    endpoint_equal(&f->end[0], &pk->to);

		if (f->proto == pk->proto && f->net == pk->net && (forth || back))
			return f;
	}
	return NULL;
}

void flow_swap(struct flow *f)
{
	const struct endpoint end = f->end[0];
	const struct tcp_side side = f->side[0];
	const struct flow_window window = f->window[0];
	uint64_t position = f->position[0];

	f->end[0] = f->end[1];
	f->end[1] = end;
	f->side[0] = f->side[1];
	f->side[1] = side;
	f->window[0] = f->window[1];
	f->window[1] = window;
	f->position[0] = f->position[1];
	f->position[1] = position;
}

static void unlink_flow(struct flow_list *l, struct flow *f)
{
	*(f->older ? &f->older->newer : &l->oldest) = f->newer;
	*(f->newer ? &f->newer->older : &l->newest) = f->older;
	f->older = f->newer = NULL;
}

static void append(struct flow_list *l, struct flow *f)
{
	f->older = l->newest;
	*(l->newest ? &l->newest->newer : &l->oldest) = f;
	l->newest = f;
}

static struct flow_list *list_of(struct flow_table *t, const struct flow *f)
{
	return f->closed ? &t->shut : &t->open;
}

static int make_room(struct flow_table *t)
{
	struct flow *f = t->shut.oldest;

	if (t->cnt < t->limits.max_cnt)
		return 0;
	if (!f) {
		f = t->open.oldest;
		t->forced++;
	}
	return flow_table__remove(t, f);
}

int flow_table__add(struct flow_table *t, const struct packet *pk, bool sender_local,
		    struct flow **out)
{
	struct flow *f, **b;
	int err = make_room(t);

	if (err)
		return err;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->end[0] = sender_local ? pk->from : pk->to;
	f->end[1] = sender_local ? pk->to : pk->from;
	f->proto = pk->proto;
	f->net = pk->net;
	if (t->cnt >= t->bucket_cnt && t->bucket_cnt < 1u << 30)
		grow(t);
	b = bucket(t, &pk->from, &pk->to, pk->proto, pk->net);
	f->chain = *b;
	*b = f;
	t->cnt++;
	append(&t->open, f);
	*out = f;
	return 0;
}

void flow_table__touch(struct flow_table *t, struct flow *f, uint64_t now_ns)
{
	struct flow_list *l = list_of(t, f);

	f->last_ns = now_ns;
	if (l->newest == f)
		return;
	unlink_flow(l, f);
	append(l, f);
}

void flow_table__close(struct flow_table *t, struct flow *f)
{
	unlink_flow(&t->open, f);
	f->closed = true;
	append(&t->shut, f);
}

int flow_table__remove(struct flow_table *t, struct flow *f)
{
	struct flow **at = bucket(t, &f->end[0], &f->end[1], f->proto, f->net);
	int err = t->gone(t->ctx, f);

	while (*at != f)
		at = &(*at)->chain;
	*at = f->chain;
	unlink_flow(list_of(t, f), f);
	t->cnt--;
	free(f);
	return err;
}

static int expire_list(struct flow_table *t, struct flow_list *l, uint64_t after_ns,
		       uint64_t now_ns)
{
	int err = 0;

	while (!err && l->oldest && l->oldest->last_ns < now_ns &&
	       now_ns - l->oldest->last_ns > after_ns)
		err = flow_table__remove(t, l->oldest);
	return err;
}

int flow_table__expire(struct flow_table *t, uint64_t now_ns)
{
	int err = expire_list(t, &t->shut, t->limits.closed_ns, now_ns);

	return err ? err : expire_list(t, &t->open, t->limits.idle_ns, now_ns);
}

int flow_table__clear(struct flow_table *t)
{
	int err = 0;

	while (!err && (t->shut.oldest || t->open.oldest))
		err = flow_table__remove(t, t->shut.oldest ? t->shut.oldest : t->open.oldest);
	return err;
}

void flow_table__fini(struct flow_table *t)
{
	struct tcp_pool pool = {UINT64_MAX};

	for (uint32_t i = 0; t->buckets && i < t->bucket_cnt; i++)
		for (struct flow *f = t->buckets[i], *next; f; f = next) {
			next = f->chain;
			tcp_side__fini(&f->side[0], &pool);
			tcp_side__fini(&f->side[1], &pool);
			redact_conn__free(f->redact);
			undecided__free(f->undecided);
			free(f);
		}
	free(t->buckets);
	*t = (struct flow_table){0};
}
