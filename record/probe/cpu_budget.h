/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --cpu-budget: decides from measured costs what is throttled, and what is restored. Pure
 * arithmetic; thin.c measures and carries out.
 */
#ifndef RECORD_BUDGET_H
#define RECORD_BUDGET_H

#include <stdint.h>

/* What can be thinned. Level n keeps one in 2^n, as far as that lever's end. */
enum budget_lever { LEVER_CPU, LEVER_OFFCPU, LEVER_PAYLOAD, LEVER_PROCESSES, LEVER_CNT };

/*
 * Off-CPU has two steps that spare what thinning cannot, its hooks: from the first on the end of
 * system calls is not looked at (the stack is walked when the wait begins), at the second nothing
 * is recorded.
 */
#define OFFCPU_LEVEL_EARLY 9
#define OFFCPU_LEVEL_OFF 11
/* Of processes: how often news of them wake obrec; at the end it only polls. */
#define PROCESSES_LEVEL_END 6

/* What the last interval cost. */
struct budget_use {
	uint64_t interval_ns, used_ns;
	uint64_t cost_ns[LEVER_CNT]; /* of it, what a lever would halve; 0: it is not on */
	uint64_t offcpu_hooks_ns;    /* what only its last two steps would spare */
};

struct budget {
	uint64_t per_64k; /* of one CPU: what obrec may use, 65536 for all of it */
	unsigned level[LEVER_CNT];
	unsigned calm; /* measurements in a row that were well below */
	/* Measurements to wait for before the lever is given back: more each time that was a
	 * mistake. */
	unsigned patience[LEVER_CNT], since_restored[LEVER_CNT];
};

/* One measurement. Changes at most one level. Returns the lever changed, or LEVER_CNT; what stays
 * above the budget with every lever at its end cannot be helped. */
enum budget_lever budget_step(struct budget *b, const struct budget_use *use);

unsigned budget_max_level(enum budget_lever l);

#endif
