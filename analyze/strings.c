/* SPDX-License-Identifier: BSD-2-Clause */
#include "strings.h"

#include "index.h"

#define BLOCK_SZ (256 * 1024)

struct block {
	struct block *next;
	char bytes[];
};

struct strings {
	struct index index;
	struct entry {
		const char *text;
		uint32_t len;
	} * entries;
	size_t cnt, cap;
	struct block *blocks;
	char *at;
	size_t left;
	int failed;
};

static uint64_t entry_hash(const void *owner, uint32_t i)
{
	const struct entry *e = &((const struct strings *)owner)->entries[i];

	return hash_bytes(e->text, e->len);
}

static bool entry_equal(const void *owner, uint32_t i, const void *key)
{
	const struct entry *e = &((const struct strings *)owner)->entries[i];
	const struct span *s = key;

	return e->len == s->len && !memcmp(e->text, s->p, s->len);
}

static const struct index_ops entry_ops = {entry_hash, entry_equal};

int strings__new(struct strings **out)
{
	struct strings *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	if (array_reserve(&s->entries, &s->cap, 64)) {
		free(s);
		return -ENOMEM;
	}
	s->entries[s->cnt++] = (struct entry){0}; /* number 0; never in the index */
	strings__add(s, (struct span){"", 0});
	*out = s;
	return s->failed;
}

void strings__free(struct strings *s)
{
	if (!s)
		return;
	for (struct block *b = s->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	index_fini(&s->index);
	free(s->entries);
	free(s);
}

static char *store_bytes(struct strings *s, struct span text)
{
	size_t need = text.len + 1;
	char *p;

	if (need > s->left) {
		size_t sz = need > BLOCK_SZ ? need : BLOCK_SZ;
		struct block *b = malloc(sizeof(*b) + sz);

		if (!b)
			return NULL;
		b->next = s->blocks;
		s->blocks = b;
		s->at = b->bytes;
		s->left = sz;
	}
	p = s->at;
	memcpy(p, text.p, text.len);
	p[text.len] = 0;
	s->at += need;
	s->left -= need;
	return p;
}

uint32_t strings__add(struct strings *s, struct span text)
{
	uint64_t hash;
	uint32_t id;
	char *p;

	if (!text.p)
		return 0;
	text.len = strnlen(text.p, text.len);
	hash = hash_bytes(text.p, text.len);
	if (index_find(&s->index, &entry_ops, s, hash, &text, &id))
		return id;
	if (s->cnt >= UINT32_MAX - 1 || text.len > UINT32_MAX ||
	    array_reserve(&s->entries, &s->cap, s->cnt + 1) || !(p = store_bytes(s, text))) {
		s->failed = -ENOMEM;
		return 0;
	}
	id = s->cnt;
	s->entries[id] = (struct entry){p, text.len};
	if (index_add(&s->index, &entry_ops, s, hash, id)) {
		s->failed = -ENOMEM;
		return 0;
	}
	s->cnt++;
	return id;
}

const char *strings__get(const struct strings *s, uint32_t id)
{
	return s->entries[id].text;
}

int strings__failed(const struct strings *s)
{
	return s->failed;
}
