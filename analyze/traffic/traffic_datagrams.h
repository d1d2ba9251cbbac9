/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is at the other end of datagrams, which have no connection. */
#ifndef ANALYZE_TRAFFIC_DATAGRAMS_H
#define ANALYZE_TRAFFIC_DATAGRAMS_H

#include "analyze/traffic/traffic.h"

/* Before anything else. 0 or -ENOMEM. */
int traffic_index_ports(struct traffic *t);
/* The socket at the other end of c's datagrams from or to an address at a time of c's archive (0:
 * whenever); NULL: not recorded. */
const struct conn *traffic_datagram_other(const struct conn *c, struct span addr, uint32_t port,
					  uint64_t at_ns);

#endif
