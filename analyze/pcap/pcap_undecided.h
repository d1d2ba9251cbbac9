/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection whose beginning was not captured, until its content tells which end is the server.
 * Its data is held, bounded, and passed on once the server is known or can no longer be expected to
 * become known.
 */
#ifndef ANALYZE_PCAP_UNDECIDED_H
#define ANALYZE_PCAP_UNDECIDED_H

#include "analyze/l7/engine/arena.h"
#include "analyze/l7/engine/l7.h"
#include "analyze/pcap/pcap_tcp.h"

struct undecided;

/* Memory of all held data, and the arena that the parsers share. */
struct undecided_pool {
	struct arena arena;
	uint64_t held;
};

/* `guess`: role of the local end, guessed from the ports. */
int undecided__new(struct undecided **u, struct undecided_pool *pool, enum l7_role guess,
		   uint16_t port);
void undecided__free(struct undecided *u);
/* Direction and position as seen by the local end of the guess. 0 or -ENOMEM. */
int undecided__add(struct undecided *u, int dir, uint64_t pos, const struct tcp_segment *s,
		   bool datagram);
/* Is further waiting useless? */
bool undecided__over(const struct undecided *u);
/* Role of the local end; L7_ROLE_UNKNOWN: the content does not tell. Nothing may be added
 * afterwards. */
enum l7_role undecided__role(struct undecided *u);
/* Removes the oldest piece and returns it in *s, valid until the next call. False: none is left. */
bool undecided__next(struct undecided *u, int *dir, uint64_t *pos, struct tcp_segment *s);

#endif
