/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the peer of datagrams, which have no connection. */
#ifndef ANALYZE_TRAFFIC_DATAGRAMS_H
#define ANALYZE_TRAFFIC_DATAGRAMS_H

#include "analyze/traffic/traffic.h"

/* Must be called first. 0 or -ENOMEM. */
int traffic_index_ports(struct traffic *t);
/* Returns the socket at the other end of c's datagrams from or to an address, at a time of c's
 * archive (0: any time). NULL: not recorded. */
const struct conn *traffic_datagram_other(const struct conn *c, struct span addr, uint32_t port,
					  uint64_t at_ns);

#endif
