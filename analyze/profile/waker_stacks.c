/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/profile/waker_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/base/index.h"
#include "analyze/load/threads.h"
#include "analyze/profile/tracing_frames.h"
#include "format/text.h"

#define SAMPLES_MAX (2u << 20) /* 112 MB */

struct half {
	uint64_t ts_ns;
	struct weight weight;
	uint32_t capture;
	bool waker;
};

/* A wait's stack, with that of its waker: the same pairs occur often. */
struct joined {
	uint32_t sleeper, waker, name, stack; /* name: address of its frame */
};

struct waker_stacks {
	struct half *v;
	size_t cnt, cap;
	bool full, found;
	struct index index; /* of joined */
	struct joined *joined;
	size_t joined_cnt, joined_cap;
	uint32_t binary; /* holds the frames between both parts, by address: a string's number */
	struct stack_path sleeper, waker;
	struct stack_step last;
	uint32_t node; /* of the stack being built */
};

int waker_stacks__new(struct waker_stacks **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void waker_stacks__free(struct waker_stacks *w)
{
	if (!w)
		return;
	index_fini(&w->index);
	stack_path_fini(&w->sleeper);
	stack_path_fini(&w->waker);
	free(w->joined);
	free(w->v);
	free(w);
}

static bool is_named(const struct load *l, uint32_t kind, const char *name)
{
	return !strcmp(sample_kinds__get(l->kinds, kind)->name, name);
}

bool waker_stacks__is_wait(const struct load *l, uint32_t kind)
{
	return is_named(l, kind, "offcpu");
}

bool waker_stacks__is_waker(const struct load *l, uint32_t kind)
{
	return is_named(l, kind, "wakeup");
}

int waker_stacks__add(struct waker_stacks *w, const struct load *l, uint32_t capture,
		      uint64_t ts_ns, const struct weight *weight)
{
	bool waker = waker_stacks__is_waker(l, weight->kind);

	if (!waker && !waker_stacks__is_wait(l, weight->kind))
		return 0;
	w->found |= waker;
	w->full = w->cnt == SAMPLES_MAX;
	if (w->full)
		return 0;
	if (array_reserve(&w->v, &w->cap, w->cnt + 1))
		return -ENOMEM;
	w->v[w->cnt++] = (struct half){ts_ns, *weight, capture, waker};
	return 0;
}

/* Waits before wakers. */
static int by_moment(const void *a, const void *b)
{
	const struct half *x = a, *y = b;

	if (x->capture != y->capture)
		return x->capture < y->capture ? -1 : 1;
	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->waker - y->waker;
}

static void push(struct waker_stacks *w, struct load *l, struct stack_step step)
{
	stacks__step(l->stacks, w->node ? &w->last : NULL, &step);
	w->node = stacks__node(l->stacks, w->node, &step);
	w->last = step;
}

static void push_level(struct waker_stacks *w, struct load *l, const struct stack_level *level)
{
	const struct location *at = &stacks__locations(l->stacks)[level->location];

	push(w, l, (struct stack_step){.address = at->address, .binary = at->binary});
}

static int build(struct waker_stacks *w, struct load *l, struct joined *j)
{
	struct stack sleeper = stacks__get(l->stacks, j->sleeper), to = {0};
	bool known = j->waker != STACK_NO_NODE;

	to.error = sleeper.error;
	if (stacks__walk(l->stacks, j->sleeper, &w->sleeper) < 0)
		return -ENOMEM;
	w->node = 0;
	for (size_t i = 0; i < w->sleeper.cnt; i++)
		push_level(w, l, &w->sleeper.v[i]);
	push(w, l, (struct stack_step){.address = j->name, .binary = w->binary});
	if (known) {
		to.error = to.error ?: stacks__get(l->stacks, j->waker).error;
		if (stacks__walk(l->stacks, j->waker, &w->waker) < 0)
			return -ENOMEM;
		for (size_t i = w->waker.cnt; i-- > 0;)
			push_level(w, l, &w->waker.v[i]);
	}
	to.user = w->node;
	j->stack = stacks__add(l->stacks, to);
	return 0;
}

static bool joined_equal(const void *owner, uint32_t i, const void *key)
{
	const struct joined *j = &((const struct waker_stacks *)owner)->joined[i], *k = key;

	return j->sleeper == k->sleeper && j->waker == k->waker && j->name == k->name;
}

static int join(struct waker_stacks *w, struct load *l, struct joined *j)
{
	uint64_t hash = hash_mix(hash_mix((uint64_t)j->sleeper << 32 | j->waker) ^ j->name);
	uint32_t i;
	int err;

	if (index_find(&w->index, joined_equal, w, hash, j, &i)) {
		*j = w->joined[i];
		return 0;
	}
	err = build(w, l, j);
	if (err || array_reserve(&w->joined, &w->joined_cap, w->joined_cnt + 1) ||
	    index_add(&w->index, hash, w->joined_cnt))
		return -ENOMEM;
	w->joined[w->joined_cnt++] = *j;
	return 0;
}

/* The frame between both parts; its address is that of a string. */
static uint32_t name_of(struct waker_stacks *w, struct load *l, const struct half *waker)
{
	const struct thread *t =
		waker && l->threads ? threads__find(l->threads, waker->weight.thread) : NULL;
	const char *comm = t ? strings__get(l->strings, t->comm) : NULL;
	struct strbuf b = {0};
	uint32_t name;

	strbuf_addf(&b, waker ? "woken by %s" : "woken by: not known",
		    comm && *comm ? comm : "a thread without a name");
	name = strings__add(l->strings, (struct span){b.p, b.len});
	strbuf_fini(&b);
	binaries__name(l->binaries, w->binary, name, name);
	return name;
}

/* A wait, with its waker or NULL. */
static int write_wait(struct waker_stacks *w, struct load *l, const struct half *wait,
		      const struct half *waker)
{
	struct joined j = {.sleeper = wait->weight.stack,
			   .waker = waker ? waker->weight.stack : STACK_NO_NODE,
			   .name = name_of(w, l, waker)};
	struct weight weight = wait->weight;
	uint32_t hint = 0;
	int err = join(w, l, &j);

	weight.stack = j.stack;
	return err ? err : weights__add(l->weights, &weight, &hint);
}

int waker_stacks__write(struct waker_stacks *w, struct load *l)
{
	int err = 0;

	if (w->full)
		message_warn("too many off-CPU waits: only the first are shown; see --from, --to");
	else if (w->cnt && !w->found)
		message_warn("who ended the waits was not recorded: record with -e offcpu,wakers");
	w->binary = binaries__artificial(l->binaries, "[wakers]");
	if (!w->binary)
		return -ENOMEM;
	if (w->cnt)
		qsort(w->v, w->cnt, sizeof(*w->v), by_moment);
	for (size_t i = 0, end; i < w->cnt && !err; i = end) {
		const struct half *at = &w->v[i];
		bool pair;

		for (end = i + 1; end < w->cnt && w->v[end].capture == at->capture &&
				  w->v[end].ts_ns == at->ts_ns;)
			end++;
		pair = end - i == 2 && !at->waker && at[1].waker && at->weight.count == 1;
		for (size_t k = i; k < end && !w->v[k].waker && !err; k++)
			err = write_wait(w, l, &w->v[k], pair ? at + 1 : NULL);
	}
	return err;
}

/* ---- frames that are not theirs */

static enum tracing_class class_of(const struct waker_stacks *w, const struct load *l,
				   const uint8_t *classes, size_t level)
{
	return tracing_frames__class(
		l, classes, &stacks__locations(l->stacks)[w->sleeper.v[level].location]);
}

static bool is_name(const struct waker_stacks *w, const struct load *l, size_t level)
{
	return stacks__locations(l->stacks)[w->sleeper.v[level].location].binary == w->binary;
}

/* In w->sleeper, the whole stack: [0, *sleeper) is the sleeper's, `name` the frame between, and
 * [*waker, *end) the waker's. */
static size_t parts(const struct waker_stacks *w, const struct load *l, const uint8_t *classes,
		    size_t *sleeper, size_t *waker, size_t *end)
{
	size_t name = 0, cnt = w->sleeper.cnt;

	while (name < cnt && !is_name(w, l, name))
		name++;
	for (*sleeper = name; *sleeper && class_of(w, l, classes, *sleeper - 1) == TRACING_PROGRAM;)
		--*sleeper;
	for (*waker = name + 1; *waker < cnt && class_of(w, l, classes, *waker) == TRACING_PROGRAM;)
		++*waker;
	for (*end = *waker; *end < cnt;)
		if (class_of(w, l, classes, (*end)++) == TRACING_INTERRUPT)
			break;
	return name;
}

static int trim(struct waker_stacks *w, struct load *l, const uint8_t *classes, uint32_t stack)
{
	struct stack s = stacks__get(l->stacks, stack);
	size_t name, sleeper, waker, end;

	if (stacks__walk(l->stacks, stack, &w->sleeper) < 0)
		return -ENOMEM;
	name = parts(w, l, classes, &sleeper, &waker, &end);
	if (name == w->sleeper.cnt || /* no room for the stack */
	    (sleeper == name && waker == name + 1 && end == w->sleeper.cnt))
		return 0;
	w->node = 0;
	for (size_t i = 0; i < end; i++)
		if (i < sleeper || i == name || i >= waker)
			push_level(w, l, &w->sleeper.v[i]);
	s.user = w->node;
	if (s.user != STACK_NO_NODE)
		stacks__set(l->stacks, stack, s);
	return 0;
}

int waker_stacks__trim(struct waker_stacks *w, struct load *l)
{
	uint8_t *classes = tracing_frames__classes(l);
	int err = classes ? 0 : -ENOMEM;

	for (size_t i = 0; i < w->joined_cnt && !err; i++)
		err = trim(w, l, classes, w->joined[i].stack);
	free(classes);
	return err;
}
