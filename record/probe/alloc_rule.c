/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "record/probe/alloc_rule.h"

double alloc_weight(uint64_t size, uint64_t rate)
{
	return rate ? size / -expm1(-(double)size / rate) : size;
}

/* Go draws gaps of at most this mean (runtime.fastexprand). */
#define GO_RATE_MAX 0x7000000

uint64_t alloc_go_rate(uint64_t value)
{
	if ((int64_t)value < 1) /* changed since the allocation was sampled */
		return 1;
	return value < GO_RATE_MAX ? value : GO_RATE_MAX;
}

double alloc_first_gap(double u, uint64_t rate)
{
	return -log(u) * rate;
}

uint64_t alloc_round(double x, double u)
{
	uint64_t whole = x;

	return whole + (u < x - whole);
}

/* ---- leaks */

/* An allocation became old, or was freed. */
struct change {
	uint64_t ts_ns;
	bool freed;
};

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->freed - y->freed;
}

/* The number of old ones over time, and what the rule looks at. */
struct growth {
	uint64_t old, added;
	uint64_t from_ns, before, removed; /* since when; then; freed since then */
	uint64_t most, fell_from;
};

static void follow(struct growth *g, const struct change *changes, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		const struct change *c = &changes[i];

		if (c->freed)
			g->old--;
		else
			g->old++;
		if (c->ts_ns <= g->from_ns)
			g->before = g->old;
		else
			g->removed += c->freed;
		if (g->old > g->most)
			g->most = g->old;
		if (2 * g->old <= g->most)
			g->fell_from = g->most;
	}
}

static bool grows(const struct growth *g)
{
	double grown = (double)g->old - g->before;

	return grown >= 1 && grown >= g->old / 16.0 && grown >= 4 * sqrt(2.0 * g->removed) &&
	       g->old >= 2 * g->fell_from;
}

/* Those of the range that are not decided. min: old ones of a leak. */
static int verdict(const struct alloc_life *lives, size_t cnt, struct change *changes,
		   uint64_t end_ns, uint64_t age_ns, uint64_t min)
{
	uint64_t first_ns = UINT64_MAX;
	struct growth g = {0};
	size_t n = 0, known = 0;

	for (size_t i = 0; i < cnt; i++) {
		const struct alloc_life *l = &lives[i];
		uint64_t old_ns = l->birth_ns + age_ns;

		if (l->verdict != ALLOC_UNDECIDED || old_ns > end_ns)
			continue;
		known++;
		changes[n++] = (struct change){old_ns, false};
		if (l->freed_ns)
			changes[n++] = (struct change){l->freed_ns, true};
		else if (old_ns < first_ns)
			first_ns = old_ns;
	}
	qsort(changes, n, sizeof(*changes), by_time);
	g.from_ns = end_ns - (end_ns - first_ns) / 4;
	follow(&g, changes, n);
	if (g.old >= min && grows(&g))
		return ALLOC_LEAK;
	return known < ALLOC_SURE ? ALLOC_UNDECIDED : ALLOC_NO_LEAK;
}

static int by_stack(const void *a, const void *b)
{
	const struct alloc_life *x = a, *y = b;

	if (x->near != y->near)
		return x->near < y->near ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static bool same_stack(const struct alloc_life *a, const struct alloc_life *b)
{
	return !by_stack(a, b);
}

static bool same_near(const struct alloc_life *a, const struct alloc_life *b)
{
	return a->near == b->near;
}

static bool same_process(const struct alloc_life *a, const struct alloc_life *b)
{
	return true;
}

int alloc_judge(struct alloc_life *lives, size_t cnt, uint64_t end_ns, uint64_t age_ns)
{
	static const struct {
		bool (*same)(const struct alloc_life *a, const struct alloc_life *b);
		uint64_t min;
	} groups[] = {
		{same_stack, ALLOC_LEAK_MIN}, {same_near, ALLOC_SURE}, {same_process, ALLOC_SURE}};
	struct change *changes = malloc((2 * cnt + 1) * sizeof(*changes));

	if (!changes)
		return -ENOMEM;
	qsort(lives, cnt, sizeof(*lives), by_stack);
	for (size_t k = 0; k < sizeof(groups) / sizeof(*groups); k++)
		for (size_t i = 0, n; i < cnt; i += n) {
			int v;

			for (n = 1; i + n < cnt && groups[k].same(&lives[i], &lives[i + n]); n++)
				;
			v = verdict(&lives[i], n, changes, end_ns, age_ns, groups[k].min);
			for (size_t j = i; j < i + n; j++)
				if (lives[j].verdict == ALLOC_UNDECIDED)
					lives[j].verdict = v;
		}
	free(changes);
	return 0;
}
