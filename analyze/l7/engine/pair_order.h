/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairing in order: a response takes the oldest waiting request. pair_order.c describes how the
 * order is handled after a hole. Ready to use when zeroed except for `out`. */
#ifndef ANALYZE_L7_PAIR_ORDER_H
#define ANALYZE_L7_PAIR_ORDER_H

#include "analyze/l7/engine/pair_idle.h"
#include "analyze/l7/engine/pair_possible.h"
#include "analyze/l7/engine/pair_window.h"
#include "analyze/l7/engine/waiting.h"

struct pair_order {
	struct pair_out *out;
	struct waiting_list reqs;
	struct waiting_list resps;		 /* only while unsure */
	struct waiting_list old_reqs, old_resps; /* the previous burst, until its end is proven */
	struct pair_window window;
	struct pair_missed missed;
	struct pair_possible possible; /* while tracked */
	size_t early;		       /* responses received while no request was waiting */
	enum l7_why why, old_why;
	bool unsure;	  /* it is unknown which response belongs to which request, */
	size_t sure_cnt;  /* except for this many of the oldest requests */
	bool tracked;	  /* bytes were missed, and more than one number may be outstanding */
	bool answered;	  /* the last message was a response */
	bool hole_since;  /* requests were missed since the last message */
	bool derived;	  /* order recovered at the end of a burst; may turn out wrong */
	bool windowed;	  /* the same, based on the window alone */
	bool by_idle;	  /* the same, from idle moments */
	bool late;	  /* requests may have been outstanding before the first one seen */
	bool overlaps;	  /* requests are sent before all responses come: no bursts */
	bool asks_singly; /* clients of the protocol send one request at a time */
	bool heard;	  /* a response was seen */
	bool calm;	  /* the client was seen to wait for all responses */
	bool may_overlap; /* it may overlap, unless the missing responses turn out to be lost */
	bool unasked;	  /* tracked: responses were missed, no request was waiting */
	uint64_t doubtful_ns[2]; /* first_ns of the last doubtful response, request */
	struct pair_idle idle;	 /* `begun`: only while unsure */
};

void pair_order_request(struct pair_order *p, const struct l7_message *m);
void pair_order_response(struct pair_order *p, const struct l7_message *m);
const struct l7_message *pair_order_pending(struct pair_order *p);
/* Removes the oldest request, which the caller frees. NULL: none is waiting. */
struct waiting *pair_order_take_oldest(struct pair_order *p);
void pair_order_hole(struct pair_order *p, bool requests, enum l7_why why);
void pair_order_fini(struct pair_order *p);

#endif
