/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Payload of different CPUs is not quite in time order in the archive. It is held for half a second
 * of record time, or less if the memory limit is reached, and passed on sorted.
 *
 * The input is a mix of long runs (one per CPU ring buffer), so runs are merged. To limit the
 * number of merges per record, the held records are examined again only after half of that time has
 * been added.
 */
#include "analyze/traffic/payload_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "analyze/base/index.h"

#define HOLD_NS 500000000ULL
#define HOLD_SZ (32u << 20) /* of payload and record headers */
#define BLOCK_SZ (1u << 20)
#define PAGE_SZ 4096

/* Memory for many records. Freed when its last record has been passed on. */
struct block {
	struct block *next; /* in the list of spare blocks */
	size_t used, sz, live;
	char bytes[];
};

/* A held payload record, followed by its bytes. */
struct held {
	void *conn;
	struct block *block;
	struct l7_piece piece;
	char bytes[];
};

struct place {
	uint64_t ts_ns;
	struct held *held;
};

struct payload_order {
	struct place *v, *merged; /* v: sorted up to `sorted`, in input order after that */
	size_t cnt, cap, merged_cap, sorted;
	int (*feed)(void *conn, const struct l7_piece *piece);
	struct block *block; /* the block being filled */
	struct block *spare; /* reused, because new memory costs one page fault per page */
	size_t held_sz;
	uint64_t newest_ns, looked_ns; /* looked_ns: newest_ns when v was last examined */
};

static bool comes_first(const struct place *x, const struct place *y)
{
	const struct l7_piece *p = &x->held->piece, *q = &y->held->piece;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns;
	/* At equal times received data comes before data sent in reply. */
	if (p->dir != q->dir)
		return p->dir == L7_RECEIVED;
	return p->pos < q->pos;
}

int payload_order__new(struct payload_order **o,
		       int (*feed)(void *conn, const struct l7_piece *piece))
{
	*o = calloc(1, sizeof(**o));
	if (!*o)
		return -ENOMEM;
	(*o)->feed = feed;
	return 0;
}

static void let_go(struct payload_order *o, struct block *b)
{
	if (b->sz != BLOCK_SZ) {
		free(b);
		return;
	}
	b->next = o->spare;
	o->spare = b;
}

static void drop(struct payload_order *o, struct held *h)
{
	struct block *b = h->block;

	o->held_sz -= sizeof(*h) + h->piece.data.len;
	if (!--b->live && b != o->block)
		let_go(o, b);
}

void payload_order__free(struct payload_order *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->cnt; i++)
		drop(o, o->v[i].held);
	free(o->block);
	while (o->spare) {
		struct block *next = o->spare->next;

		free(o->spare);
		o->spare = next;
	}
	free(o->v);
	free(o->merged);
	free(o);
}

uint64_t payload_order__newest_ns(const struct payload_order *o)
{
	return o->newest_ns;
}

/* ---- sorting ---- */

static size_t run_end(const struct place *v, size_t at, size_t cnt)
{
	while (at + 1 < cnt && !comes_first(&v[at + 1], &v[at]))
		at++;
	return at + 1;
}

static void merge(const struct place *a, size_t a_cnt, const struct place *b, size_t b_cnt,
		  struct place *to)
{
	while (a_cnt && b_cnt) {
		if (comes_first(b, a)) {
			*to++ = *b++;
			b_cnt--;
		} else {
			*to++ = *a++;
			a_cnt--;
		}
	}
	memcpy(to, a, a_cnt * sizeof(*a));
	memcpy(to + a_cnt, b, b_cnt * sizeof(*b));
}

/* Merges adjacent runs of v into `to`. Returns the number of runs there were. */
static size_t merge_pairs(const struct place *v, size_t cnt, struct place *to)
{
	size_t runs = 0;

	for (size_t at = 0; at < cnt;) {
		size_t mid = run_end(v, at, cnt), end = mid < cnt ? run_end(v, mid, cnt) : mid;

		merge(v + at, mid - at, v + mid, end - mid, to + at);
		runs += 1 + (end > mid);
		at = end;
	}
	return runs;
}

static int sort(struct payload_order *o)
{
	size_t old = o->sorted, fresh = o->cnt - old;

	if (run_end(o->v, old ? old - 1 : 0, o->cnt) >= o->cnt) {
		o->sorted = o->cnt;
		return 0;
	}
	if (array_reserve(&o->merged, &o->merged_cap, o->cap))
		return -ENOMEM;
	/* sort the new records, alternating between both arrays; then merge with the sorted ones */
	while (run_end(o->v, old, o->cnt) < o->cnt) {
		merge_pairs(o->v + old, fresh, o->merged);
		memcpy(o->v + old, o->merged, fresh * sizeof(*o->v));
	}
	merge(o->v, old, o->v + old, fresh, o->merged);
	memcpy(o->v, o->merged, o->cnt * sizeof(*o->v));
	o->sorted = o->cnt;
	return 0;
}

/* ---- in and out ---- */

/* Passes on all records up to until_ns, in order. */
static int hand_on(struct payload_order *o, size_t max, uint64_t until_ns)
{
	size_t n = 0;
	int err = 0;

	for (; n < max && o->v[n].ts_ns <= until_ns && !err; n++) {
		struct held *h = o->v[n].held;

		err = o->feed(h->conn, &h->piece);
		drop(o, h);
	}
	o->cnt -= n;
	o->sorted -= n;
	if (n)
		memmove(o->v, o->v + n, o->cnt * sizeof(*o->v));
	return err;
}

bool payload_order__full(const struct payload_order *o)
{
	return o->held_sz > HOLD_SZ;
}

int payload_order__release(struct payload_order *o, bool all)
{
	bool full = payload_order__full(o);
	uint64_t until_ns = all || full		     ? UINT64_MAX
			    : o->newest_ns > HOLD_NS ? o->newest_ns - HOLD_NS
						     : 0;
	int err;

	if (!all && !full && o->newest_ns < o->looked_ns + HOLD_NS / 2)
		return 0;
	err = sort(o);
	if (!err)
		err = hand_on(o, full && !all ? o->cnt / 2 : o->cnt, until_ns);
	o->looked_ns = o->newest_ns;
	if (all)
		o->newest_ns = o->looked_ns = 0; /* another capture has another clock */
	return err;
}

static struct block *take_block(struct payload_order *o, size_t sz)
{
	struct block *b = o->spare;

	if (b && sz == BLOCK_SZ) {
		o->spare = b->next;
		return b;
	}
	b = aligned_alloc(PAGE_SZ, (sizeof(*b) + sz + PAGE_SZ - 1) / PAGE_SZ * PAGE_SZ);
	if (b)
		madvise(b, sizeof(*b) + sz, MADV_POPULATE_WRITE); /* fault in all pages at once */
	return b;
}

/* Allocates memory for one record. NULL: out of memory. */
static struct held *held_new(struct payload_order *o, size_t data_sz)
{
	size_t sz = (sizeof(struct held) + data_sz + 15) & ~(size_t)15;
	struct block *b = o->block;
	struct held *h;

	if (!b || b->sz - b->used < sz) {
		size_t room = sz > BLOCK_SZ ? sz : BLOCK_SZ;

		if (b && !b->live)
			let_go(o, b);
		b = o->block = take_block(o, room);
		if (!b)
			return NULL;
		*b = (struct block){.sz = room};
	}
	h = (struct held *)(b->bytes + b->used);
	h->block = b;
	b->used += sz;
	b->live++;
	return h;
}

int payload_order__hold(struct payload_order *o, void *conn, const struct l7_piece *piece)
{
	struct held *h;

	if (array_reserve(&o->v, &o->cap, o->cnt + 1))
		return -ENOMEM;
	h = held_new(o, piece->data.len);
	if (!h)
		return -ENOMEM;
	h->conn = conn;
	h->piece = *piece;
	h->piece.data.p = h->bytes;
	memcpy(h->bytes, piece->data.p, piece->data.len);
	o->v[o->cnt++] = (struct place){piece->ts_ns, h};
	o->held_sz += sizeof(*h) + piece->data.len;
	if (piece->ts_ns > o->newest_ns)
		o->newest_ns = piece->ts_ns;
	return 0;
}
