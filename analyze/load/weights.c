/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/weights.h"

#include "analyze/base/index.h"

#define MAX_APART (1u << 20) /* about 60 MB, and several times that for the graph */

struct weights {
	struct index index;
	struct weight *v;
	size_t cnt, cap;
	size_t limit; /* from here on, threads and slots are merged */
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
	if (!*out)
		return -ENOMEM;
	(*out)->limit = SIZE_MAX;
	return 0;
}

void weights__by_thread(struct weights *w)
{
	w->by_thread = true;
	w->limit = MAX_APART;
}

void weights__by_slot(struct weights *w)
{
	w->by_slot = true;
	w->limit = MAX_APART;
}

bool weights__by_stack(const struct weights *w)
{
	return w->merged || (!w->by_thread && !w->by_slot);
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
	if (w->cnt >= w->limit && !w->merged) {
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

/* Weights that differ only in their stacks. Their numbers, in `group` by weight, are those in
 * groups->v, where `count` is that of the weights. */
static int make_groups(const struct weights *w, struct weights *groups, uint32_t *group)
{
	int err = 0;

	for (size_t i = 0; i < w->cnt && !err; i++) {
		struct weight key = w->v[i];

		key.stack = 0;
		err = find_or_add(groups, &key, &group[i]);
		if (!err)
			groups->v[group[i]].count++;
	}
	return err;
}

static int by_key(const void *a, const void *b, void *groups)
{
	const struct weight *x = &((const struct weight *)groups)[*(const uint32_t *)a],
			    *y = &((const struct weight *)groups)[*(const uint32_t *)b];

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

/* Sets the `value` of each group to the place of its first weight. */
static int place_groups(struct weights *groups)
{
	uint32_t *order = malloc((groups->cnt + 1) * sizeof(*order));
	uint64_t place = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < groups->cnt; i++)
		order[i] = i;
	qsort_r(order, groups->cnt, sizeof(*order), by_key, groups->v);
	for (size_t i = 0; i < groups->cnt; i++) {
		groups->v[order[i]].value = place;
		place += groups->v[order[i]].count;
	}
	free(order);
	return 0;
}

/* order: the numbers of the weights by the ranks of their stacks. place: zeroed, one more than
 * there are ranks. */
static void order_by_rank(const struct weights *w, const uint32_t *rank, size_t rank_cnt,
			  uint32_t *place, uint32_t *order)
{
	for (size_t i = 0; i < w->cnt; i++)
		place[rank[w->v[i].stack] + 1]++;
	for (size_t i = 0; i < rank_cnt; i++)
		place[i + 1] += place[i];
	for (size_t i = 0; i < w->cnt; i++)
		order[place[rank[w->v[i].stack]]++] = i;
}

/* Distributes the weights twice, first by the rank of the stack, then by everything else: there are
 * millions of them, but few threads. */
int weights__sort(struct weights *w, const uint32_t *rank, size_t rank_cnt)
{
	struct weights groups = {.by_thread = true, .by_slot = true, .limit = SIZE_MAX};
	uint32_t *place = calloc(rank_cnt + 1, sizeof(*place));
	uint32_t *order = malloc((w->cnt + 1) * sizeof(*order));
	uint32_t *group = malloc((w->cnt + 1) * sizeof(*group));
	struct weight *sorted = malloc((w->cnt + 1) * sizeof(*sorted));
	int err = place && order && group && sorted ? 0 : -ENOMEM;

	index_fini(&w->index); /* sorting moves the entries: nothing can be added after it */
	if (!err)
		err = make_groups(w, &groups, group);
	if (!err)
		err = place_groups(&groups);
	if (!err) {
		order_by_rank(w, rank, rank_cnt, place, order);
		for (size_t i = 0; i < w->cnt; i++)
			sorted[groups.v[group[order[i]]].value++] = w->v[order[i]];
		free(w->v);
		w->v = sorted;
		w->cap = w->cnt + 1;
		sorted = NULL;
	}
	index_fini(&groups.index);
	free(groups.v);
	free(place);
	free(order);
	free(group);
	free(sorted);
	return err;
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
