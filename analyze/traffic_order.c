/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Payload of different CPUs is not quite in order in the archive: it is held back for half a second
 * of record time and handed on sorted.
 */
#include "traffic.h"

#include <errno.h>

#define HOLD_NS 500000000ULL

/* A payload record held back, with a copy of its bytes. */
struct held {
	struct conn *conn;
	struct l7_piece piece;
	size_t data_at;
};

static int by_time(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	if (x->piece.ts_ns != y->piece.ts_ns)
		return x->piece.ts_ns < y->piece.ts_ns ? -1 : 1;
	/* Of one moment: what was received comes before what was sent because of it. */
	if (x->piece.dir != y->piece.dir)
		return x->piece.dir == L7_RECEIVED ? -1 : 1;
	return (x->piece.pos > y->piece.pos) - (x->piece.pos < y->piece.pos);
}

/* What stays moves to the front, its bytes in a new place. */
static int keep_from(struct traffic *t, size_t n)
{
	size_t left = t->held_cnt - n, sz = 0, at = 0;
	char *data;

	memmove(t->held, t->held + n, left * sizeof(*t->held));
	t->held_cnt = left;
	t->data_sz = 0;
	if (!left)
		return 0;
	for (size_t i = 0; i < left; i++)
		sz += t->held[i].piece.data.len;
	data = malloc(sz + 1);
	if (!data)
		return -ENOMEM;
	for (size_t i = 0; i < left; i++) {
		struct held *h = &t->held[i];

		memcpy(data + at, t->data + h->data_at, h->piece.data.len);
		h->data_at = at;
		at += h->piece.data.len;
	}
	free(t->data);
	t->data = data;
	t->data_sz = sz;
	t->data_cap = sz + 1;
	return 0;
}

int traffic_release(struct traffic *t, bool all)
{
	uint64_t until_ns = all ? UINT64_MAX : t->newest_ns > HOLD_NS ? t->newest_ns - HOLD_NS : 0;
	size_t n = 0;
	int err = 0;

	if (t->held_cnt)
		qsort(t->held, t->held_cnt, sizeof(*t->held), by_time);
	for (; n < t->held_cnt && t->held[n].piece.ts_ns <= until_ns && !err; n++) {
		struct held *h = &t->held[n];

		h->piece.data.p = t->data + h->data_at;
		err = traffic_feed(h->conn, &h->piece);
	}
	if (all)
		t->newest_ns = 0; /* another capture has another clock */
	return err || !n ? err : keep_from(t, n);
}

int traffic_hold(struct traffic *t, struct conn *c, const struct rec_payload *r)
{
	struct held *h;

	if (array_reserve(&t->held, &t->held_cap, t->held_cnt + 1) ||
	    array_reserve(&t->data, &t->data_cap, t->data_sz + r->data.len + 1))
		return -ENOMEM;
	h = &t->held[t->held_cnt++];
	*h = (struct held){
		.conn = c,
		.data_at = t->data_sz,
		.piece = {.dir = r->direction ? L7_RECEIVED : L7_SENT,
			  .pos = r->position,
			  .len = r->len,
			  .ts_ns = r->ts_ns,
			  .data.len = r->data.len,
			  .datagram = r->flags & PAYLOAD_DATAGRAM},
	};
	memcpy(t->data + t->data_sz, r->data.p, r->data.len);
	t->data_sz += r->data.len;
	if (r->ts_ns > t->newest_ns)
		t->newest_ns = r->ts_ns;
	return 0;
}
