/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many messages one that was seen stands for: of connections chosen by their ids a share was
 * kept, by --sample all the time, by --cpu-budget in steps.
 */
#ifndef ANALYZE_TRAFFIC_SCALE_H
#define ANALYZE_TRAFFIC_SCALE_H

#include <stdbool.h>

#include "analyze/load/captures.h"

/* From a time of the archive on, of 65536. */
struct scale_step {
	uint64_t from_ns, kept_per_64k;
};

/* Zeroed it knows of no steps. */
struct scale {
	struct scale_step *steps;
	size_t cnt, cap;
};

/* Takes the steps of payload, in the archive's order. 0 or -ENOMEM. */
int scale_add(struct scale *s, const struct rec_thinning *r);
void scale_fini(struct scale *s);
double scale_weight(const struct scale *s, const struct capture *c, uint64_t ts_ns);

/* What messages of a sampled connection add up to. */
struct scale_sum {
	double weight;
	uint64_t seen;
};

/* What was estimated from all of them: the square of the standard error grows by this. */
static inline double scale_variance(const struct scale_sum *s)
{
	return s->weight * (s->weight - s->seen);
}

#endif
