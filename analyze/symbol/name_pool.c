/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/symbol/name_pool.h"
#include "analyze/symbol/symbol.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/demangle.h"
#include "format/dwarf/symbol_budget.h"

struct node {
	struct pooled pub;
	uint64_t hash;
	bool symbol; /* demangled is final */
	bool scoped; /* one of several qualified names of this text */
};

struct chunk {
	struct chunk *next;
	size_t used, cap;
	_Alignas(16) char data[];
};

struct name_pool {
	pthread_mutex_t lock;
	struct chunk *chunks;
	struct node **table;
	size_t cnt, cap; /* cap: a power of two */
};

int name_pool__new(struct name_pool **out)
{
	struct name_pool *p = calloc(1, sizeof(*p));

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->cap = 1024;
	p->table = calloc(p->cap, sizeof(*p->table));
	if (!p->table) {
		free(p);
		return -ENOMEM;
	}
	pthread_mutex_init(&p->lock, NULL);
	*out = p;
	return 0;
}

void name_pool__free(struct name_pool *p)
{
	if (!p)
		return;
	for (struct chunk *c = p->chunks, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	pthread_mutex_destroy(&p->lock);
	free(p->table);
	free(p);
}

static void *allocate(struct name_pool *p, size_t sz)
{
	struct chunk *c = p->chunks;
	void *mem;

	sz = (sz + 15) & ~(size_t)15;
	if (!c || c->cap - c->used < sz) {
		size_t cap = sz > 65536 ? sz : 65536;

		c = malloc(sizeof(*c) + cap);
		if (!c)
			return NULL;
		*c = (struct chunk){.next = p->chunks, .cap = cap};
		p->chunks = c;
	}
	mem = c->data + c->used;
	c->used += sz;
	return mem;
}

static const char *copy(struct name_pool *p, const char *text)
{
	size_t sz = strlen(text) + 1;
	char *mem = allocate(p, sz);

	return mem ? memcpy(mem, text, sz) : NULL;
}

/* Eight bytes at a time: C++ names are long, and the name of every frame is looked up. */
static uint64_t hash_text(const char *s)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325), word;
	size_t len = strlen(s);

	for (; len; s += sizeof(word), len -= len < sizeof(word) ? len : sizeof(word)) {
		word = 0;
		memcpy(&word, s, len < sizeof(word) ? len : sizeof(word));
		h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
	}
	return h;
}

/* scoped: pooled qualified name, or NULL for the text alone. */
static bool is_node(const struct node *n, uint64_t hash, const char *text, const char *scoped)
{
	return n->hash == hash && (n->scoped ? n->pub.demangled : NULL) == scoped &&
	       !strcmp(n->pub.text, text);
}

static struct node **slot(struct name_pool *p, uint64_t hash, const char *text, const char *scoped)
{
	size_t i = hash & (p->cap - 1);

	while (p->table[i] && !is_node(p->table[i], hash, text, scoped))
		i = (i + 1) & (p->cap - 1);
	return &p->table[i];
}

static bool make_room(struct name_pool *p)
{
	struct node **table;
	size_t cap = p->cap * 2;

	if (p->cnt * 2 < p->cap)
		return true;
	table = calloc(cap, sizeof(*table));
	if (!table)
		return false;
	for (size_t i = 0; i < p->cap; i++) {
		struct node *n = p->table[i];
		size_t j;

		if (!n)
			continue;
		for (j = n->hash & (cap - 1); table[j]; j = (j + 1) & (cap - 1))
			;
		table[j] = n;
	}
	free(p->table);
	p->table = table;
	p->cap = cap;
	return true;
}

static struct node *get_locked(struct name_pool *p, const char *text)
{
	uint64_t hash = hash_text(text);
	struct node **s;
	struct node *n;

	if (!make_room(p))
		return NULL;
	s = slot(p, hash, text, NULL);
	if (*s)
		return *s;
	n = allocate(p, sizeof(*n));
	if (!n)
		return NULL;
	*n = (struct node){.pub.text = copy(p, text), .hash = hash};
	if (!n->pub.text)
		return NULL;
	*s = n;
	p->cnt++;
	return n;
}

/* Functions of the same name exist in many scopes, so such a node is found by both names. */
static struct node *get_scoped_locked(struct name_pool *p, const char *text, const char *scoped)
{
	struct node *bare = get_locked(p, text), *whole = get_locked(p, scoped), **s, *n;
	uint64_t hash;

	if (!bare || !whole || !make_room(p))
		return NULL;
	hash = hash_text(scoped) * UINT64_C(0x9e3779b97f4a7c15) ^ bare->hash;
	s = slot(p, hash, text, whole->pub.text);
	if (*s)
		return *s;
	n = allocate(p, sizeof(*n));
	if (!n)
		return NULL;
	*n = (struct node){{bare->pub.text, whole->pub.text}, hash, true, true};
	*s = n;
	p->cnt++;
	return n;
}

/* Charges the budget for copying and looking up a text. */
static bool affords(struct meter *m, size_t len)
{
	return !m || (meter_work(m, 8 + len / 4) && meter_bytes(m, sizeof(struct node) + len));
}

const struct pooled *name_pool__add(struct name_pool *p, const char *text, struct meter *m)
{
	struct node *n;

	if (!text || !affords(m, strlen(text)))
		return NULL;
	pthread_mutex_lock(&p->lock);
	n = get_locked(p, text);
	pthread_mutex_unlock(&p->lock);
	return n ? &n->pub : NULL;
}

static void set_demangled(struct name_pool *p, struct node *n, const char *demangled)
{
	if (n->symbol)
		return;
	if (demangled)
		n->pub.demangled = copy(p, demangled);
	n->symbol = true;
}

const struct pooled *name_pool__add_known(struct name_pool *p, const char *text,
					  const char *demangled)
{
	struct node *n;

	if (!text)
		return NULL;
	pthread_mutex_lock(&p->lock);
	if (demangled && !demangle_is_mangled(text)) {
		n = get_scoped_locked(p, text, demangled);
	} else {
		n = get_locked(p, text);
		if (n)
			set_demangled(p, n, demangled);
	}
	pthread_mutex_unlock(&p->lock);
	return n ? &n->pub : NULL;
}

const struct pooled *name_pool__add_scoped(struct name_pool *p, const char *text,
					   const char *scoped, struct meter *m)
{
	struct node *n;

	if (demangle_is_mangled(text))
		return name_pool__add_symbol(p, text, m);
	if (!affords(m, 2 * strlen(text)) || !affords(m, 2 * strlen(scoped)))
		return NULL;
	pthread_mutex_lock(&p->lock);
	n = get_scoped_locked(p, text, scoped);
	pthread_mutex_unlock(&p->lock);
	return n ? &n->pub : NULL;
}

/* Demangles a name if the budget covers the work, estimated from its length, and a copy of the
 * result. */
static char *demangle_metered(const char *text, struct meter *m)
{
	char *demangled;

	if (m && text[0] == '_' && !meter_work(m, 32 * strlen(text)))
		return NULL;
	demangled = demangle(text);
	if (!demangled || !m || affords(m, strlen(demangled)))
		return demangled;
	free(demangled);
	return NULL;
}

const struct pooled *name_pool__add_symbol(struct name_pool *p, const char *text, struct meter *m)
{
	char *demangled;
	bool done;
	struct node *n;

	if (!text || !affords(m, strlen(text)))
		return NULL;
	pthread_mutex_lock(&p->lock);
	n = get_locked(p, text);
	done = !n || n->symbol;
	pthread_mutex_unlock(&p->lock);
	if (done)
		return n ? &n->pub : NULL;
	demangled = demangle_metered(text, m); /* slow, so done outside the lock */
	pthread_mutex_lock(&p->lock);
	set_demangled(p, n, demangled);
	pthread_mutex_unlock(&p->lock);
	free(demangled);
	return &n->pub;
}
