/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internals of a connection. Each step uses only those before it: ending messages (tail.c),
 * selecting the protocol (speak.c), parsing at the fronts of both directions (advance.c). engine.c
 * creates, feeds and finishes connections.
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
	bool spans; /* a message continued in the next call, so the first bytes of a call may be
		     * the middle of a message */
	uint64_t missed_from; /* after a hole: its position */
	uint64_t missed;      /* bytes missed before the next message */
	bool begun;	      /* a piece was received; the first one began at position `begin` */
	uint64_t begin;
	bool parsed;
	struct waiting *tail; /* a message whose end, tail_end, has not been seen */
	uint64_t tail_end;
};

struct l7_conn {
	struct l7_conn_opts opts;
	const struct l7_protocol *protocol;
	enum l7_role role;
	struct direction dir[2];
	struct l7_parser parser;
	struct pair pair;
	struct arena own_arena, *arena; /* `arena` is the one in use: own_arena or the caller's */
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

/* Passes a message to pairing. Its last byte, the one before `end`, has been seen. */
void tail_finish(struct l7_conn *c, struct direction *d, struct l7_message *m, uint64_t end);
/* Holds a copy until tail_release, because the last byte of the message has not been seen. */
void tail_hold(struct l7_conn *c, struct direction *d, struct l7_message *m, uint64_t end);
void tail_release(struct l7_conn *c, struct direction *d);

/* Sets the protocol of the connection. Without memory the connection stays unrecognized. */
void speak_take(struct l7_conn *c, const struct l7_protocol *p, int requests_sent);
/* Delivers everything that the parser and pairing still hold. */
void speak_flush(struct l7_conn *c);
void speak_drop(struct l7_conn *c);
/* Switches to the protocol called name; the roles stay. */
void speak_switch(struct l7_conn *c, const char *name);

/* Parses both directions as far as data is available. */
void advance(struct l7_conn *c);

#endif
