/* SPDX-License-Identifier: BSD-2-Clause */
/* In order a response takes the oldest waiting request (pair_order.c says what becomes of that
 * order after a hole). Zeroed but for `out` it is ready. */
#ifndef ANALYZE_L7_PAIR_ORDER_H
#define ANALYZE_L7_PAIR_ORDER_H

#include "analyze/l7/engine/pair_possible.h"
#include "analyze/l7/engine/pair_window.h"
#include "analyze/l7/engine/waiting.h"

struct pair_order {
	struct pair_out *out;
	struct waiting_list reqs;
	struct waiting_list resps;		 /* only while unsure */
	struct waiting_list old_reqs, old_resps; /* the burst before, until its end is proven */
	struct pair_window window;
	struct pair_missed missed;
	struct pair_possible possible; /* while tracked */
	size_t early;		       /* responses while no request waited */
	enum l7_why why, old_why;
	bool unsure;	      /* which response belongs to which request is not known, */
	size_t sure_cnt;      /* but for this many of the oldest requests */
	bool tracked;	      /* bytes were missed, and what is possible is more than one number */
	bool answered;	      /* the last message was a response */
	bool hole_since;      /* requests were missed since the last message */
	bool derived;	      /* sure again since a burst's end: that may turn out wrong */
	bool windowed;	      /* so by its window alone */
	bool late;	      /* requests may have waited before the first; nothing shows it yet */
	bool overlaps;	      /* it asks on while answers are still to come: no burst ends */
	bool asks_singly;     /* and clients of its protocol do */
	bool heard;	      /* a response came */
	bool calm;	      /* it was seen to wait for all answers first */
	bool may_overlap;     /* unless the missing answers turn out to be lost */
	bool begun_idle;      /* what is held began after silence, with all answered, as it seems */
	unsigned idle_turns;  /* since then, at which all was answered by that */
	int64_t level, floor; /* requests less responses since the last hole; the fewest */
	bool unasked;	      /* tracked since responses were missed while no request waited */
	uint64_t doubtful_ns[2]; /* when responses, requests came that may be parts of one */
	uint64_t latest_ns;	 /* the end of the last message */
	uint64_t usual_ns;	 /* from requests to the next answer, on average */
	uint64_t longest_ns;	 /* that an answer took while all was known */
};

void pair_order_request(struct pair_order *p, const struct l7_message *m);
void pair_order_response(struct pair_order *p, const struct l7_message *m);
const struct l7_message *pair_order_pending(struct pair_order *p);
/* The oldest request, the caller's to free; NULL: none waits. */
struct waiting *pair_order_take_oldest(struct pair_order *p);
void pair_order_hole(struct pair_order *p, bool requests, enum l7_why why);
void pair_order_fini(struct pair_order *p);

#endif
