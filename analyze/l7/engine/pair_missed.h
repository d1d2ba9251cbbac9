/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Estimates how many messages were in missed bytes. The lengths of messages seen give the bounds;
 * an unseen message may be shorter or longer by half. Ready to use when zeroed.
 */
#ifndef ANALYZE_L7_PAIR_MISSED_H
#define ANALYZE_L7_PAIR_MISSED_H

#include "analyze/l7/engine/l7.h"

struct pair_missed {
	struct {
		uint64_t shortest, longest, seen; /* lengths and number of messages seen */
		uint64_t bytes;			  /* missed since pair_missed_begin */
		bool hole;			  /* a hole whose range the next message tells */
	} side[2];				  /* responses, requests */
	bool alone;				  /* the protocol has messages that are neither */
};

/* Bounds of a number of messages. */
struct pair_range {
	uint64_t least, most;
};

void pair_missed_begin(struct pair_missed *p);
void pair_missed_hole(struct pair_missed *p, bool requests);
/* Adds a message. *range: number of messages missed before it. False: none were missed. */
bool pair_missed_see(struct pair_missed *p, const struct l7_message *m, struct pair_range *range);
/* *more: requests minus responses missed since pair_missed_begin. False: unknown, because the
 * messages seen did not all have one size. */
bool pair_missed_more(const struct pair_missed *p, int64_t *more);

#endif
