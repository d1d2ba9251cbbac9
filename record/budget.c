/* SPDX-License-Identifier: BSD-2-Clause */
#include "budget.h"

/* Restored only after this many calm measurements, and only when the doubled cost leaves a margin:
 * or it would swing. */
enum { CALM = 4, MAX_STEP = 3 };

/* The dearest one that has a level left. What makes less than a twentieth of it is no use. */
static enum budget_lever dearest(const struct budget *b, uint64_t used,
				 const uint64_t cost[LEVER_CNT])
{
	enum budget_lever best = LEVER_CNT;

	for (int i = 0; i < LEVER_CNT; i++)
		if (b->level[i] < BUDGET_MAX_LEVEL && cost[i] > used / 20 &&
		    (best == LEVER_CNT || cost[i] > cost[best]))
			best = i;
	return best;
}

/* The cheapest one that was thinned. */
static enum budget_lever cheapest(const struct budget *b, const uint64_t cost[LEVER_CNT])
{
	enum budget_lever best = LEVER_CNT;

	for (int i = 0; i < LEVER_CNT; i++)
		if (b->level[i] && (best == LEVER_CNT || cost[i] < cost[best]))
			best = i;
	return best;
}

enum budget_lever budget_step(struct budget *b, uint64_t interval_ns, uint64_t used_ns,
			      const uint64_t cost_ns[LEVER_CNT])
{
	uint64_t limit = interval_ns / 65536 * b->per_64k;
	enum budget_lever l;

	if (used_ns > limit) {
		b->calm = 0;
		l = dearest(b, used_ns, cost_ns);
		if (l == LEVER_CNT)
			return l;
		for (int i = 0; i < MAX_STEP && b->level[l] < BUDGET_MAX_LEVEL; i++) {
			b->level[l]++;
			if (used_ns - cost_ns[l] + (cost_ns[l] >> (i + 1)) <= limit)
				break;
		}
		return l;
	}
	l = cheapest(b, cost_ns);
	if (l == LEVER_CNT || used_ns + cost_ns[l] > limit / 10 * 8) {
		b->calm = 0;
		return LEVER_CNT;
	}
	if (++b->calm < CALM)
		return LEVER_CNT;
	b->calm = 0;
	b->level[l]--;
	return l;
}
