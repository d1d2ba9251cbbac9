/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages that wait for their other half, by age. */
#ifndef ANALYZE_L7_WAITING_H
#define ANALYZE_L7_WAITING_H

#include "analyze/l7/engine/pair_out.h"

/* More than this many without an answer: the oldest goes out unpaired (a peer that never answers).
 */
enum { WAITING_MAX = 65536 };

struct waiting {
	struct waiting *next, *prev; /* by age */
	struct waiting *same;	     /* next in its bucket; by id */
	uint64_t holes;		     /* in the other direction when it came; by id */
	bool missed;		     /* it stands for a request nobody saw */
	uint32_t text_sz;
	struct l7_message m;
	char text[];
};

struct waiting_list {
	struct waiting *oldest, *newest;
	size_t cnt;
	size_t text_sz;	       /* of all */
	size_t tail;	       /* how many came since bytes of that direction were missed last */
	struct waiting *found; /* by waiting_nth: the found_at-th; NULL: to be found anew */
	size_t found_at;
};

/* The memory that it takes. */
static inline size_t waiting_held(const struct waiting_list *l)
{
	return l->cnt * (sizeof(struct waiting) + 16) + l->text_sz;
}

/* A copy; NULL: out of memory. */
struct waiting *waiting_new(const struct l7_message *m);
void waiting_push(struct waiting_list *l, struct waiting *w);
/* The n-th by age, from 0; NULL: there are not so many. What is asked for in turn is found at once.
 */
struct waiting *waiting_nth(struct waiting_list *l, size_t n);
/* Out of the list: the caller's to free. */
struct waiting *waiting_take(struct waiting_list *l, struct waiting *w);
/* Moves the oldest n behind those of `to`. */
void waiting_move(struct waiting_list *to, struct waiting_list *from, size_t n);

/* What waits in both is handed out: all of it alone, */
void waiting_hand_out(struct pair_out *out, struct waiting_list *reqs, struct waiting_list *resps,
		      enum l7_why why);
/* or the last n of both as pairs, those before alone. */
void waiting_hand_out_tail(struct pair_out *out, struct waiting_list *reqs,
			   struct waiting_list *resps, size_t n, enum l7_why why);

/* How many of the newest belong together, if those are all: bytes were missed before them in
 * either. 0 where a request may stay without an answer. */
size_t waiting_tails(const struct waiting_list *reqs, const struct waiting_list *resps);
/* Nothing was missed in between, and none is left over. */
bool waiting_agree(const struct waiting_list *reqs, const struct waiting_list *resps);

#endif
