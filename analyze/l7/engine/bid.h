/* SPDX-License-Identifier: BSD-2-Clause */
/* Protocol detection: asks every protocol for a bid on the first bytes of both directions. */
#ifndef ANALYZE_L7_BID_H
#define ANALYZE_L7_BID_H

#include "analyze/l7/engine/stream.h"

/* Zeroed initial state: no piece was added. */
struct bidding {
	bool given_up;		      /* not recognized; no more bids are requested */
	bool moved;		      /* the first pieces were skipped as unrecognized */
	unsigned pieces, pieces_here; /* pieces_here: since the front last moved */
	size_t kept_bytes;
	uint64_t passed; /* bytes skipped as unrecognized */
};

/* Adds a piece for the next bids. */
void bidding_add(struct bidding *b, const struct l7_piece *piece);

/*
 * Requests bids while there is new data. Moves the fronts of `dir` (indexed by enum l7_dir) past
 * unrecognized bytes. Returns NULL when no protocol is recognized yet or, if given_up is set, when
 * none will be. `now`: no more data will come. *requests_sent is as bid set it, or -1 if the
 * content does not tell.
 */
const struct l7_protocol *bidding_settle(struct bidding *b, const struct l7_conn_opts *opts,
					 struct stream *const dir[2], bool now, int *requests_sent);

/* Restarts detection in the middle of the connection, after parsing contradicted the protocol. */
void bidding_again(struct bidding *b);

#endif
