/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/copies.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { COPIES_BLOCK = 64 << 10, TRIAL_SZ = 32 << 10 };

struct copies_block {
	struct copies_block *next;
	size_t used, cap;
	_Alignas(uint64_t) uint8_t data[];
};

static struct copies_block *block_new(struct copies *spare, size_t cap)
{
	struct copies_block *b = spare->blocks;

	if (b && cap == COPIES_BLOCK)
		spare->blocks = b->next;
	else
		b = malloc(sizeof(*b) + cap);
	return b;
}

void *copies_add(struct copies *a, struct copies *spare, const void *p, size_t len)
{
	struct copies_block *b = a->blocks;
	size_t padded = (len + 7) & ~(size_t)7;
	void *to;

	if (!b || b->cap - b->used < padded) {
		size_t cap = padded > COPIES_BLOCK ? padded : COPIES_BLOCK;

		b = block_new(spare, cap);
		if (!b)
			return NULL;
		*b = (struct copies_block){.next = a->blocks, .cap = cap};
		a->blocks = b;
	}
	to = b->data + b->used;
	b->used += padded;
	memcpy(to, p, len);
	return to;
}

void copies_free(struct copies *a, struct copies *spare)
{
	struct copies_block *b;

	while ((b = a->blocks)) {
		a->blocks = b->next;
		if (!spare || b->cap != COPIES_BLOCK) {
			free(b);
			continue;
		}
		b->next = spare->blocks;
		spare->blocks = b;
	}
}

/* ---- cache of strings ---- */

static inline uint64_t word_at(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* The last bytes (at most 7) of a string as a word. */
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

/* Computes four products in parallel, to avoid waiting for each multiplication. */
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

/* False when strings rarely repeat. */
static bool is_worth_it(const struct copies_known *k)
{
	return k->sought_sz < TRIAL_SZ || k->found_sz >= k->sought_sz / 8;
}

const char *copies_string(struct copies *a, struct copies *spare, struct copies_known *known,
			  const char *p, uint32_t len)
{
	struct copies_string *set, now = {.len = len};
	unsigned way = 0;
	uint64_t h;

	if (!is_worth_it(known))
		return copies_add(a, spare, p, len);
	h = hash(p, len);
	set = known->sets[h % COPIES_SETS];
	now.tag = h >> 32;
	known->sought_sz += len;
	while (way < COPIES_WAYS - 1 && (set[way].len != len || set[way].tag != now.tag))
		way++;
	if (set[way].len == len && set[way].tag == now.tag && !memcmp(set[way].p, p, len)) {
		now.p = set[way].p;
		known->found_sz += len;
	} else {
		now.p = copies_add(a, spare, p, len);
	}
	if (!now.p)
		return NULL;
	for (; way; way--)
		set[way] = set[way - 1];
	set[0] = now;
	return now.p;
}
