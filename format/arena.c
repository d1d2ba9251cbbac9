/* SPDX-License-Identifier: BSD-2-Clause */
#include "arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BLOCK = 64 << 10, TRIAL_SZ = 32 << 10 };

struct arena_block {
	struct arena_block *next;
	size_t used, cap;
	_Alignas(uint64_t) uint8_t data[];
};

static struct arena_block *block_new(struct arena *spare, size_t cap)
{
	struct arena_block *b = spare->blocks;

	if (b && cap == ARENA_BLOCK)
		spare->blocks = b->next;
	else
		b = malloc(sizeof(*b) + cap);
	return b;
}

void *arena_copy(struct arena *a, struct arena *spare, const void *p, size_t len)
{
	struct arena_block *b = a->blocks;
	size_t padded = (len + 7) & ~(size_t)7;
	void *to;

	if (!b || b->cap - b->used < padded) {
		size_t cap = padded > ARENA_BLOCK ? padded : ARENA_BLOCK;

		b = block_new(spare, cap);
		if (!b)
			return NULL;
		*b = (struct arena_block){.next = a->blocks, .cap = cap};
		a->blocks = b;
	}
	to = b->data + b->used;
	b->used += padded;
	memcpy(to, p, len);
	return to;
}

void arena_free(struct arena *a, struct arena *spare)
{
	struct arena_block *b;

	while ((b = a->blocks)) {
		a->blocks = b->next;
		if (!spare || b->cap != ARENA_BLOCK) {
			free(b);
			continue;
		}
		b->next = spare->blocks;
		spare->blocks = b;
	}
}

/* ---- strings met before ---- */

static inline uint64_t word_at(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* The last bytes of a string, less than 8. */
static uint64_t last_word(const char *p, size_t sz, bool is_all)
{
	uint64_t word = 0;

	if (!is_all)
		return word_at(p + sz - 8) >> (64 - 8 * sz);
	for (; sz; p++, sz--)
		word = word << 8 | (uint8_t)*p;
	return word;
}

static inline uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15;
	return h << 32 | h >> 32;
}

/* Four products at a time: one alone would wait for the one before. */
static uint64_t hash(const char *p, size_t len)
{
	uint64_t a = len, b = 1, c = 2, d = 3;
	size_t sz = len;

	for (; sz >= 32; p += 32, sz -= 32) {
		a = mix(a, word_at(p));
		b = mix(b, word_at(p + 8));
		c = mix(c, word_at(p + 16));
		d = mix(d, word_at(p + 24));
	}
	for (; sz >= 8; p += 8, sz -= 8)
		a = mix(a, word_at(p));
	if (sz)
		a = mix(a, last_word(p, sz, len < 8));
	return mix(mix(mix(a, b), c), d);
}

/* Not where strings hardly ever come back. */
static bool is_worth_it(const struct arena_known *k)
{
	return k->sought_sz < TRIAL_SZ || k->found_sz >= k->sought_sz / 8;
}

const char *arena_string(struct arena *a, struct arena *spare, struct arena_known *known,
			 const char *p, uint32_t len)
{
	struct arena_string *set, now = {.len = len};
	unsigned way = 0;
	uint64_t h;

	if (!is_worth_it(known))
		return arena_copy(a, spare, p, len);
	h = hash(p, len);
	set = known->sets[h % ARENA_SETS];
	now.tag = h >> 32;
	known->sought_sz += len;
	while (way < ARENA_WAYS - 1 && (set[way].len != len || set[way].tag != now.tag))
		way++;
	if (set[way].len == len && set[way].tag == now.tag && !memcmp(set[way].p, p, len)) {
		now.p = set[way].p;
		known->found_sz += len;
	} else {
		now.p = arena_copy(a, spare, p, len);
	}
	if (!now.p)
		return NULL;
	for (; way; way--)
		set[way] = set[way - 1];
	set[0] = now;
	return now.p;
}
