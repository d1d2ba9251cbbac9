/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages that wait for their other half, by age. */
#ifndef ANALYZE_L7_WAITING_H
#define ANALYZE_L7_WAITING_H

#include "l7.h"

/* More than this many without an answer: the oldest goes out unpaired (a peer that never answers).
 */
enum { WAITING_MAX = 65536 };

struct waiting {
	struct waiting *next, *prev; /* by age */
	struct waiting *same;	     /* next in its bucket; by id */
	uint64_t holes;		     /* in the other direction when it came; by id */
	struct l7_message m;
	char text[];
};

struct waiting_list {
	struct waiting *oldest, *newest;
	size_t cnt;
	size_t tail; /* how many came since bytes of that direction were missed last */
};

/* A copy; NULL: out of memory. */
struct waiting *waiting_new(const struct l7_message *m);
void waiting_push(struct waiting_list *l, struct waiting *w);
/* Out of the list: the caller's to free. */
struct waiting *waiting_take(struct waiting_list *l, struct waiting *w);

#endif
