/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Weights of sampled messages. Payload was captured only for a share of connections, selected by
 * id: by --sample all the time, by --cpu-budget in steps.
 */
#ifndef ANALYZE_TRAFFIC_SCALE_H
#define ANALYZE_TRAFFIC_SCALE_H

#include <stdbool.h>

#include "analyze/load/captures.h"

/* The share captured, in units of 1/65536, from a time of the archive on. */
struct scale_step {
	uint64_t from_ns, kept_per_64k;
};

/* A zeroed struct has no steps. */
struct scale {
	struct scale_step *steps;
	size_t cnt, cap;
};

/* Adds the steps of payload, in archive order. 0 or -ENOMEM. */
int scale_add(struct scale *s, const struct rec_thinning *r);
void scale_fini(struct scale *s);
double scale_weight(const struct scale *s, const struct capture *c, uint64_t ts_ns);

/* Sums over the messages of a sampled connection. */
struct scale_sum {
	double weight;
	uint64_t seen;
};

/* Variance that one connection contributes: the square of the standard error of the estimate
 * increases by this. */
static inline double scale_variance(const struct scale_sum *s)
{
	return s->weight * (s->weight - s->seen);
}

#endif
