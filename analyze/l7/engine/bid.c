/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/l7/engine/bid.h"

#include <stdlib.h>

enum {
	BID_BYTES = 1 << 18, /* captured bytes of both directions after which an unrecognized
			      * connection is given up */
	BID_PIECES = 64,
	BID_WAIT = 16,	   /* pieces after which one direction alone is sufficient */
	BID_SETTLE = 6,	   /* pieces after which a short piece is judged as it is */
	BID_MIN = 16,	   /* a shorter piece is joined with the next for bidding */
	SURE = 90,	   /* a bid that needs no second direction */
	ENOUGH = 50,	   /* a bid that needs no port */
	ENOUGH_LATER = 70, /* the same after pieces that no protocol recognized */
};

static bool port_fits(const struct l7_protocol *p, uint16_t port)
{
	for (size_t i = 0; port && i < sizeof(p->ports) / sizeof(p->ports[0]) && p->ports[i]; i++)
		if (p->ports[i] == port)
			return true;
	return false;
}

/* The beginning of each direction. Servers may read or write a header separately, so a short piece
 * is joined with what follows, in a copy. */
static void bid_views(struct stream *const dir[2], struct l7_view view[2], uint8_t *copy[2])
{
	for (int d = 0; d < 2; d++) {
		struct stream *s = dir[d];
		enum stream_at at;

		view[d] = (struct l7_view){.p = (const uint8_t *)""};
		copy[d] = NULL;
		/* Skip bytes that were not captured. */
		while ((at = stream_look(s, &view[d])) == STREAM_UNKEPT || at == STREAM_GAP)
			stream_skip(s);
		if (view[d].len && view[d].len < BID_MIN)
			copy[d] = stream_joined(s, BID_MIN, &view[d]);
	}
}

static const struct l7_protocol *best_bid(const struct l7_conn_opts *opts,
					  const struct l7_view view[2], int *best,
					  int *requests_sent)
{
	const struct l7_protocol *winner = NULL;
	bool datagram = view[0].datagram || view[1].datagram;

	*best = 0;
	for (const struct l7_protocol *const *p = l7_protocols; *p; p++) {
		int sent = -1, bid;

		if ((opts->only && *p != opts->only) || (datagram && !(*p)->datagrams))
			continue;
		bid = (*p)->bid(&view[L7_SENT], &view[L7_RECEIVED], &sent);
		if (bid > 0 && port_fits(*p, opts->server_port))
			bid += bid < ENOUGH ? 30 : 5;
		if (bid > *best) {
			*best = bid;
			*requests_sent = sent;
			winner = *p;
		}
	}
	return winner;
}

/*
 * No protocol recognizes the fronts: capture may have begun in the middle of a message. Moves the
 * older front to its next piece, which may begin a message. False: wait for more.
 */
static bool move_on(struct bidding *b, struct stream *const dir[2], const struct l7_view view[2],
		    bool now)
{
	uint64_t sent_ns = stream_first_ns(dir[L7_SENT]),
		 received_ns = stream_first_ns(dir[L7_RECEIVED]);
	struct stream *older =
		dir[!sent_ns || (received_ns && received_ns < sent_ns) ? L7_RECEIVED : L7_SENT];
	uint64_t front;
	bool both = view[0].len && view[1].len,
	     readable = both && view[0].len >= BID_MIN && view[1].len >= BID_MIN;

	if (!sent_ns && !received_ns)
		return false;
	if (!now && !(readable && older->cnt > 1) &&
	    b->pieces_here < (both ? BID_SETTLE : BID_WAIT))
		return false;
	b->moved = true;
	b->pieces_here = 0;
	front = older->front;
	if (!stream_skip(older))
		return false;
	b->passed += older->front - front;
	return true;
}

void bidding_add(struct bidding *b, const struct l7_piece *piece)
{
	b->pieces++;
	b->pieces_here++;
	b->kept_bytes += piece->data.len;
}

const struct l7_protocol *bidding_settle(struct bidding *b, const struct l7_conn_opts *opts,
					 struct stream *const dir[2], bool now, int *requests_sent)
{
	struct l7_view view[2];
	uint8_t *copy[2];

	do {
		int best;
		const struct l7_protocol *p;

		*requests_sent = -1;
		bid_views(dir, view, copy);
		p = best_bid(opts, view, &best, requests_sent);
		free(copy[0]);
		free(copy[1]);
		if (best < (b->moved ? ENOUGH_LATER : ENOUGH))
			continue;
		if (best < SURE && !(view[0].len && view[1].len) && !now &&
		    b->pieces_here < BID_WAIT)
			return NULL;
		return p;
	} while (move_on(b, dir, view, now));
	b->given_up = b->pieces >= BID_PIECES || b->kept_bytes >= BID_BYTES;
	return NULL;
}

void bidding_again(struct bidding *b)
{
	b->pieces = b->pieces_here = 0;
	b->kept_bytes = 0;
	b->moved = true;
}
