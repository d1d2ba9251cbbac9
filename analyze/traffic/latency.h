/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The distribution of many durations in little memory. A few values are stored as they are; more go
 * into buckets of 1/128 of their value, so a percentile is accurate to 0.4 %.
 */
#ifndef ANALYZE_LATENCY_H
#define ANALYZE_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct latency_block;

/* A zeroed struct is empty. */
struct latency {
	uint64_t cnt, sum, min, max;
	uint64_t *few; /* all values while cnt is small; NULL afterwards */
	struct latency_block *blocks;
	uint32_t block_cnt;
};

int latency__add(struct latency *l, uint64_t ns); /* 0 or -ENOMEM */
int latency__merge(struct latency *to, const struct latency *from);
void latency__fini(struct latency *l);

/* By nearest rank; 0 when empty. */
uint64_t latency__percentile(const struct latency *l, unsigned percent);
/* Number of values up to `ns` (at bucket precision). */
uint64_t latency__at_most(const struct latency *l, uint64_t ns);

#endif
