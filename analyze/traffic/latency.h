/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The distribution of many durations in little memory: a few are kept as they are; more go into
 * buckets of 1/128 of their size, so that a percentile is right to 0.4 %.
 */
#ifndef ANALYZE_LATENCY_H
#define ANALYZE_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct latency_block;

/* Zeroed is empty. */
struct latency {
	uint64_t cnt, sum, min, max;
	uint64_t *few; /* all of them, while cnt is small; NULL afterwards */
	struct latency_block *blocks;
	uint32_t block_cnt;
};

int latency__add(struct latency *l, uint64_t ns); /* 0 or -ENOMEM */
int latency__merge(struct latency *to, const struct latency *from);
void latency__fini(struct latency *l);

/* Nearest rank; 0 when empty. */
uint64_t latency__percentile(const struct latency *l, unsigned percent);
/* How many are at most `ns` (to the buckets' precision). */
uint64_t latency__at_most(const struct latency *l, uint64_t ns);

#endif
