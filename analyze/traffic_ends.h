/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which connection is the other end of which: that of the mirrored addresses, in the same network
 * namespace when the addresses mean something there only, alive at the same time when both clocks
 * are one. Unix sockets have no addresses: their ends name each other's process, those of a
 * socketpair the process that made both.
 */
#ifndef ANALYZE_TRAFFIC_ENDS_H
#define ANALYZE_TRAFFIC_ENDS_H

#include "traffic.h"

/* Sets `other` of all connections. 0 or -ENOMEM. */
int traffic_find_ends(struct traffic *t);

/* ---- what tells whether two sockets can be two ends ---- */

#define TRAFFIC_SLACK_NS 1000000000ull /* an end may be seen opened or closed this much later */

bool traffic_is_unix(const struct conn *c);
bool traffic_is_loopback(struct span addr);
bool traffic_same_host(const struct conn *a, const struct conn *b);
/* CLOCK_REALTIME of a time of c's archive; `otherwise` of 0. */
uint64_t traffic_real_ns(const struct conn *c, uint64_t ns, uint64_t otherwise);
/* How far apart the beginnings are, UINT64_MAX: cannot be the two ends of one connection. */
uint64_t traffic_distance(const struct conn *a, const struct conn *b);

static inline bool span_same(struct span a, struct span b)
{
	return a.len == b.len && (!a.len || !memcmp(a.p, b.p, a.len));
}

#endif
