/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/symbols/hit_list.h"

#include <errno.h>
#include <stdlib.h>

#define HAND_OVER_NS 500000000ULL
enum { SEEN_MIN = 1 << 12, SEEN_MAX = 1 << 19, BINARIES = 1 << 16 };

int hit_list_init(struct hit_list *l, uint64_t mem_max)
{
	*l = (struct hit_list){.seen_max = SEEN_MAX};
	/* at most 1/16 of the memory; the rest is for extraction */
	while (mem_max && l->seen_max > SEEN_MIN && l->seen_max * sizeof(*l->seen) > mem_max / 16)
		l->seen_max /= 2;
	l->generation = calloc(BINARIES, sizeof(*l->generation));
	l->seen = calloc(SEEN_MIN, sizeof(*l->seen));
	l->seen_cap = SEEN_MIN;
	if (l->generation && l->seen)
		return 0;
	hit_list_fini(l);
	return -ENOMEM;
}

void hit_list_fini(struct hit_list *l)
{
	struct hit_batch *b = hit_list_take(l), *next;

	for (; b; b = next) {
		next = b->next;
		free(b);
	}
	free(l->fresh);
	free(l->generation);
	free(l->seen);
	*l = (struct hit_list){0};
}

void hit_list_renew(struct hit_list *l, uint32_t binary)
{
	if (binary < BINARIES)
		l->generation[binary]++;
}

/* Two rounds of Fibonacci hashing; 0: a free slot. */
static uint64_t hash_of(uint64_t addr, uint64_t key)
{
	uint64_t h = (addr ^ key << 48 ^ key >> 16) * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 32 ^ key) * 0xd6e8feb86659fd93u;
	h ^= h >> 32;
	return h ? h : 1;
}

static bool insert(uint64_t *seen, uint32_t cap, uint64_t h)
{
	uint32_t i = h & (cap - 1);

	for (; seen[i]; i = (i + 1) & (cap - 1))
		if (seen[i] == h)
			return false;
	seen[i] = h;
	return true;
}

static bool make_room(struct hit_list *l)
{
	uint64_t *more;

	if (l->seen_cnt < l->seen_cap / 4 * 3)
		return true;
	more = l->seen_cap < l->seen_max ? calloc(l->seen_cap * 2, sizeof(*more)) : NULL;
	if (!more)
		return false;
	for (uint32_t i = 0; i < l->seen_cap; i++)
		if (l->seen[i])
			insert(more, l->seen_cap * 2, l->seen[i]);
	free(l->seen);
	l->seen = more;
	l->seen_cap *= 2;
	return true;
}

bool hit_list_due(const struct hit_list *l, uint64_t now_ns)
{
	return l->fresh && (l->fresh->cnt == HIT_BATCH || now_ns - l->since_ns >= HAND_OVER_NS);
}

bool hit_list_add(struct hit_list *l, uint32_t binary, uint64_t addr, uint64_t now_ns)
{
	uint64_t key;

	if (binary >= BINARIES || !make_room(l))
		return false;
	key = (uint64_t)l->generation[binary] << 16 | binary;
	if (!insert(l->seen, l->seen_cap, hash_of(addr, key)))
		return false;
	l->seen_cnt++;
	if (!l->fresh) {
		l->fresh = malloc(sizeof(*l->fresh));
		if (!l->fresh)
			return false;
		l->fresh->cnt = 0;
		l->since_ns = now_ns;
	}
	l->fresh->v[l->fresh->cnt++] = (struct hit){binary, addr};
	return hit_list_due(l, now_ns);
}

bool hit_list_hand_over(struct hit_list *l)
{
	struct hit_batch *b = l->fresh;

	if (!b)
		return false;
	l->fresh = NULL;
	b->next = atomic_load(&l->ready);
	while (!atomic_compare_exchange_weak(&l->ready, &b->next, b))
		;
	return true;
}

struct hit_batch *hit_list_take(struct hit_list *l)
{
	return atomic_exchange(&l->ready, NULL);
}
