/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two ends of a TCP connection whose addresses were translated on the way (DNAT of a
 * container's port, a service's address): each sees another tuple, but both see the same two
 * streams, and translation leaves sequence numbers alone.
 */
#ifndef ANALYZE_TRAFFIC_NAT_H
#define ANALYZE_TRAFFIC_NAT_H

#include "analyze/traffic/traffic.h"

/* Sets `other` of those that have none yet. 0 or -ENOMEM. */
int traffic_find_translated(struct traffic *t);

#endif
