/* SPDX-License-Identifier: BSD-2-Clause */
/* The budget's decisions against a load whose cost follows the levels. */
#include <stdio.h>

#include "record/probe/cpu_budget.h"
#include "record/probe/probe.h"
#include "record/session/thin.h"

extern const struct probe probe_cpu_entry, probe_offcpu_entry, probe_l7_entry;

enum { CPU, OFFCPU, PAYLOAD, PROCESSES, LEVER_CNT };

static int failed;

static void check(const char *what, int ok)
{
	if (!ok) {
		printf("FAILED: %s\n", what);
		failed = 1;
	}
}

#define HALF_SECOND 500000000ULL

/* Of the hooks of off-CPU time; intervals above 5 %. */
static uint64_t switches, sys_exits;
static unsigned over;

static struct budget new_budget(uint64_t per_64k)
{
	return (struct budget){
		.per_64k = per_64k,
		.cnt = LEVER_CNT,
		.lever = {[CPU] = probe_cpu_entry.lever,
			  [OFFCPU] = probe_offcpu_entry.lever,
			  [PAYLOAD] = probe_l7_entry.lever,
			  [PROCESSES] = &thin_processes},
	};
}

/* `base` cannot be thinned, the levers cost `full` at level 0. Returns the used share, of 65536. */
static uint64_t run(struct budget *b, int steps, uint64_t base, const uint64_t full[LEVER_CNT],
		    unsigned *changes)
{
	uint64_t used = 0;

	*changes = 0;
	for (int s = 0; s < steps; s++) {
		struct budget_use use = {.interval_ns = HALF_SECOND, .used_ns = base};

		for (int i = 0; i < LEVER_CNT; i++)
			use.used_ns += use.cost_ns[i] = full[i] >> b->level[i];
		if (b->level[OFFCPU] == b->lever[OFFCPU]->off)
			use.used_ns -= use.cost_ns[OFFCPU], use.cost_ns[OFFCPU] = 0;
		else
			use.hooks_ns[OFFCPU] = b->level[OFFCPU] < b->lever[OFFCPU]->early
						       ? switches + sys_exits
						       : switches;
		use.used_ns += use.hooks_ns[OFFCPU];
		used = use.used_ns;
		*changes += budget_step(b, &use) >= 0;
		over += used > HALF_SECOND / 20;
	}
	return used * 65536 / HALF_SECOND;
}

int main(void)
{
	const uint64_t budget = 65536 / 20; /* 5 % */
	const uint64_t heavy[LEVER_CNT] = {200000000, 50000000, 0},
		       light[LEVER_CNT] = {1000000, 0, 0}, none[LEVER_CNT] = {0};
	struct budget b = new_budget(budget);
	unsigned changes;

	run(&b, 10, 1000000, light, &changes);
	check("nothing is thinned below the budget", !changes && !b.level[CPU]);
	check("held under load", run(&b, 10, 1000000, heavy, &changes) <= budget);
	check("thinned what costs", b.level[CPU] && b.level[OFFCPU]);
	check("not what is off", !b.level[PAYLOAD]);
	run(&b, 200, 1000000, heavy, &changes);
	check("comes to rest", changes <= 1);
	run(&b, 200, 1000000, light, &changes);
	check("restored when the load goes", !b.level[CPU] && !b.level[OFFCPU]);

	b = new_budget(budget);
	run(&b, 100, 400000000, light, &changes);
	check("what costs next to nothing is kept, whatever the rest costs",
	      !b.level[CPU] && !changes);
	run(&b, 100, 400000000, none, &changes);
	check("nothing to thin", !changes);
	const uint64_t huge[LEVER_CNT] = {1ULL << 40, 1ULL << 40, 1ULL << 40, 1ULL << 40};
	run(&b, 100, 0, huge, &changes);
	for (int i = 0; i < LEVER_CNT; i++)
		check("levels end", b.level[i] >= 6 && b.level[i] <= b.lever[i]->end);

	b = new_budget(budget);
	sys_exits = 30000000, switches = 20000000;
	run(&b, 10, 1000000, light, &changes);
	check("the hooks on system calls go when nothing else helps",
	      b.level[OFFCPU] == b.lever[OFFCPU]->early);
	check("and only they: what costs next to nothing is kept", !b.level[CPU]);
	switches = 60000000;
	over = 0;
	run(&b, 2000, 1000000, light, &changes);
	check("all of it goes when that is not enough", over > 1);
	check("seldom tried again while the load lasts", over < 40);
	switches = sys_exits = 100000;
	run(&b, 1000, 1000000, light, &changes);
	check("and comes back with a light load", !b.level[OFFCPU]);
	return failed;
}
