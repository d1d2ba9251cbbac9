/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --cpu-budget: decides from measured costs what is throttled, and what is restored. Pure
 * arithmetic; thin.c measures and carries out.
 */
#ifndef RECORD_BUDGET_H
#define RECORD_BUDGET_H

#include <stdint.h>

struct lever_program {
	const char *prefix; /* of the programs' names; the first that fits counts */
	uint64_t hook_ns;   /* one run that has nothing to do: what halving cannot spare */
};

/* What can be throttled, of a probe or of obrec. Level n keeps one in 2^n. */
struct lever {
	const char *name;
	unsigned end; /* its last level */
	/* Levels that spare what halving cannot, hooks: from `early` on some, at `off`, which is
	 * the last, all, and nothing is recorded. 0: it has none. */
	unsigned early, off;
	unsigned char wire, sample; /* records that it could have spared: WIRE_*, and SAMPLE_* */
	const struct lever_program *programs; /* likewise; ended by one without */
};

enum { BUDGET_LEVERS = 16, BUDGET_NONE = -1 };

/* What the last interval cost. */
struct budget_use {
	uint64_t interval_ns, used_ns;
	uint64_t cost_ns[BUDGET_LEVERS];  /* of it, what a lever would halve; 0: it is not on */
	uint64_t hooks_ns[BUDGET_LEVERS]; /* what only its levels `early` and `off` would spare */
};

struct budget {
	uint64_t per_64k; /* of one CPU: what obrec may use, 65536 for all of it */
	const struct lever *lever[BUDGET_LEVERS];
	int cnt;
	unsigned level[BUDGET_LEVERS];
	unsigned calm; /* measurements in a row that were well below */
	/* Measurements to wait for before the lever is given back: more each time that was a
	 * mistake. */
	unsigned patience[BUDGET_LEVERS], since_restored[BUDGET_LEVERS];
};

/* One measurement. Changes at most one level. Returns the number of the lever changed, or
 * BUDGET_NONE; what stays above the budget with every lever at its end cannot be helped. */
int budget_step(struct budget *b, const struct budget_use *use);

#endif
