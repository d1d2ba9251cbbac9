/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "stacks.h"

/* Open addressing; the hash is one already, so its low bits choose the slot. hash 0 is free. */
enum { SLOTS_MIN = 1024 };

struct stacks {
	struct stack_entry *slots;
	size_t cap, cnt;
	uint32_t last_id, epoch;
};

int stacks__new(struct stacks **out)
{
	struct stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->cap = SLOTS_MIN;
	s->epoch = 1;
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
	free(s);
}

static struct stack_entry *find(struct stack_entry *slots, size_t cap, uint64_t hash)
{
	size_t i = hash & (cap - 1);

	while (slots[i].hash && slots[i].hash != hash)
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

/* Moves what was used at or after epoch `since` to a table of `cap` slots. */
static int rebuild(struct stacks *s, size_t cap, uint32_t since)
{
	struct stack_entry *slots = calloc(cap, sizeof(*slots));
	size_t cnt = 0;

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < s->cap; i++) {
		struct stack_entry *e = &s->slots[i];

		if (!e->hash || e->seen < since)
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
		if (s->cnt >= s->cap / 2) {
			if (rebuild(s, s->cap * 2, 0) && s->cnt >= s->cap - 1)
				return NULL;
			e = find(s->slots, s->cap, hash);
		}
		e->hash = hash;
		e->id = ++s->last_id;
		s->cnt++;
	}
	e->seen = s->epoch;
	return e;
}

size_t stacks__cnt(const struct stacks *s)
{
	return s->cnt;
}

uint32_t stacks__epoch(const struct stacks *s)
{
	return s->epoch;
}

void stacks__advance(struct stacks *s, size_t keep)
{
	size_t cap = s->cap;

	s->epoch++;
	if (s->cnt > keep)
		rebuild(s, s->cap, s->epoch - 2);
	while (cap > SLOTS_MIN && s->cnt < cap / 8) /* after a burst */
		cap /= 2;
	if (cap < s->cap)
		rebuild(s, cap, 0);
}

void stacks__each(struct stacks *s, void (*fn)(void *ctx, struct stack_entry *e), void *ctx)
{
	for (size_t i = 0; i < s->cap; i++)
		if (s->slots[i].hash)
			fn(ctx, &s->slots[i]);
}
