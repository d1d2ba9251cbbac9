/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/weights.h"

#include "analyze/base/index.h"

#define MAX_APART (1u << 20) /* about 60 MB, and several times that for the graph */

struct weights {
	struct index index;
	struct weight *v;
	size_t cnt, cap;
	bool by_thread, by_slot, merged;
};

static uint64_t weight_key_hash(const struct weight *k)
{
	return hash_mix(hash_mix(k->thread ^ hash_mix(k->slot)) ^
			((uint64_t)k->kind << 32 | k->stack));
}

static bool weight_equal(const void *owner, uint32_t i, const void *key)
{
	const struct weight *w = &((const struct weights *)owner)->v[i], *k = key;

	return w->thread == k->thread && w->slot == k->slot && w->kind == k->kind &&
	       w->stack == k->stack;
}

int weights__new(struct weights **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void weights__by_thread(struct weights *w)
{
	w->by_thread = true;
}

void weights__by_slot(struct weights *w)
{
	w->by_slot = true;
}

void weights__free(struct weights *w)
{
	if (!w)
		return;
	index_fini(&w->index);
	free(w->v);
	free(w);
}

static struct weight key_of(const struct weights *w, const struct weight *add)
{
	struct weight key = *add;

	if (!w->by_thread || w->merged)
		key.thread = 0;
	if (!w->by_slot || w->merged)
		key.slot = 0;
	return key;
}

void weights__ahead(const struct weights *w, const struct weight *add, uint32_t hint)
{
	struct weight key = key_of(w, add);

	if (hint)
		__builtin_prefetch(&w->v[hint - 1]);
	else
		index_ahead(&w->index, weight_key_hash(&key));
}

void weights__guess(const struct weights *w, const struct weight *add, uint32_t hint)
{
	struct weight key = key_of(w, add);
	uint32_t i;

	if (!hint && index_guess(&w->index, weight_key_hash(&key), &i))
		__builtin_prefetch(&w->v[i]);
}

static int find_or_add(struct weights *w, const struct weight *add, uint32_t *i)
{
	struct weight key = key_of(w, add);
	uint64_t hash = weight_key_hash(&key);

	if (index_find(&w->index, weight_equal, w, hash, &key, i))
		return 0;
	if ((w->by_thread || w->by_slot) && !w->merged && w->cnt >= MAX_APART) {
		w->merged = true;
		return find_or_add(w, add, i);
	}
	if (array_reserve(&w->v, &w->cap, w->cnt + 1))
		return -ENOMEM;
	key.count = key.value = 0;
	w->v[w->cnt] = key;
	if (index_add(&w->index, hash, w->cnt))
		return -ENOMEM;
	*i = w->cnt++;
	return 0;
}

int weights__add(struct weights *w, const struct weight *add, uint32_t *hint)
{
	struct weight key = key_of(w, add);
	uint32_t i = *hint - 1;
	int err = 0;

	if (i >= w->cnt || !weight_equal(w, i, &key))
		err = find_or_add(w, add, &i);
	if (err)
		return err;
	w->v[i].count += add->count;
	w->v[i].value += add->value;
	*hint = i + 1;
	return 0;
}

size_t weights__cnt(const struct weights *w)
{
	return w->cnt;
}

const struct weight *weights__get(const struct weights *w, size_t i)
{
	return &w->v[i];
}

static int by_rank(const void *a, const void *b, void *arg)
{
	const struct weight *x = a, *y = b;
	const uint32_t *rank = arg;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (rank[x->stack] > rank[y->stack]) - (rank[x->stack] < rank[y->stack]);
}

void weights__sort(struct weights *w, const uint32_t *rank)
{
	index_fini(&w->index); /* sorting moves the entries: nothing can be added after it */
	if (w->cnt)
		qsort_r(w->v, w->cnt, sizeof(*w->v), by_rank, (void *)rank);
}

void weights__filter(struct weights *w, bool (*keep)(const void *ctx, const struct weight *weight),
		     const void *ctx)
{
	size_t left = 0;

	for (size_t i = 0; i < w->cnt; i++)
		if (keep(ctx, &w->v[i]))
			w->v[left++] = w->v[i];
	w->cnt = left;
}

bool weights__merged(const struct weights *w)
{
	return w->merged;
}
