/* SPDX-License-Identifier: BSD-2-Clause */
/* The budget's decisions against a load whose cost follows the levels. */
#include <stdio.h>

#include "../../record/budget.h"

static int failed;

static void check(const char *what, int ok)
{
	if (!ok) {
		printf("FAILED: %s\n", what);
		failed = 1;
	}
}

#define HALF_SECOND 500000000ULL

/* `base` cannot be thinned, the levers cost `full` at level 0. Returns the used share, of 65536. */
static uint64_t run(struct budget *b, int steps, uint64_t base, const uint64_t full[LEVER_CNT],
		    unsigned *changes)
{
	uint64_t used = 0;

	*changes = 0;
	for (int s = 0; s < steps; s++) {
		uint64_t cost[LEVER_CNT];

		used = base;
		for (int i = 0; i < LEVER_CNT; i++)
			used += cost[i] = full[i] >> b->level[i];
		*changes += budget_step(b, HALF_SECOND, used, cost) != LEVER_CNT;
	}
	return used * 65536 / HALF_SECOND;
}

int main(void)
{
	const uint64_t budget = 65536 / 20; /* 5 % */
	const uint64_t heavy[LEVER_CNT] = {200000000, 50000000, 0},
		       light[LEVER_CNT] = {1000000, 0, 0}, none[LEVER_CNT] = {0};
	struct budget b = {.per_64k = budget};
	unsigned changes;

	run(&b, 10, 1000000, light, &changes);
	check("nothing is thinned below the budget", !changes && !b.level[LEVER_CPU]);
	check("held under load", run(&b, 10, 1000000, heavy, &changes) <= budget);
	check("thinned what costs", b.level[LEVER_CPU] && b.level[LEVER_OFFCPU]);
	check("not what is off", !b.level[LEVER_PAYLOAD]);
	run(&b, 200, 1000000, heavy, &changes);
	check("comes to rest", changes <= 1);
	run(&b, 200, 1000000, light, &changes);
	check("restored when the load goes", !b.level[LEVER_CPU] && !b.level[LEVER_OFFCPU]);

	b = (struct budget){.per_64k = budget};
	run(&b, 100, 400000000, light, &changes);
	check("what costs next to nothing is kept, whatever the rest costs",
	      !b.level[LEVER_CPU] && !changes);
	run(&b, 100, 400000000, none, &changes);
	check("nothing to thin", !changes);
	const uint64_t huge[LEVER_CNT] = {~0ULL >> 3, ~0ULL >> 3, ~0ULL >> 3};
	run(&b, 100, 0, huge, &changes);
	check("levels end", b.level[0] == BUDGET_MAX_LEVEL && b.level[2] == BUDGET_MAX_LEVEL);
	return failed;
}
