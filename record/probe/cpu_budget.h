/* SPDX-License-Identifier: BSD-2-Clause */
/* --cpu-budget: decides from measured costs what to throttle and what to restore. Pure arithmetic;
 * thin.c measures and applies the decisions. */
#ifndef RECORD_BUDGET_H
#define RECORD_BUDGET_H

#include <stdint.h>

struct lever_program {
	const char *prefix; /* prefix of program names; the first match applies */
	uint64_t hook_ns;   /* cost of a run that records nothing; halving cannot save it */
	uint64_t trap_ns;   /* cost of a run in addition to that of the program */
};

/* Something that can be throttled, of a probe or of obrec. Level n keeps one in 2^n. */
struct lever {
	const char *name;
	unsigned end; /* the last level */
	/* Levels that also save hook cost: from `early` on some hooks are detached; at `off`, the
	 * last level, all are, and nothing is recorded. 0: not supported. */
	unsigned early, off;
	unsigned char wire, sample; /* kinds of records it throttles: WIRE_* and SAMPLE_* */
	unsigned char or_sample;    /* likewise; 0: none */
	const struct lever_program *programs; /* BPF programs it throttles; ends with an empty
					       * entry */
};

enum { BUDGET_LEVERS = 16, BUDGET_NONE = -1 };

/* Costs of the last interval. */
struct budget_use {
	uint64_t interval_ns, used_ns;
	uint64_t cost_ns[BUDGET_LEVERS];  /* part that halving the lever would save; 0: lever not in
					   * use */
	uint64_t hooks_ns[BUDGET_LEVERS]; /* part that only levels `early` and `off` would save */
};

struct budget {
	uint64_t per_64k; /* limit as a share of one CPU; 65536: a whole CPU */
	const struct lever *lever[BUDGET_LEVERS];
	int cnt;
	unsigned level[BUDGET_LEVERS];
	unsigned calm; /* consecutive measurements well below the limit */
	/* Calm measurements required before a lever is restored. Doubled each time a restore was
	 * premature. */
	unsigned patience[BUDGET_LEVERS], since_restored[BUDGET_LEVERS];
};

/* Processes one measurement and changes at most one level. Returns the number of the lever changed,
 * or BUDGET_NONE. With every lever at its last level the budget may still be exceeded. */
int budget_step(struct budget *b, const struct budget_use *use);

#endif
