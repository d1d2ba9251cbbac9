/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection of memcached: what its text (memcached_text.c), its binary protocol
 * (memcached_binary.c) and the pairing of both (memcached_pair.c) share. */
#ifndef ANALYZE_L7_MEMCACHED_H
#define ANALYZE_L7_MEMCACHED_H

#include "l7.h"

enum { MC_KEY_MAX = 250, MC_UDP_HEAD = 8, MC_KEYS_MAX = 0xffff };
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

/* Text: `salt` is the datagram's, 0 for a stream. */
int64_t mc_text_request(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
			uint32_t salt);
int64_t mc_text_response(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
			 uint32_t salt);
/* An answer of which the end was not kept, behind `n` bytes (0: all of the view). */
int64_t mc_end_unseen(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
		      uint64_t n, uint32_t salt);
/* A hole in the middle of an answer: what came of it stands for it. */
void mc_give_back(struct l7_parser *parser, enum l7_dir dir);

int64_t mc_binary(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
		  uint32_t salt);
/* A request's or response's head that can be one. */
bool mc_binary_at(const uint8_t *p, size_t len, bool requests);

#endif
