/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdbool.h>

#include "record/probe/cpu_budget.h"

/*
 * A lever is restored only after this many calm measurements, and only if doubling its cost leaves
 * a margin; this avoids oscillation. If it must be throttled again within HASTY measurements, its
 * required number doubles.
 */
enum { CALM = 4, HASTY = 6, SETTLED, PATIENCE_MAX = 240, MAX_STEP = 3 };

/* The last level reached by halving. */
static unsigned last_half(const struct lever *l)
{
	return l->off ? l->off - 1 : l->end;
}

/*
 * Returns the most expensive lever with a level left. Ignores those below 1/20 of the total cost.
 */
static int dearest(const struct budget *b, const struct budget_use *use)
{
	int best = BUDGET_NONE;

	for (int i = 0; i < b->cnt; i++)
		if (b->level[i] < last_half(b->lever[i]) && use->cost_ns[i] > use->used_ns / 20 &&
		    (best < 0 || use->cost_ns[i] > use->cost_ns[best]))
			best = i;
	return best;
}

/* Returns the lever that is cheapest to restore. */
static int cheapest(const struct budget *b, const struct budget_use *use)
{
	int best = BUDGET_NONE;

	for (int i = 0; i < b->cnt; i++)
		if (b->level[i] && b->calm >= b->patience[i] &&
		    (best < 0 || use->cost_ns[i] < use->cost_ns[best]))
			best = i;
	return best;
}

static void halve(struct budget *b, const struct budget_use *use, int l, uint64_t limit)
{
	for (int i = 0; i < MAX_STEP && b->level[l] < last_half(b->lever[l]); i++) {
		b->level[l]++;
		if (use->used_ns - use->cost_ns[l] + (use->cost_ns[l] >> (i + 1)) <= limit)
			break;
	}
}

/* Nothing can be halved further: detach the most expensive hooks. */
static int drop_hooks(struct budget *b, const struct budget_use *use)
{
	int best = BUDGET_NONE;

	for (int i = 0; i < b->cnt; i++)
		if (b->level[i] < b->lever[i]->off && use->hooks_ns[i] > use->used_ns / 20 &&
		    (best < 0 || use->hooks_ns[i] > use->hooks_ns[best]))
			best = i;
	if (best >= 0)
		b->level[best] = b->level[best] < b->lever[best]->early ? b->lever[best]->early
									: b->lever[best]->off;
	return best;
}

static int thin_out(struct budget *b, const struct budget_use *use, uint64_t limit)
{
	int l = dearest(b, use);

	b->calm = 0;
	if (l >= 0)
		halve(b, use, l, limit);
	else
		l = drop_hooks(b, use);
	if (l < 0)
		return l;
	if (b->since_restored[l] <= HASTY)
		b->patience[l] =
			b->patience[l] * 2 < PATIENCE_MAX ? b->patience[l] * 2 : PATIENCE_MAX;
	b->since_restored[l] = SETTLED;
	return l;
}

static int restore(struct budget *b, const struct budget_use *use, uint64_t limit)
{
	int l;

	b->calm++;
	l = cheapest(b, use);
	if (l < 0)
		return l;
	if (use->used_ns + use->cost_ns[l] > limit / 10 * 8) {
		b->calm = 0;
		return BUDGET_NONE;
	}
	b->calm = 0;
	b->level[l]--;
	b->since_restored[l] = 0;
	return l;
}

int budget_step(struct budget *b, const struct budget_use *use)
{
	uint64_t limit = use->interval_ns / 65536 * b->per_64k;

	for (int i = 0; i < b->cnt; i++) {
		if (!b->patience[i]) { /* the first measurement */
			b->patience[i] = CALM;
			b->since_restored[i] = SETTLED;
		}
		if (b->since_restored[i] < SETTLED && ++b->since_restored[i] == SETTLED)
			b->patience[i] = CALM; /* restoring was successful */
	}
	return use->used_ns > limit ? thin_out(b, use, limit) : restore(b, use, limit);
}
