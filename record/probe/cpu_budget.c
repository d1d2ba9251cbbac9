/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdbool.h>

#include "record/probe/cpu_budget.h"

/*
 * Restored only after this many calm measurements, and only when the doubled cost leaves a margin:
 * or it would swing. What was restored and had to be taken again within HASTY is waited for longer.
 */
enum { CALM = 4, HASTY = 6, SETTLED, PATIENCE_MAX = 240, MAX_STEP = 3 };

unsigned budget_max_level(enum budget_lever l)
{
	return l == LEVER_OFFCPU      ? OFFCPU_LEVEL_OFF
	       : l == LEVER_PROCESSES ? PROCESSES_LEVEL_END
				      : 10;
}

/* As far as halving goes. */
static unsigned last_half(enum budget_lever l)
{
	return l == LEVER_OFFCPU ? OFFCPU_LEVEL_OFF - 1 : budget_max_level(l);
}

/* The dearest one that has a level left. What makes less than a twentieth of it is no use. */
static enum budget_lever dearest(const struct budget *b, const struct budget_use *use)
{
	enum budget_lever best = LEVER_CNT;

	for (int i = 0; i < LEVER_CNT; i++)
		if (b->level[i] < last_half(i) && use->cost_ns[i] > use->used_ns / 20 &&
		    (best == LEVER_CNT || use->cost_ns[i] > use->cost_ns[best]))
			best = i;
	return best;
}

/* The one whose return costs least. */
static enum budget_lever cheapest(const struct budget *b, const struct budget_use *use)
{
	enum budget_lever best = LEVER_CNT;

	for (int i = 0; i < LEVER_CNT; i++)
		if (b->level[i] && b->calm >= b->patience[i] &&
		    (best == LEVER_CNT || use->cost_ns[i] < use->cost_ns[best]))
			best = i;
	return best;
}

static void halve(struct budget *b, const struct budget_use *use, enum budget_lever l,
		  uint64_t limit)
{
	for (int i = 0; i < MAX_STEP && b->level[l] < last_half(l); i++) {
		b->level[l]++;
		if (use->used_ns - use->cost_ns[l] + (use->cost_ns[l] >> (i + 1)) <= limit)
			break;
	}
}

/* Nothing more can be halved: the hooks themselves. */
static bool drop_hooks(struct budget *b, const struct budget_use *use)
{
	unsigned *level = &b->level[LEVER_OFFCPU];

	if (use->offcpu_hooks_ns <= use->used_ns / 20 || *level == OFFCPU_LEVEL_OFF)
		return false;
	*level = *level < OFFCPU_LEVEL_EARLY ? OFFCPU_LEVEL_EARLY : OFFCPU_LEVEL_OFF;
	return true;
}

static enum budget_lever thin_out(struct budget *b, const struct budget_use *use, uint64_t limit)
{
	enum budget_lever l = dearest(b, use);

	b->calm = 0;
	if (l != LEVER_CNT)
		halve(b, use, l, limit);
	else if (drop_hooks(b, use))
		l = LEVER_OFFCPU;
	if (l == LEVER_CNT)
		return l;
	if (b->since_restored[l] <= HASTY)
		b->patience[l] =
			b->patience[l] * 2 < PATIENCE_MAX ? b->patience[l] * 2 : PATIENCE_MAX;
	b->since_restored[l] = SETTLED;
	return l;
}

static enum budget_lever restore(struct budget *b, const struct budget_use *use, uint64_t limit)
{
	enum budget_lever l;

	b->calm++;
	l = cheapest(b, use);
	if (l == LEVER_CNT)
		return l;
	if (use->used_ns + use->cost_ns[l] > limit / 10 * 8) {
		b->calm = 0;
		return LEVER_CNT;
	}
	b->calm = 0;
	b->level[l]--;
	b->since_restored[l] = 0;
	return l;
}

enum budget_lever budget_step(struct budget *b, const struct budget_use *use)
{
	uint64_t limit = use->interval_ns / 65536 * b->per_64k;

	for (int i = 0; i < LEVER_CNT; i++) {
		if (!b->patience[i]) { /* the first measurement */
			b->patience[i] = CALM;
			b->since_restored[i] = SETTLED;
		}
		if (b->since_restored[i] < SETTLED && ++b->since_restored[i] == SETTLED)
			b->patience[i] = CALM; /* that went well */
	}
	return use->used_ns > limit ? thin_out(b, use, limit) : restore(b, use, limit);
}
