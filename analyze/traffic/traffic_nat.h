/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Matches the two ends of a TCP connection whose addresses were translated (DNAT of a container's
 * port, a service's address). Each end sees a different tuple, but both see the same two streams,
 * and NAT does not change sequence numbers.
 */
#ifndef ANALYZE_TRAFFIC_NAT_H
#define ANALYZE_TRAFFIC_NAT_H

#include "analyze/traffic/traffic.h"

/* Sets `other` of connections that have none yet. 0 or -ENOMEM. */
int traffic_find_translated(struct traffic *t);

#endif
