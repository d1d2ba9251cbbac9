/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many requests may be outstanding when the number is not known: a set of numbers. Each message
 * shifts all of them. A hole spreads them over the number of messages it may have held. A response
 * removes the numbers that would pair it with a request of another kind, or with none. A single
 * number left over is known to be right.
 *
 *   outstanding   . 1 2 3 . .     a hole of one request or two     . . 2 3 4 5
 *                                 "+PONG"; the third newest request is no PING  . . 2 . 4 5
 */
#ifndef ANALYZE_L7_PAIR_POSSIBLE_H
#define ANALYZE_L7_PAIR_POSSIBLE_H

#include "analyze/l7/engine/pair_missed.h"
#include "analyze/l7/engine/waiting.h"

enum {
	PAIR_POSSIBLE_LEAST = -64, /* negative: responses to requests missed in a hole */
	PAIR_POSSIBLE_CNT = 256,
	PAIR_POSSIBLE_MOST = PAIR_POSSIBLE_CNT + PAIR_POSSIBLE_LEAST - 1
};

struct pair_possible {
	uint64_t bits[PAIR_POSSIBLE_CNT / 64];
	bool fewer, more;   /* the number may also be below LEAST, above MOST */
	bool hole[2];	    /* in responses, in requests, since the last message of each */
	int64_t seen;	    /* outstanding requests, not counting missed messages */
	bool counted;	    /* `seen` is valid; false once every number became possible */
	unsigned confirmed; /* responses since a hole that fit some requests but not others */
	uint32_t uncommon;  /* kinds of responses that not every request allows */
};

/* Notes which kinds of responses a request allows. */
static inline void pair_possible_learn(struct pair_possible *p, const struct l7_message *req)
{
	if (req->kinds)
		p->uncommon |= ~req->kinds;
}

/* Sets the number outstanding. */
void pair_possible_begin(struct pair_possible *p, int64_t outstanding);
/* Makes every number possible. */
void pair_possible_reset(struct pair_possible *p);
void pair_possible_hole(struct pair_possible *p, bool requests);
/* range: number of messages in the hole. */
void pair_possible_missed(struct pair_possible *p, bool requests, const struct pair_range *range);

/* Before a request: removes the negative numbers, because no response comes before its request. */
void pair_possible_settle(struct pair_possible *p);
void pair_possible_request(struct pair_possible *p);
/* Before a response is paired; `reqs` are the requests before it. `doubtful`: the response may be a
 * part of a message that began earlier. */
void pair_possible_response(struct pair_possible *p, const struct l7_message *m,
			    const struct waiting_list *reqs, bool doubtful);

/* Returns the only number left. Otherwise the only one among those that the `tail` requests since a
 * hole can distinguish, if enough responses confirmed it to rule out chance. -1: not known. */
int64_t pair_possible_only(const struct pair_possible *p, size_t tail);
bool pair_possible_has(const struct pair_possible *p, int64_t outstanding);

/* Can resp be the response to req? */
static inline bool pair_possible_fits(const struct l7_message *req, const struct l7_message *resp)
{
	return !req->kinds || !resp->kinds || (req->kinds & resp->kinds);
}

#endif
