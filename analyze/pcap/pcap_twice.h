/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Detects packets that were captured more than once on their way through one host or switch. They
 * have the same IP identification, ports, sequence numbers and payload within a short time. If IP
 * provides no identification, they must also have been captured at a different place (interface,
 * link addresses, VLAN, hop limit).
 */
#ifndef ANALYZE_PCAP_TWICE_H
#define ANALYZE_PCAP_TWICE_H

#include "analyze/pcap/pcap_packet.h"

struct twice_slot;

struct twice {
	struct twice_slot *slots;
	uint64_t seed, cnt; /* cnt: duplicates found */
};

int twice__init(struct twice *t);
void twice__fini(struct twice *t);
/* Was the packet seen a moment ago? Remembers the packet. */
bool twice__seen(struct twice *t, const struct packet *pk);

#endif
