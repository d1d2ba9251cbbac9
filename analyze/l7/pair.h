/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that wait for responses: by id a response takes the request of its id; in order it takes
 * the oldest waiting one (pair_order.c says what becomes of that order after a hole).
 */
#ifndef ANALYZE_L7_PAIR_H
#define ANALYZE_L7_PAIR_H

#include "l7.h"

/* More than this many without an answer: the oldest goes out unpaired (a peer that never answers).
 */
enum { PAIR_WAITING_MAX = 65536 };

struct waiting {
	struct waiting *next, *prev; /* by age */
	struct waiting *same;	     /* next in its bucket */
	uint64_t holes;		     /* in the other direction when it came; by id */
	struct l7_message m;
	char text[];
};

struct waiting_list {
	struct waiting *oldest, *newest;
	size_t cnt;
	size_t tail; /* how many came since bytes of that direction were missed last */
};

struct pair {
	bool by_id;
	struct waiting_list reqs;
	void (*out)(void *ctx, const struct l7_exchange *x);
	void *ctx;
	uint64_t paired, unpaired, missing;

	/* by id */
	struct waiting **buckets; /* bucket_cnt of them, a power of two */
	size_t bucket_cnt;
	uint64_t holes[2];  /* in responses, in requests */
	enum l7_why why[2]; /* the last of each */

	/* in order */
	struct waiting_list resps;		 /* only while unsure */
	struct waiting_list old_reqs, old_resps; /* the burst before, until its end is proven */
	enum l7_why order_why, old_why;
	bool unsure;	     /* which response belongs to which request is not known, */
	size_t sure_cnt;     /* but for this many of the oldest requests */
	bool answered;	     /* the last message was a response */
	bool hole_since;     /* requests were missed since the last message */
	bool derived;	     /* sure again since a burst's end: that may turn out wrong */
	bool overlaps;	     /* it asks on while answers are still to come: no burst ends */
	bool calm;	     /* it was seen to wait for all answers first */
	bool may_overlap;    /* unless the missing answers turn out to be lost */
	bool begun_idle;     /* what is held began after silence */
	uint64_t latest_ns;  /* the end of the last message */
	uint64_t longest_ns; /* that an answer took while all was known */
};

void pair_init(struct pair *p, bool by_id, void (*out)(void *ctx, const struct l7_exchange *x),
	       void *ctx);
/* Takes copies. Messages come in the order of time. */
void pair_add(struct pair *p, const struct l7_message *m);
const struct l7_message *pair_pending(const struct pair *p, uint64_t id);
/* In order: what waits behind a message that pair_pending gave. */
const struct l7_message *pair_next(const struct l7_message *m);
/* By id: the request waits no longer. */
void pair_give_up(struct pair *p, uint64_t id);
/* Bytes of that direction were missed: L7_NOT_KEPT or L7_LOST. */
void pair_hole(struct pair *p, bool requests, enum l7_why why);
/* In order: the oldest request, the caller's to free; NULL: none waits. */
struct waiting *pair_take_oldest(struct pair *p);
/* Hands out everything that waits. */
void pair_fini(struct pair *p);

/* ---- shared by pair.c and pair_order.c ---- */

struct waiting *waiting_new(const struct l7_message *m);
void waiting_push(struct waiting_list *l, struct waiting *w);
struct waiting *waiting_take(struct waiting_list *l, struct waiting *w);

/* Either may be NULL. */
void pair_hand_out(struct pair *p, const struct l7_message *req, const struct l7_message *resp,
		   bool paired, enum l7_why why);

void pair_order_request(struct pair *p, const struct l7_message *m);
void pair_order_response(struct pair *p, const struct l7_message *m);
const struct l7_message *pair_order_pending(const struct pair *p);
void pair_order_hole(struct pair *p, bool requests, enum l7_why why);
void pair_order_fini(struct pair *p);

#endif
