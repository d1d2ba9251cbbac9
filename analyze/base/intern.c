/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/base/intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define CHUNK_SZ (256u << 10)

struct chunk {
	struct chunk *next;
	size_t used, cap;
	char bytes[];
};

struct entry {
	const char *p;
	uint32_t len, hash;
};

struct intern {
	struct chunk *chunks;
	struct entry *entries;
	uint32_t cnt, cap;
	uint32_t *slots; /* id + 1, open addressing; 0: empty */
	uint32_t slot_cnt;
	uint64_t seed;
	size_t held; /* bytes in chunks */
};

static uint64_t mum(uint64_t a, uint64_t b)
{
	unsigned __int128 r = (unsigned __int128)a * b;

	return (uint64_t)r ^ (uint64_t)(r >> 64);
}

/* Multiply and fold, eight bytes per step, as in wyhash. */
uint64_t intern_hash(struct span s, uint64_t seed)
{
	uint64_t h = seed ^ mum(s.len ^ 0x9e3779b97f4a7c15, 0xe7037ed1a0b428db), v;
	size_t i = 0;

	for (; i + 8 <= s.len; i += 8) {
		memcpy(&v, s.p + i, 8);
		h = mum(h ^ v, 0xa0761d6478bd642f);
	}
	if (i < s.len) {
		v = 0;
		memcpy(&v, s.p + i, s.len - i);
		h = mum(h ^ v, 0x8ebc6af09c88c6e3);
	}
	return mum(h, 0x589965cc75374cc3);
}

uint64_t intern_seed(void)
{
	uint64_t seed = 0x2545f4914f6cdd1d;

	/* A predictable seed only makes hostile names slower, so failure is not an error. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0)
		seed ^= (uintptr_t)&seed;
	return seed | 1;
}

int intern__new(struct intern **t)
{
	*t = calloc(1, sizeof(**t));
	if (!*t)
		return -ENOMEM;
	(*t)->seed = intern_seed();
	return 0;
}

void intern__free(struct intern *t)
{
	struct chunk *c, *next;

	if (!t)
		return;
	for (c = t->chunks; c; c = next) {
		next = c->next;
		free(c);
	}
	free(t->entries);
	free(t->slots);
	free(t);
}

static char *store(struct intern *t, struct span s)
{
	struct chunk *c = t->chunks;
	char *p;

	if (!c || c->cap - c->used <= s.len) {
		size_t cap = s.len >= CHUNK_SZ / 4 ? s.len + 1 : CHUNK_SZ;

		c = malloc(sizeof(*c) + cap);
		if (!c)
			return NULL;
		c->used = 0;
		c->cap = cap;
		c->next = t->chunks;
		t->chunks = c;
		t->held += sizeof(*c) + cap;
	}
	p = c->bytes + c->used;
	if (s.len)
		memcpy(p, s.p, s.len);
	p[s.len] = 0;
	c->used += s.len + 1;
	return p;
}

static int grow(struct intern *t)
{
	uint32_t cap = t->cap ? t->cap * 2 : 256, slot_cnt = cap * 2, *slots;
	struct entry *entries;

	if (cap > UINT32_MAX / 4)
		return -ENOMEM;
	entries = realloc(t->entries, cap * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	t->entries = entries;
	slots = calloc(slot_cnt, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint32_t id = 0; id < t->cnt; id++) {
		uint32_t at = entries[id].hash & (slot_cnt - 1);

		while (slots[at])
			at = (at + 1) & (slot_cnt - 1);
		slots[at] = id + 1;
	}
	free(t->slots);
	t->slots = slots;
	t->slot_cnt = slot_cnt;
	t->cap = cap;
	return 0;
}

/* Returns the slot that holds s or the free slot where it belongs. The table must have slots. */
static uint32_t slot_of(const struct intern *t, struct span s, uint32_t hash)
{
	uint32_t at;

	for (at = hash & (t->slot_cnt - 1); t->slots[at]; at = (at + 1) & (t->slot_cnt - 1)) {
		const struct entry *e = &t->entries[t->slots[at] - 1];

		if (e->hash == hash && e->len == s.len && !memcmp(e->p, s.p ? s.p : "", s.len))
			break;
	}
	return at;
}

uint32_t intern__find(const struct intern *t, struct span s)
{
	uint32_t at = t->cap ? slot_of(t, s, intern_hash(s, t->seed)) : 0;

	return t->cap && t->slots[at] ? t->slots[at] - 1 : INTERN_FAILED;
}

uint32_t intern__add(struct intern *t, struct span s)
{
	uint32_t hash = intern_hash(s, t->seed), at;
	char *p;

	if (s.len >= UINT32_MAX || (t->cnt == t->cap && grow(t)))
		return INTERN_FAILED;
	at = slot_of(t, s, hash);
	if (t->slots[at])
		return t->slots[at] - 1;
	p = store(t, s);
	if (!p)
		return INTERN_FAILED;
	t->entries[t->cnt] = (struct entry){p, s.len, hash};
	t->slots[at] = ++t->cnt;
	return t->cnt - 1;
}

struct span intern__get(const struct intern *t, uint32_t id)
{
	return (struct span){t->entries[id].p, t->entries[id].len};
}

uint32_t intern__count(const struct intern *t)
{
	return t->cnt;
}

size_t intern__held(const struct intern *t)
{
	return t->held + t->cap * sizeof(*t->entries) + t->slot_cnt * sizeof(*t->slots);
}
