/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of messages that wait for their other half, ordered by age. */
#ifndef ANALYZE_L7_WAITING_H
#define ANALYZE_L7_WAITING_H

#include "analyze/l7/engine/pair_out.h"

/* Limit of waiting messages. Beyond it the oldest is delivered unpaired (a peer that never
 * answers). */
enum { WAITING_MAX = 65536 };

struct waiting {
	struct waiting *next, *prev; /* by age */
	struct waiting *same;	     /* next in its bucket; pairing by id */
	uint64_t holes;		     /* holes in the other direction when it came; pairing by id */
	bool missed;		     /* placeholder for a request that was missed */
	uint32_t text_sz;
	struct l7_message m;
	char text[];
};

struct waiting_list {
	struct waiting *oldest, *newest;
	size_t cnt;
	size_t text_sz;	       /* of all entries */
	size_t tail;	       /* entries added since bytes of that direction were last missed */
	struct waiting *found; /* entry found_at, by waiting_nth; NULL: not valid */
	size_t found_at;
};

/* Memory in use. */
static inline size_t waiting_held(const struct waiting_list *l)
{
	return l->cnt * (sizeof(struct waiting) + 16) + l->text_sz;
}

/* Copies the message. NULL: out of memory. */
struct waiting *waiting_new(const struct l7_message *m);
void waiting_push(struct waiting_list *l, struct waiting *w);
/* The n-th entry by age, from 0. NULL: there are not so many. Sequential access is fast. */
struct waiting *waiting_nth(struct waiting_list *l, size_t n);
/* Removes w from the list; the caller frees it. */
struct waiting *waiting_take(struct waiting_list *l, struct waiting *w);
/* Moves the oldest n entries to the end of `to`. */
void waiting_move(struct waiting_list *to, struct waiting_list *from, size_t n);

/* Delivers all entries of both lists unpaired, */
void waiting_hand_out(struct pair_out *out, struct waiting_list *reqs, struct waiting_list *resps,
		      enum l7_why why);
/* or the newest n of both as pairs and those before unpaired. */
void waiting_hand_out_tail(struct pair_out *out, struct waiting_list *reqs,
			   struct waiting_list *resps, size_t n, enum l7_why why);

/* Number of the newest entries that can be paired when bytes were missed before them in either
 * direction. 0 if a request may stay unanswered. */
size_t waiting_tails(const struct waiting_list *reqs, const struct waiting_list *resps);
/* Do the lists match: nothing missed within, same number of entries? */
bool waiting_agree(const struct waiting_list *reqs, const struct waiting_list *resps);

#endif
