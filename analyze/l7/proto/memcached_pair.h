/* SPDX-License-Identifier: BSD-2-Clause */
/* State and limits of a memcached connection, and matching of responses to requests. Used by the
 * text protocol (memcached_text.c) and the binary protocol (memcached_binary.c). */
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
	uint64_t asked; /* number of requests so far, which is the id of the last */
	bool watching;
	struct mc_gather got;
	uint32_t got_of; /* UDP: datagram salt */
	char method[32], target[128];
};

/* Identifies the request that a response belongs to. */
struct mc_mark {
	uint32_t name, key; /* hashes; 0: none. Name: opaque of meta and binary, id of UDP */
	bool one;	    /* unique among outstanding requests */
};

/* Encodes the request's note: its mark and its number of keys. */
uint64_t mc_note(struct mc_mark mark, uint64_t keys);
uint32_t mc_hash(struct span s, uint32_t salt);
static inline uint64_t mc_keys(const struct l7_message *q)
{
	return q->note & MC_KEYS_MAX;
}

/* Returns the request that the response belongs to; NULL: unknown. Sets takes and id of m. `may`:
 * can a quiet request have such a response? */
const struct l7_message *mc_choose(struct l7_parser *parser, struct mc_mark mark,
				   bool (*may)(const struct l7_message *q, const void *ctx),
				   const void *ctx, struct l7_message *m);

void mc_gather_add(struct mc_gather *g, const struct l7_view *v, uint64_t n);
/* Adds what was gathered to m. */
void mc_gather_end(struct mc_gather *g, struct l7_message *m, uint64_t n);

#endif
