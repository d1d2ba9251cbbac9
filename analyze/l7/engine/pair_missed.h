/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What bytes that were missed tell of how many messages were in them. Lengths of those seen bound
 * it; one that was not seen may be shorter or longer by half. Zeroed it is ready.
 */
#ifndef ANALYZE_L7_PAIR_MISSED_H
#define ANALYZE_L7_PAIR_MISSED_H

#include "analyze/l7/engine/l7.h"

struct pair_missed {
	struct {
		uint64_t shortest, longest, seen; /* messages */
		uint64_t bytes;			  /* missed since pair_missed_begin */
		bool hole;			  /* how many were in it, the next message tells */
	} side[2];				  /* responses, requests */
	bool alone;				  /* there are messages that are neither */
};

/* So many messages. */
struct pair_range {
	uint64_t least, most;
};

void pair_missed_begin(struct pair_missed *p);
void pair_missed_hole(struct pair_missed *p, bool requests);
/* A message; *range: those missed before it. False: none were. */
bool pair_missed_see(struct pair_missed *p, const struct l7_message *m, struct pair_range *range);
/* So many more requests than responses since pair_missed_begin; false: not all that was seen had
 * one size. */
bool pair_missed_more(const struct pair_missed *p, int64_t *more);

#endif
