/* SPDX-License-Identifier: BSD-2-Clause */
/* Protocol detection: asks every protocol for a bid on the first bytes of both directions. */
#ifndef ANALYZE_L7_BID_H
#define ANALYZE_L7_BID_H

#include "analyze/l7/engine/stream.h"

/* Zeroed nothing came yet. */
struct bidding {
	bool given_up;		      /* nobody knows it */
	bool moved;		      /* nobody knew its first pieces */
	unsigned pieces, pieces_here; /* since the front moved, while nobody knows it */
	size_t kept_bytes;
	uint64_t passed; /* bytes that nobody knew */
};

/* To be asked about another piece. */
void bidding_add(struct bidding *b, const struct l7_piece *piece);

/*
 * Asks, as often as there is something new to ask about: the fronts of `dir`, by enum l7_dir, move
 * over what nobody knows. NULL: nobody yet, or, with given_up, ever. `now`: nothing more will come.
 * *requests_sent as bid left it, -1 where the content does not tell.
 */
const struct l7_protocol *bidding_settle(struct bidding *b, const struct l7_conn_opts *opts,
					 struct stream *const dir[2], bool now, int *requests_sent);

/* Contradicted: begins anew in the middle of the connection. */
void bidding_again(struct bidding *b);

#endif
