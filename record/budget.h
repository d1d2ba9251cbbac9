/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holding --cpu-budget: decides from measured costs what is thinned out, and what is restored. Pure
 * arithmetic; thin.c measures and carries out.
 */
#ifndef RECORD_BUDGET_H
#define RECORD_BUDGET_H

#include <stdint.h>

/* What can be thinned. Level n keeps one in 2^n. */
enum budget_lever { LEVER_CPU, LEVER_OFFCPU, LEVER_PAYLOAD, LEVER_CNT };
#define BUDGET_MAX_LEVEL 10

struct budget {
	uint64_t per_64k; /* of one CPU: what obrec may use, 65536 for all of it */
	unsigned level[LEVER_CNT];
	unsigned calm; /* measurements in a row that were well below */
};

/*
 * One measurement: `used_ns` in `interval_ns`, `cost_ns` of them due to each lever (0: it is not
 * on). Changes at most one level. Returns the lever changed, or LEVER_CNT; what stays above the
 * budget with every lever at its end cannot be helped.
 */
enum budget_lever budget_step(struct budget *b, uint64_t interval_ns, uint64_t used_ns,
			      const uint64_t cost_ns[LEVER_CNT]);

#endif
