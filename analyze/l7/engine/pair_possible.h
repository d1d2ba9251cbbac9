/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many requests may be outstanding, once that is not known for sure: a set of numbers. Each
 * message moves all of them, a hole spreads them over what it may have held, and a response strikes
 * out those by which it would answer a request of another kind, or none at all. One that is left
 * over is known.
 *
 *   outstanding   . 1 2 3 . .     a hole of one request or two     . . 2 3 4 5
 *                                 "+PONG"; the third newest request is no PING  . . 2 . 4 5
 */
#ifndef ANALYZE_L7_PAIR_POSSIBLE_H
#define ANALYZE_L7_PAIR_POSSIBLE_H

#include "analyze/l7/engine/pair_missed.h"
#include "analyze/l7/engine/waiting.h"

enum {
	PAIR_POSSIBLE_LEAST = -64, /* answers to requests that a hole just seen must have held */
	PAIR_POSSIBLE_CNT = 256,
	PAIR_POSSIBLE_MOST = PAIR_POSSIBLE_CNT + PAIR_POSSIBLE_LEAST - 1
};

struct pair_possible {
	uint64_t bits[PAIR_POSSIBLE_CNT / 64];
	bool fewer, more;   /* or less than the least, more than the most */
	bool hole[2];	    /* in responses, in requests, since the last message of each */
	int64_t seen;	    /* outstanding, but for what was missed; */
	bool counted;	    /* not since all became possible */
	unsigned confirmed; /* responses since a hole that tell one request from others */
	uint32_t uncommon;  /* kinds of answers that not every request allows */
};

/* What requests there are. */
static inline void pair_possible_learn(struct pair_possible *p, const struct l7_message *req)
{
	if (req->kinds)
		p->uncommon |= ~req->kinds;
}

/* So many. */
void pair_possible_begin(struct pair_possible *p, int64_t outstanding);
/* Any number. */
void pair_possible_reset(struct pair_possible *p);
void pair_possible_hole(struct pair_possible *p, bool requests);
/* So many messages, what the hole held. */
void pair_possible_missed(struct pair_possible *p, bool requests, const struct pair_range *range);

/* Before a request: there are none but this that answers came to before it was seen. */
void pair_possible_settle(struct pair_possible *p);
void pair_possible_request(struct pair_possible *p);
/* `reqs` came before it. `doubtful`: it may be a part of one that began before. */
void pair_possible_response(struct pair_possible *p, const struct l7_message *m,
			    const struct waiting_list *reqs, bool doubtful);

/* The one that is left; or that is left among the numbers which the `tail` requests since a hole
 * can tell, when so many answers were right by it that no chance is. -1: not known. */
int64_t pair_possible_only(const struct pair_possible *p, size_t tail);
bool pair_possible_has(const struct pair_possible *p, int64_t outstanding);

/* Can that be its answer? */
static inline bool pair_possible_fits(const struct l7_message *req, const struct l7_message *resp)
{
	return !req->kinds || !resp->kinds || (req->kinds & resp->kinds);
}

#endif
