/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/overlap.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/base/index.h"

/* A thread of an archive, or a kind of rows that it has of a thread. */
struct entry {
	uint32_t capture, key[2], value;
};

struct table {
	struct index index;
	struct entry *v;
	size_t cnt, cap;
};

struct overlap {
	const struct captures *captures;
	bool *overlaps; /* by pair of archives */
	uint64_t *left_out;
	struct table threads; /* id: tid */
	struct table seen;    /* kind, tid */
};

static bool in_span(const struct capture *c, uint64_t ns)
{
	uint64_t span[2];

	capture_span(c, span);
	return ns >= span[0] && ns <= span[1];
}

static bool overlapping(const struct capture *a, const struct capture *b)
{
	uint64_t x[2], y[2];

	capture_span(a, x);
	capture_span(b, y);
	return capture_same_boot(a, b) && x[0] < y[1] && y[0] < x[1];
}

int overlap__new(struct overlap **out, const struct captures *captures)
{
	size_t cnt = captures->cnt;
	struct overlap *o = calloc(1, sizeof(*o));
	bool any = false;

	*out = NULL;
	if (!o)
		return -ENOMEM;
	o->captures = captures;
	o->overlaps = calloc(cnt * cnt + 1, sizeof(*o->overlaps));
	o->left_out = calloc(cnt + 1, sizeof(*o->left_out));
	if (!o->overlaps || !o->left_out) {
		overlap__free(o);
		return -ENOMEM;
	}
	for (size_t i = 0; i < cnt; i++)
		for (size_t k = 0; k < i; k++)
			any |= o->overlaps[i * cnt + k] = o->overlaps[k * cnt + i] =
				overlapping(&captures->v[i], &captures->v[k]);
	if (any)
		*out = o;
	else
		overlap__free(o);
	return 0;
}

void overlap__free(struct overlap *o)
{
	if (!o)
		return;
	index_fini(&o->threads.index);
	index_fini(&o->seen.index);
	free(o->threads.v);
	free(o->seen.v);
	free(o->overlaps);
	free(o->left_out);
	free(o);
}

static uint64_t entry_hash(const struct entry *e)
{
	return hash_mix(hash_mix((uint64_t)e->capture << 32 | e->key[0]) ^ e->key[1]);
}

static bool entry_equal(const void *owner, uint32_t i, const void *key)
{
	const struct entry *a = &((const struct table *)owner)->v[i], *b = key;

	return a->capture == b->capture && a->key[0] == b->key[0] && a->key[1] == b->key[1];
}

static struct entry *find(const struct table *t, const struct entry *key)
{
	uint32_t i;

	return index_find(&t->index, entry_equal, t, entry_hash(key), key, &i) ? &t->v[i] : NULL;
}

static int put(struct table *t, const struct entry *e)
{
	struct entry *old = find(t, e);

	if (old) {
		*old = *e;
		return 0;
	}
	if (array_reserve(&t->v, &t->cap, t->cnt + 1) ||
	    index_add(&t->index, entry_hash(e), t->cnt))
		return -ENOMEM;
	t->v[t->cnt++] = *e;
	return 0;
}

int overlap__threads(struct overlap *o, uint32_t capture, const struct rec_thread *v, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; o && i < cnt && !err; i++)
		err = put(&o->threads, &(struct entry){capture, {v[i].id, 0}, v[i].tid});
	return err;
}

bool overlap__counts(struct overlap *o, uint32_t capture, uint32_t kind, uint32_t thread,
		     uint64_t ts_ns, uint64_t count)
{
	struct entry seen = {capture, {kind, 0}, 0};
	const struct entry *t =
		o ? find(&o->threads, &(struct entry){capture, {thread, 0}, 0}) : NULL;

	if (!t)
		return true;
	seen.key[1] = t->value;
	for (seen.capture = 0; seen.capture < capture; seen.capture++)
		if (o->overlaps[(size_t)capture * o->captures->cnt + seen.capture] &&
		    in_span(&o->captures->v[seen.capture], ts_ns) && find(&o->seen, &seen)) {
			o->left_out[capture] += count;
			return false;
		}
	put(&o->seen, &seen); /* fails: may count twice */
	return true;
}

uint64_t overlap__left_out(const struct overlap *o, uint32_t capture)
{
	return o ? o->left_out[capture] : 0;
}
