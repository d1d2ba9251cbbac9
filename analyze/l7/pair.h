/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that wait for responses.
 *
 * By id: a response takes the request of its id. In order: a response takes the oldest waiting one.
 * A hole makes the order unknown; until it is known again exchanges are held back as a burst: the
 * requests from one idle moment to the next, and the responses between. When the next burst begins
 * and both counts agree, they belong together in order; when not, each is handed out unpaired.
 * Nothing is guessed.
 */
#ifndef ANALYZE_L7_PAIR_H
#define ANALYZE_L7_PAIR_H

#include "l7.h"

struct waiting;

struct pair {
	bool by_id;
	bool unsure;  /* a hole: hold exchanges until a burst proves itself */
	bool tainted; /* another hole since: what one lacks the other may make up for */
	struct waiting *reqs, **reqs_end;   /* oldest first */
	struct waiting *resps, **resps_end; /* only while unsure */
	size_t req_cnt, resp_cnt;
	uint64_t paired, unpaired;
	void (*out)(void *ctx, const struct l7_exchange *x);
	void *ctx;
};

void pair_init(struct pair *p, bool by_id, void (*out)(void *ctx, const struct l7_exchange *x),
	       void *ctx);
/* Takes copies. Messages come in the order of time. */
void pair_add(struct pair *p, const struct l7_message *m);
const struct l7_message *pair_pending(const struct pair *p, uint64_t id);
/* By id: the request waits no longer. */
void pair_give_up(struct pair *p, uint64_t id);
/* Bytes of either direction were lost. */
void pair_hole(struct pair *p);
/* Hands out everything that waits. */
void pair_fini(struct pair *p);

#endif
