/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many requests a client keeps on their way. One that asks on as soon as it has answers, up to
 * a number, is never idle; but each time answers follow its requests (a turn) that number is
 * outstanding again. After a hole this tells how many are.
 *
 *   requests   1 2 3 4     5 6     7     8       four are outstanding at each turn |
 *   responses          | 1 2  | 3  |   4  | 5
 *
 * A turn counts once the next request came: nothing was missed in either direction up to there.
 * Zeroed it is ready.
 */
#ifndef ANALYZE_L7_PAIR_WINDOW_H
#define ANALYZE_L7_PAIR_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PAIR_WINDOW_MOST = 1024 }; /* more outstanding are no window */
#define PAIR_WINDOW_UNKNOWN INT64_MIN

struct pair_window {
	int64_t out;	 /* requests less responses: those outstanding, but for what was missed */
	int64_t turn;	 /* of them at the last turn */
	int64_t level;	 /* and at those before, alike since the last hole */
	size_t size;	 /* outstanding at the turns while all was known; 0: not known */
	unsigned alike;	 /* how many of those */
	unsigned agree;	 /* turns in a row that were alike, but for what holes hid */
	unsigned breaks; /* how often they were not */
	bool asked, turned; /* and nothing was missed since */
	bool none;	    /* the protocol has requests that may stay without an answer */
};

/* `known`: so many are outstanding before it, or PAIR_WINDOW_UNKNOWN. */
void pair_window_request(struct pair_window *w, int64_t known);
void pair_window_response(struct pair_window *w, int64_t known);
void pair_window_hole(struct pair_window *w);
/* Before a request: the turn, if there was one, counts. False: it was not as those before. */
bool pair_window_turn(struct pair_window *w, int64_t known);

/* It may become known, or is. */
static inline bool pair_window_hopeful(const struct pair_window *w)
{
	return w->size && !w->none;
}

/* How many are outstanding now; -1: not known. */
int64_t pair_window_outstanding(const struct pair_window *w);

#endif
