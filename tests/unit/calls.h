/* SPDX-License-Identifier: BSD-2-Clause */
/* Conversations with lost calls, for the tests of pairing requests and responses after losses.
 * Fixed seeds, so that results do not depend on the machine. */
#ifndef TESTS_UNIT_CALLS_H
#define TESTS_UNIT_CALLS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/l7/engine/l7.h"

#ifdef __SANITIZE_ADDRESS__
enum { SEEDS = 6 }; /* seven times slower */
#else
enum { SEEDS = 20 };
#endif
enum { REQUESTS = 4000, LOST_ONE_IN = 100, MAX_CALLS = 2 * REQUESTS + 1 };

#define FIRST_SEED 0x9e3779b97f4a7c15

static uint64_t seed;

static uint64_t random_below(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed * 0x2545f4914f6cdd1d >> 20) % n;
}

struct call {
	struct l7_piece piece;
	unsigned first, cnt; /* its messages: index of the first one, and their number */
};

/* One conversation, as seen by its client. */
struct calls {
	struct call v[MAX_CALLS];
	unsigned cnt;
	uint64_t pos[2], now_ns;
	bool timed;	       /* the test sets now_ns */
	enum l7_unread unread; /* when the next request is sent */
};

/* Appends a call; takes ownership of `data`. */
static void calls_say(struct calls *c, enum l7_dir dir, unsigned first, unsigned cnt, char *data,
		      size_t sz)
{
	c->now_ns += c->timed ? 1 : 100000 + random_below(50000);
	c->v[c->cnt++] = (struct call){.piece = {.dir = dir,
						 .pos = c->pos[dir],
						 .len = sz,
						 .unread = c->unread,
						 .ts_ns = c->now_ns,
						 .data = {data, sz}},
				       .first = first,
				       .cnt = cnt};
	c->pos[dir] += sz;
}

/* Feeds the calls that were not lost. */
static void calls_feed(const struct calls *c, const bool *lost, const struct l7_conn_opts *opts)
{
	struct l7_conn *conn;

	if (l7_conn__new(&conn, opts))
		exit(1);
	for (unsigned i = 0; i < c->cnt; i++)
		if (!lost[i])
			l7_conn__feed(conn, &c->v[i].piece);
	l7_conn__finish(conn);
	l7_conn__free(conn);
}

/* Number of pairs without a lost call. */
static uint64_t calls_due(const struct calls *c, const bool *lost)
{
	static bool gone[REQUESTS];
	uint64_t cnt = REQUESTS;

	memset(gone, 0, sizeof(gone));
	for (unsigned i = 0; i < c->cnt; i++)
		for (unsigned j = 0; lost[i] && j < c->v[i].cnt; j++)
			gone[c->v[i].first + j] = true;
	for (unsigned i = 0; i < REQUESTS; i++)
		cnt -= gone[i];
	return cnt;
}

static void calls_fini(struct calls *c)
{
	for (unsigned i = 0; i < c->cnt; i++)
		free((void *)c->v[i].piece.data.p);
}

#endif
