/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls by client, server, protocol and time: up to RATE_SLOTS intervals of equal length, 1 s
 * doubled as often as necessary. Beyond RATE_MAX keys clients are no longer distinguished; beyond
 * twice as many, nothing is.
 */
#ifndef ANALYZE_RATES_H
#define ANALYZE_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RATE_SLOTS = 120, RATE_MAX = 4096 };

struct rate_key {
	uint32_t client, server, protocol; /* string numbers; 0: not distinguished */
	uint32_t at_client; /* 1: seen by clients of which the server's end was recorded, too */
};

struct rate {
	struct rate_key key;
	double calls[RATE_SLOTS], errors[RATE_SLOTS];
};

struct rates;

int rates__new(struct rates **r, uint64_t start_ns);
void rates__free(struct rates *r);

/* 0 or -ENOMEM. Calls before the start count at the start. */
int rates__add(struct rates *r, const struct rate_key *key, uint64_t at_ns, double calls,
	       double errors);

/* NULL: not found. */
const struct rate *rates__find(const struct rates *r, const struct rate_key *key);
size_t rates__cnt(const struct rates *r);
const struct rate *rates__get(const struct rates *r, size_t i);
uint64_t rates__interval_ns(const struct rates *r);

#endif
