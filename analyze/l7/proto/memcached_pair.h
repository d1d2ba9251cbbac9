/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection of memcached, its limits, and which request a response belongs to: what its text
 * (memcached_text.c) and its binary protocol (memcached_binary.c) both use. */
#ifndef ANALYZE_L7_MEMCACHED_PAIR_H
#define ANALYZE_L7_MEMCACHED_PAIR_H

#include "analyze/l7/engine/l7.h"

enum { MC_KEY_MAX = 250, MC_KEYS_MAX = 0xffff };
#define MC_VALUE_MAX (1ULL << 30)

/* A response of several lines or packets. */
struct mc_gather {
	bool active;
	uint64_t first_ns, last_ns, size, hits;
};

struct memcached {
	uint64_t asked; /* requests so far: the id of the last */
	bool watching;
	struct mc_gather got;
	uint32_t got_of; /* UDP: whose */
	char method[32], target[128];
};

/* What tells which request a response belongs to. */
struct mc_mark {
	uint32_t name, key; /* hashes; 0: none. Name: opaque of meta and binary, id of UDP */
	bool one;	    /* no two requests on their way are marked so */
};

/* The request's note: what marks it, and its keys. */
uint64_t mc_note(struct mc_mark mark, uint64_t keys);
uint32_t mc_hash(struct span s, uint32_t salt);
static inline uint64_t mc_keys(const struct l7_message *q)
{
	return q->note & MC_KEYS_MAX;
}

/* Which request the response belongs to; NULL: cannot be told. Fills m's takes and id. `may`: can a
 * quiet request be answered so? */
const struct l7_message *mc_choose(struct l7_parser *parser, struct mc_mark mark,
				   bool (*may)(const struct l7_message *q, const void *ctx),
				   const void *ctx, struct l7_message *m);

void mc_gather_add(struct mc_gather *g, const struct l7_view *v, uint64_t n);
/* What was gathered belongs to m. */
void mc_gather_end(struct mc_gather *g, struct l7_message *m, uint64_t n);

#endif
