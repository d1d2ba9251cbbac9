/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the other end of each connection: the one with mirrored addresses, in the same network
 * namespace if the addresses are local to it, and alive at the same time if both ends share a
 * clock. Unix sockets have no addresses: each end names the other's process, and the ends of a
 * socketpair name the process that created both.
 */
#ifndef ANALYZE_TRAFFIC_ENDS_H
#define ANALYZE_TRAFFIC_ENDS_H

#include "analyze/traffic/traffic.h"

/* Sets `other` of all connections. 0 or -ENOMEM. */
int traffic_find_ends(struct traffic *t);

#endif
