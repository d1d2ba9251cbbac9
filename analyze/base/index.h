/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hash index over the entries of an array that the owner keeps: 8 bytes per slot, no copies of
 * entries. The owner hashes and compares. Entries are numbered from 0 and never removed. Also
 * contains growable arrays.
 */
#ifndef ANALYZE_INDEX_H
#define ANALYZE_INDEX_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Grows an array to at least `need` elements and keeps its contents. 0 or -ENOMEM. */
static inline int array_reserve_(void **p, size_t *cap, size_t need, size_t elem_sz)
{
	size_t want = *cap;
	void *grown;

	if (need <= *cap)
		return 0;
	while (want < need)
		want = want < 16 ? 16 : want + want / 2;
	if (want > SIZE_MAX / elem_sz)
		return -ENOMEM;
	grown = realloc(*p, want * elem_sz);
	if (!grown)
		return -ENOMEM;
	*p = grown;
	*cap = want;
	return 0;
}
#define array_reserve(ptr, cap, need) array_reserve_((void **)(ptr), cap, need, sizeof(**(ptr)))

/* Archives are untrusted: the seed makes slot positions of their ids unpredictable. Set once,
 * before anything is added. */
extern uint64_t index_seed;

static inline uint64_t hash_mix(uint64_t x)
{
	x ^= index_seed;
	x = (x ^ x >> 33) * 0xff51afd7ed558ccdULL;
	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

/* The slot stores the hash, so most mismatches are rejected without reading the entry (a cache
 * miss), and growing the table does not call the owner. */
struct index_slot {
	uint32_t hash;	/* lower 32 bits */
	uint32_t entry; /* entry number + 1; 0: free */
};

struct index {
	struct index_slot *slots;
	uint32_t cap, used;
};

/* Whether `entry` matches `key`. */
typedef bool (*index_equal_fn)(const void *owner, uint32_t entry, const void *key);

static inline void index_fini(struct index *ix)
{
	free(ix->slots);
	*ix = (struct index){0};
}

static inline bool index_find(const struct index *ix, index_equal_fn equal, const void *owner,
			      uint64_t hash, const void *key, uint32_t *entry)
{
	uint32_t mask = ix->cap - 1;

	if (!ix->cap)
		return false;
	for (uint32_t i = hash & mask; ix->slots[i].entry; i = (i + 1) & mask)
		if (ix->slots[i].hash == (uint32_t)hash &&
		    equal(owner, ix->slots[i].entry - 1, key)) {
			*entry = ix->slots[i].entry - 1;
			return true;
		}
	return false;
}

/* Prefetching for batched look-ups: index_ahead() prefetches the slot for `hash` ... */
static inline void index_ahead(const struct index *ix, uint64_t hash)
{
	if (ix->cap)
		__builtin_prefetch(&ix->slots[hash & (ix->cap - 1)]);
}

/* ... index_guess() then returns the first entry with this hash, without comparing keys, so that
 * the caller can prefetch it. */
static inline bool index_guess(const struct index *ix, uint64_t hash, uint32_t *entry)
{
	uint32_t mask = ix->cap - 1;

	if (!ix->cap)
		return false;
	for (uint32_t i = hash & mask; ix->slots[i].entry; i = (i + 1) & mask)
		if (ix->slots[i].hash == (uint32_t)hash) {
			*entry = ix->slots[i].entry - 1;
			return true;
		}
	return false;
}

static inline void index_put_(struct index_slot *slots, uint32_t mask, struct index_slot slot)
{
	uint32_t i = slot.hash & mask;

	while (slots[i].entry)
		i = (i + 1) & mask;
	slots[i] = slot;
}

/* Adds an entry that index_find did not find. 0 or -ENOMEM. */
static inline int index_add(struct index *ix, uint64_t hash, uint32_t entry)
{
	if (ix->used >= ix->cap / 4 * 3) {
		uint32_t cap = ix->cap ? ix->cap * 2 : 64;
		struct index_slot *slots =
			ix->cap <= UINT32_MAX / 2 ? calloc(cap, sizeof(*slots)) : NULL;

		if (!slots)
			return -ENOMEM;
		for (uint32_t i = 0; i < ix->cap; i++)
			if (ix->slots[i].entry)
				index_put_(slots, cap - 1, ix->slots[i]);
		free(ix->slots);
		ix->slots = slots;
		ix->cap = cap;
	}
	index_put_(ix->slots, ix->cap - 1, (struct index_slot){hash, entry + 1});
	ix->used++;
	return 0;
}

#endif
