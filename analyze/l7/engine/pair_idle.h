/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds idle moments, at which all requests are answered, while the number of outstanding requests
 * is unknown. Requests minus responses (the level) is known up to a constant. No response comes
 * before its request, so the level is lowest when nothing is outstanding, if that ever happens:
 *
 *   requests     1 2   3     4   5
 *   responses        .   1 2   3       '.': to a request before the first one seen
 *   level      0 1 2 1 2 1 0 1 0 1     lowest before 4 and 5: idle, or never idle
 *
 * A client that is never idle also has a lowest level. Its requests then have older ones before
 * them, whose responses come at any time; those of an idle client come soon after the request,
 * however long the client waited before it. Each pause at the lowest level that is longer than the
 * time to the response after it counts, the more the longer. So does, for a client never seen to
 * send requests at another level, how often it did at this one while no response was waiting to be
 * read: a client with older requests outstanding would at times have been late to read. If a
 * response was waiting to be read when a request was sent, the level is lower than
 * it seems. Ready to use when zeroed, except for `lowest`.
 */
#ifndef ANALYZE_L7_PAIR_IDLE_H
#define ANALYZE_L7_PAIR_IDLE_H

#include "analyze/l7/engine/l7.h"

struct pair_idle {
	int64_t level;	/* requests minus responses since the last hole */
	int64_t lowest; /* so far; of an idle moment, if there was any */
	bool begun;	/* a request was sent at it, as the caller says; the evidence since then: */
	unsigned score, longest; /* bits: of all pauses, of the longest */
	unsigned times;		 /* how often requests were sent at it, after responses */
	unsigned answers;	 /* responses */
	unsigned turns; /* as `times`, of the whole connection, while never at other levels */
	bool uneven;	/* requests were sent at other levels, since the last hole */
	bool answered;	/* the last message was a response */
	bool pushes;	/* messages come unasked: what waits to be read may be one */
	bool paused;	/* a pause is to be compared with the time to the next response */
	uint64_t pause_ns, asked_ns; /* it, and when the request behind it was sent */
	uint64_t latest_ns;	     /* end of the last message */
};

/* Bytes were missed. */
void pair_idle_hole(struct pair_idle *i);
/* Adds a request. Returns whether it was sent at the lowest level, after responses; then the caller
 * may set `begun`. Clears `begun` when the level turns out not to be the lowest. */
bool pair_idle_request(struct pair_idle *i, const struct l7_message *m);
/* Adds a response; clears `begun` likewise. */
void pair_idle_response(struct pair_idle *i, const struct l7_message *m);
/* The lowest level is that of idle moments: by pauses; or by the client's habit, `singly` if that
 * is known. */
bool pair_idle_seen(const struct pair_idle *i);
bool pair_idle_likely(const struct pair_idle *i, bool singly);
/* Nothing speaks against it: each request followed a response, and none waited to be read. */
bool pair_idle_even(const struct pair_idle *i);

#endif
