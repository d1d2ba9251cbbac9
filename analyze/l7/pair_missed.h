/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What bytes that were missed tell of how many messages were in them: between as many as if all had
 * been of the longest size seen in that direction, and of the shortest. Zeroed it is ready.
 */
#ifndef ANALYZE_L7_PAIR_MISSED_H
#define ANALYZE_L7_PAIR_MISSED_H

#include "l7.h"

struct pair_missed {
	struct {
		uint64_t shortest, longest, seen; /* messages */
		uint64_t bytes;			  /* missed since pair_missed_begin */
		bool hole;			  /* and how many there, the next message tells */
	} side[2];				  /* responses, requests */
	bool unknown;				  /* how many bytes */
};

void pair_missed_begin(struct pair_missed *p);
void pair_missed_hole(struct pair_missed *p, bool requests);
/* A message, and the bytes missed before it. */
void pair_missed_see(struct pair_missed *p, const struct l7_message *m);
/* So many more requests than responses at least, and at most. True: it is one number, and all that
 * was seen had one size. */
bool pair_missed_more(const struct pair_missed *p, int64_t *least, int64_t *most);

#endif
