/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/intake/cells.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/base/idmap.h"

struct seen {
	struct metric_key key;
	struct metric_cell cell;
	bool used;
};

struct cells {
	struct seen *slots; /* open addressing */
	size_t cap, cnt;    /* cap is 0 or a power of two */
};

int cells__new(struct cells **c)
{
	*c = calloc(1, sizeof(**c));
	return *c ? 0 : -ENOMEM;
}

void cells__free(struct cells *c)
{
	if (!c)
		return;
	free(c->slots);
	free(c);
}

static struct seen *find(const struct cells *c, const struct metric_key *key)
{
	uint64_t h = idmap_mix((uint64_t)key->series << 32 | key->bucket);

	for (int i = 0; i < METRIC_KEY_PARTS; i++)
		h = idmap_mix(h ^ key->part[i]);
	for (size_t i = h & (c->cap - 1);; i = (i + 1) & (c->cap - 1))
		if (!c->slots[i].used || !memcmp(&c->slots[i].key, key, sizeof(*key)))
			return &c->slots[i];
}

static int grow(struct cells *c)
{
	struct cells larger = {.cap = c->cap ? c->cap * 2 : 1024, .cnt = c->cnt};

	larger.slots = calloc(larger.cap, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < c->cap; i++)
		if (c->slots[i].used)
			*find(&larger, &c->slots[i].key) = c->slots[i];
	free(c->slots);
	*c = larger;
	return 0;
}

/* Finds or adds a key; NULL: out of memory. */
static struct seen *get(struct cells *c, const struct metric_key *key)
{
	int err = c->cnt * 4 < c->cap * 3 ? 0 : grow(c);
	struct seen *s = err ? NULL : find(c, key);

	if (!s || s->used)
		return s;
	s->key = *key;
	s->used = true;
	c->cnt++;
	return s;
}

int cells__grown(struct cells *c, const struct metric_key *key, const struct metric_cell *now,
		 struct metric_cell *grown)
{
	struct seen *s = get(c, key);

	if (!s)
		return -ENOMEM;
	grown->count = now->count - s->cell.count;
	grown->sum = now->sum - s->cell.sum;
	s->cell = *now;
	return 0;
}

int cells__add(struct cells *c, const struct metric_key *key, const struct metric_cell *more)
{
	struct seen *s = get(c, key);

	if (!s)
		return -ENOMEM;
	s->cell.count += more->count;
	s->cell.sum += more->sum;
	return 0;
}

bool cells__next(const struct cells *c, size_t *i, struct metric_key *key, struct metric_cell *sum)
{
	while (*i < c->cap) {
		const struct seen *s = &c->slots[(*i)++];

		if (!s->used)
			continue;
		*key = s->key;
		*sum = s->cell;
		return true;
	}
	return false;
}

void cells__clear(struct cells *c)
{
	if (c->cap)
		memset(c->slots, 0, c->cap * sizeof(*c->slots));
	c->cnt = 0;
}
