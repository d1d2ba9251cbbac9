/* SPDX-License-Identifier: BSD-2-Clause */
/* Decides whether two sockets can be the two ends of one connection. */
#ifndef ANALYZE_TRAFFIC_DISTANCE_H
#define ANALYZE_TRAFFIC_DISTANCE_H

#include <string.h>

#include "analyze/traffic/traffic.h"

#define TRAFFIC_SLACK_NS 1000000000ull /* tolerance for when an end is seen to open or close */

bool traffic_is_unix(const struct conn *c);
bool traffic_is_loopback(struct span addr);
bool traffic_same_host(const struct conn *a, const struct conn *b);
/* Converts a time of c's archive to CLOCK_REALTIME; `otherwise` if ns is 0. */
uint64_t traffic_real_ns(const struct conn *c, uint64_t ns, uint64_t otherwise);
/* Time between the two beginnings. UINT64_MAX: they cannot be the two ends of one connection. */
uint64_t traffic_distance(const struct conn *a, const struct conn *b);

static inline bool span_same(struct span a, struct span b)
{
	return a.len == b.len && (!a.len || !memcmp(a.p, b.p, a.len));
}

#endif
