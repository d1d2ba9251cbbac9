/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many requests a client keeps outstanding. A client that sends a request as soon as a response
 * arrives, up to a maximum, is never idle. But whenever a response follows its requests (a turn),
 * that maximum is outstanding again. After a hole this tells how many requests are outstanding.
 *
 *   requests   1 2 3 4     5 6     7     8       four are outstanding at each turn |
 *   responses          | 1 2  | 3  |   4  | 5
 *
 * A turn counts once the next request came: nothing was missed in either direction up to there.
 * Ready to use when zeroed.
 */
#ifndef ANALYZE_L7_PAIR_WINDOW_H
#define ANALYZE_L7_PAIR_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PAIR_WINDOW_MOST = 1024 }; /* more outstanding requests are not considered a window */
#define PAIR_WINDOW_UNKNOWN INT64_MIN

struct pair_window {
	int64_t out;	 /* requests minus responses, not counting missed messages */
	int64_t turn;	 /* `out` at the last turn */
	int64_t level;	 /* `out` at the turns before, equal since the last hole */
	size_t size;	 /* requests outstanding at turns while the order was known; 0: not known */
	unsigned alike;	 /* number of turns at `level` */
	unsigned agree;	 /* consecutive equal turns, ignoring those that holes hid */
	unsigned breaks; /* how often turns differed */
	bool asked, turned; /* asked: a request since the last response; turned: a turn to be
			     * counted. Cleared by holes */
	bool none;	    /* the protocol has requests that may stay unanswered: no window */
};

/* `known`: requests outstanding before this message, or PAIR_WINDOW_UNKNOWN. */
void pair_window_request(struct pair_window *w, int64_t known);
void pair_window_response(struct pair_window *w, int64_t known);
void pair_window_hole(struct pair_window *w);
/* Before a request: counts the pending turn, if any. False: it differed from those before. */
bool pair_window_turn(struct pair_window *w, int64_t known);

/* Is the window known, or can it still become known? */
static inline bool pair_window_hopeful(const struct pair_window *w)
{
	return w->size && !w->none;
}

/* Requests outstanding now; -1: not known. */
int64_t pair_window_outstanding(const struct pair_window *w);

#endif
