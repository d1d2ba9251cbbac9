/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection whose beginning was not captured, until its content tells which end is the server:
 * what it carried waits, bounded, and goes on once that is known or no longer to be expected.
 */
#ifndef ANALYZE_PCAP_UNDECIDED_H
#define ANALYZE_PCAP_UNDECIDED_H

#include "analyze/l7/engine/arena.h"
#include "analyze/l7/engine/l7.h"
#include "analyze/pcap/pcap_tcp.h"

struct undecided;

/* All that waits, and what their parsers share. */
struct undecided_pool {
	struct arena arena;
	uint64_t held;
};

/* `guess` is what the ports tell of the local end. */
int undecided__new(struct undecided **u, struct undecided_pool *pool, enum l7_role guess,
		   uint16_t port);
void undecided__free(struct undecided *u);
/* Direction and position as the local end of the guess has them. 0 or -ENOMEM. */
int undecided__add(struct undecided *u, int dir, uint64_t pos, const struct tcp_segment *s,
		   bool datagram);
/* Whether nothing is gained by waiting on. */
bool undecided__over(const struct undecided *u);
/* What the local end is; L7_ROLE_UNKNOWN: the content does not tell. Nothing is added any more. */
enum l7_role undecided__role(struct undecided *u);
/* Takes the oldest piece out, into *s until the next; false: none is left. */
bool undecided__next(struct undecided *u, int *dir, uint64_t *pos, struct tcp_segment *s);

#endif
