/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which connection is the other end of which: that of the mirrored addresses, in the same network
 * namespace when the addresses mean something there only, alive at the same time when both clocks
 * are one. Unix sockets have no addresses: their ends name each other's process, those of a
 * socketpair the process that made both.
 */
#ifndef ANALYZE_TRAFFIC_ENDS_H
#define ANALYZE_TRAFFIC_ENDS_H

#include "analyze/traffic/traffic.h"

/* Sets `other` of all connections. 0 or -ENOMEM. */
int traffic_find_ends(struct traffic *t);

#endif
