/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/intake/stack_table.h"

/* Open addressing. The key is a hash already, so its low bits choose the slot. hash 0: free. */
enum { SLOTS_MIN = 1024, WAITING_MIN = 64 };

_Static_assert(sizeof(struct stack_entry) == 16, "four to a cache line");

struct waiting {
	uint32_t by_kind[STACK_KINDS];
};

struct stacks {
	struct stack_entry *slots;
	size_t cap, cnt;
	uint32_t last_id;
	/* Only a few stacks have samples before their definition, so these counts are stored
	 * separately; index 0 is unused. */
	struct waiting *waiting;
	size_t waiting_cap, waiting_end, waiting_live;
};

int stacks__new(struct stacks **out)
{
	struct stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->cap = SLOTS_MIN;
	s->slots = calloc(s->cap, sizeof(*s->slots));
	if (!s->slots) {
		free(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

void stacks__free(struct stacks *s)
{
	if (!s)
		return;
	free(s->slots);
	free(s->waiting);
	free(s);
}

static struct stack_entry *find(struct stack_entry *slots, size_t cap, uint64_t hash)
{
	size_t i = hash & (cap - 1);

	while (slots[i].hash && slots[i].hash != hash)
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

/* Moves all entries, or those used in this epoch, to a table of `cap` slots. */
static int rebuild(struct stacks *s, size_t cap, bool only_used)
{
	struct stack_entry *slots = calloc(cap, sizeof(*slots));
	size_t cnt = 0;

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < s->cap; i++) {
		struct stack_entry *e = &s->slots[i];

		if (!e->hash || (only_used && !e->used))
			continue;
		*find(slots, cap, e->hash) = *e;
		cnt++;
	}
	free(s->slots);
	s->slots = slots;
	s->cap = cap;
	s->cnt = cnt;
	return 0;
}

struct stack_entry *stacks__get(struct stacks *s, uint64_t hash)
{
	struct stack_entry *e;

	if (!hash)
		hash = 1;
	e = find(s->slots, s->cap, hash);
	if (!e->hash) {
		if (s->cnt >= s->cap / 4 * 3) {
			if (rebuild(s, s->cap * 2, false) && s->cnt >= s->cap - 1)
				return NULL;
			e = find(s->slots, s->cap, hash);
		}
		e->hash = hash;
		e->id = ++s->last_id;
		s->cnt++;
	}
	e->used = true;
	return e;
}

/* ---- samples before their definition ---- */

static uint32_t waiting_place(struct stacks *s)
{
	if (s->waiting_end == s->waiting_cap) {
		size_t cap = s->waiting_cap ? s->waiting_cap * 2 : WAITING_MIN;
		struct waiting *w = realloc(s->waiting, cap * sizeof(*w));

		if (!w)
			return 0;
		s->waiting = w;
		s->waiting_cap = cap;
	}
	if (!s->waiting_end)
		s->waiting_end = 1;
	s->waiting[s->waiting_end] = (struct waiting){0};
	s->waiting_live++;
	return s->waiting_end++;
}

bool stacks__wait(struct stacks *s, struct stack_entry *e, unsigned kind)
{
	if (!e->error)
		e->error = waiting_place(s);
	if (!e->error)
		return false;
	s->waiting[e->error].by_kind[kind]++;
	return true;
}

void stacks__define(struct stacks *s, struct stack_entry *e, uint32_t error,
		    uint32_t waited[STACK_KINDS])
{
	memset(waited, 0, sizeof(struct waiting));
	if (!e->defined && e->error) {
		memcpy(waited, &s->waiting[e->error], sizeof(struct waiting));
		if (!--s->waiting_live) /* usually the case */
			s->waiting_end = 0;
	}
	e->defined = true;
	e->error = error;
}

/* Removes the places of entries that have been defined. */
static void waiting_pack(struct stacks *s)
{
	struct waiting *packed = NULL;
	uint32_t end = 0;

	if (s->waiting_live) {
		packed = malloc((s->waiting_live + 1) * sizeof(*packed));
		if (!packed)
			return;
		end = 1;
	}
	for (size_t i = 0; packed && i < s->cap; i++) {
		struct stack_entry *e = &s->slots[i];

		if (!e->hash || e->defined || !e->error)
			continue;
		packed[end] = s->waiting[e->error];
		e->error = end++;
	}
	free(s->waiting);
	s->waiting = packed;
	s->waiting_cap = s->waiting_end = end;
}

/* ---- epochs ---- */

void stacks__advance(struct stacks *s, size_t keep, stack_fn lost, void *ctx)
{
	const bool forget = s->cnt > keep;
	size_t cap = s->cap, stay = 0;

	for (size_t i = 0; i < s->cap; i++) {
		struct stack_entry *e = &s->slots[i];

		if (!e->hash)
			continue;
		if (e->used || !forget)
			stay++;
		else if (!e->defined)
			lost(ctx, e);
	}
	while (cap > SLOTS_MIN && stay < cap / 4) /* shrink after a burst */
		cap /= 2;
	if (stay < s->cnt || cap < s->cap)
		rebuild(s, cap, forget);
	waiting_pack(s);
	for (size_t i = 0; i < s->cap; i++)
		s->slots[i].used = s->slots[i].current = false;
}

void stacks__each_undefined(struct stacks *s, stack_fn fn, void *ctx)
{
	for (size_t i = 0; i < s->cap; i++)
		if (s->slots[i].hash && !s->slots[i].defined)
			fn(ctx, &s->slots[i]);
}
