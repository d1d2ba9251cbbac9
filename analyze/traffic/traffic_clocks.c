/* SPDX-License-Identifier: BSD-2-Clause */
/* Clock offsets between archives, from calls that both saw. */
#include <stdlib.h>

#include "analyze/traffic/traffic_clocks.h"
#include "analyze/traffic/traffic_distance.h"

static uint64_t mark_hash(uint32_t seq)
{
	uint64_t x = (seq + 1) * 0x9e3779b97f4a7c15ull; /* the same in all runs and archives */

	return x ^ x >> 29;
}

void marks_add(struct marks *m, enum l7_dir dir, struct mark mark)
{
	struct mark *v = m->v[dir], *worst = v;

	if (m->cnt[dir] < MARK_CNT) {
		v[m->cnt[dir]++] = mark;
		return;
	}
	for (int i = 1; i < MARK_CNT; i++)
		if (mark_hash(v[i].seq) > mark_hash(worst->seq))
			worst = &v[i];
	if (mark_hash(mark.seq) < mark_hash(worst->seq))
		*worst = mark;
}

struct offset {
	uint32_t a, b; /* captures, a < b */
	int64_t there,
		back; /* smallest values seen: the clock offset, plus or minus the transit time */
	uint64_t pairs[2];
};

static void compare_marks(const struct conn *from, const struct conn *to, int64_t *least,
			  uint64_t *pairs)
{
	const struct marks *x = from->marks, *y = to->marks;

	/* Sequence numbers of clear text depend on how much of it each end has seen. */
	if (from->tls && from->anchor[L7_SENT] != to->anchor[L7_RECEIVED])
		return;
	for (uint32_t i = 0; i < x->cnt[L7_SENT]; i++)
		for (uint32_t k = 0; k < y->cnt[L7_RECEIVED]; k++) {
			const struct mark *s = &x->v[L7_SENT][i], *r = &y->v[L7_RECEIVED][k];
			int64_t took =
				traffic_real_ns(to, r->ns, 0) - traffic_real_ns(from, s->ns, 0);

			if (s->seq != r->seq)
				continue;
			if (!(*pairs)++ || took < *least)
				*least = took;
		}
}

/* Number of pairs of captures; each has a fixed index. */
static size_t pairs_of(size_t captures)
{
	return captures * (captures - 1) / 2;
}

static struct offset *offset_of(struct offset *v, uint32_t a, uint32_t b)
{
	struct offset *o = &v[pairs_of(b) + a];

	o->a = a;
	o->b = b;
	return o;
}

static int write_offset(struct insert *in, const struct offset *o)
{
	if (!o->pairs[0] || !o->pairs[1])
		return 0;
	insert_int(in, capture_id(o->a));
	insert_int(in, capture_id(o->b));
	insert_int(in, (o->there - o->back) / 2);
	insert_int(in, (o->there + o->back) / 2);
	insert_int(in, o->pairs[0] + o->pairs[1]);
	return insert_run(in);
}

/* As in NTP: uses calls sent in one capture and received in the other, in both directions. */
int traffic_write_offsets(struct traffic *t)
{
	size_t captures = t->load->captures->cnt;
	struct offset *v =
		captures > 1 && captures < 4096 ? calloc(pairs_of(captures), sizeof(*v)) : NULL;
	struct insert in;
	int err = 0;

	if (!v)
		return 0;
	for (size_t i = 0; i < t->conn_cnt; i++) {
		const struct conn *c = t->conns[i], *d = c->other ? t->conns[c->other - 1] : NULL;
		struct offset *o;

		if (!d || c->capture >= d->capture || !c->marks || !d->marks)
			continue;
		o = offset_of(v, c->capture, d->capture);
		compare_marks(c, d, &o->there, &o->pairs[0]);
		compare_marks(d, c, &o->back, &o->pairs[1]);
	}
	err = insert_open(&in, t->load->store, "INSERT INTO clock_offset VALUES(?,?,?,?,?)");
	for (size_t i = 0; i < pairs_of(captures) && !err; i++)
		err = write_offset(&in, &v[i]);
	insert_close(&in);
	free(v);
	return err;
}
