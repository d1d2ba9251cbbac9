/* SPDX-License-Identifier: BSD-2-Clause */
/* Linear probing. The table is at most 3/4 full and, unless small, at least 1/4 full. Deletion
 * shifts the cluster back, so there are no tombstones. */
#include <errno.h>
#include <stdlib.h>

#include "record/base/idmap.h"

enum { MIN_CAP = 16 };

static size_t slot_of(const struct idmap *m, uint64_t key)
{
	return idmap_mix(key) & (m->cap - 1);
}

static struct idmap_slot *find(const struct idmap *m, uint64_t key)
{
	size_t i = slot_of(m, key);

	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

void *idmap_get(const struct idmap *m, uint64_t key)
{
	return m->cap ? find(m, key)->value : NULL;
}

static int resize(struct idmap *m, size_t cap)
{
	struct idmap old = *m;

	m->cap = cap;
	m->slots = calloc(m->cap, sizeof(*m->slots));
	if (!m->slots) {
		*m = old;
		return -ENOMEM;
	}
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].value)
			*find(m, old.slots[i].key) = old.slots[i];
	free(old.slots);
	return 0;
}

int idmap_put(struct idmap *m, uint64_t key, void *value)
{
	struct idmap_slot *s;

	if ((m->cnt + 1) * 4 > m->cap * 3 && resize(m, m->cap ? m->cap * 2 : MIN_CAP))
		return -ENOMEM;
	s = find(m, key);
	m->cnt += !s->value;
	*s = (struct idmap_slot){key, value};
	return 0;
}

void *idmap_del(struct idmap *m, uint64_t key)
{
	struct idmap_slot *s;
	void *value;
	size_t hole, i;

	if (!m->cap)
		return NULL;
	s = find(m, key);
	value = s->value;
	if (!value)
		return NULL;
	hole = i = s - m->slots;
	for (;;) {
		i = (i + 1) & (m->cap - 1);
		if (!m->slots[i].value)
			break;
		/* An entry may move back to the free slot unless its home slot lies after it. */
		if (((i - slot_of(m, m->slots[i].key)) & (m->cap - 1)) >=
		    ((i - hole) & (m->cap - 1))) {
			m->slots[hole] = m->slots[i];
			hole = i;
		}
	}
	m->slots[hole].value = NULL;
	m->cnt--;
	if (m->cap > MIN_CAP && m->cnt * 4 < m->cap)
		resize(m, m->cap / 2); /* on failure it stays as it is */
	return value;
}

void *idmap_next(const struct idmap *m, size_t *i)
{
	while (*i < m->cap) {
		void *v = m->slots[(*i)++].value;

		if (v)
			return v;
	}
	return NULL;
}

void idmap_fini(struct idmap *m)
{
	free(m->slots);
	*m = (struct idmap){0};
}
