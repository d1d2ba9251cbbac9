/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of a connection, and its steps, each of which uses those before it: messages that end
 * (tail.c), the protocol it speaks (speak.c), what lies at the fronts of its directions
 * (advance.c). engine.c is its life.
 */
#ifndef ANALYZE_L7_CONN_H
#define ANALYZE_L7_CONN_H

#include "analyze/l7/engine/arena.h"
#include "analyze/l7/engine/bid.h"
#include "analyze/l7/engine/pair.h"
#include "analyze/l7/engine/stream.h"

struct direction {
	struct stream stream;
	bool after_hole;
	bool spans; /* a message went on in the next call: what begins one may be the middle of it
		     */
	uint64_t missed_from; /* after a hole: where it began */
	uint64_t missed;      /* before the next message */
	bool begun;	      /* one of its pieces came, the first at this position */
	uint64_t begin;
	bool parsed;
	struct waiting *tail; /* a message whose last byte, that before tail_end, has not passed */
	uint64_t tail_end;
};

struct l7_conn {
	struct l7_conn_opts opts;
	const struct l7_protocol *protocol;
	enum l7_role role;
	struct direction dir[2];
	struct l7_parser parser;
	struct pair pair;
	struct arena own_arena, *arena; /* the latter is used */
	struct l7_stats stats;
	enum l7_dir first_dir;
	bool begun, opaque, finished;
	struct bidding bidding;
	unsigned bad_in_row;
	uint64_t now_ns;
};

static inline bool is_requests(const struct l7_conn *c, enum l7_dir dir)
{
	return (c->role == L7_CLIENT) == (dir == L7_SENT);
}

static inline enum l7_dir dir_of(const struct l7_conn *c, const struct direction *d)
{
	return d == &c->dir[L7_SENT] ? L7_SENT : L7_RECEIVED;
}

/* A message whose last byte has passed, that before `end`, goes to pairing. */
void tail_finish(struct l7_conn *c, struct direction *d, struct l7_message *m, uint64_t end);
/* Its last byte is still to come: a copy waits until tail_release. */
void tail_hold(struct l7_conn *c, struct direction *d, struct l7_message *m, uint64_t end);
void tail_release(struct l7_conn *c, struct direction *d);

/* From here on the connection speaks p; without memory still nobody's. */
void speak_take(struct l7_conn *c, const struct l7_protocol *p, int requests_sent);
/* What parsers and pairing still hold goes out. */
void speak_flush(struct l7_conn *c);
void speak_drop(struct l7_conn *c);
/* To another one; the roles stay. */
void speak_switch(struct l7_conn *c, const char *name);

/* Parses both directions as far as they are known. */
void advance(struct l7_conn *c);

#endif
