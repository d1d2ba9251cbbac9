/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets that were captured more than once on their way through one host or switch. They have the
 * same identification, ports, numbers and payload within a moment; where IP gives them none, they
 * also must have been captured at another place (interface, link addresses, VLAN, hop limit).
 */
#ifndef ANALYZE_PCAP_TWICE_H
#define ANALYZE_PCAP_TWICE_H

#include "analyze/pcap/pcap_packet.h"

struct twice_slot;

struct twice {
	struct twice_slot *slots;
	uint64_t seed, cnt; /* cnt: those found */
};

int twice__init(struct twice *t);
void twice__fini(struct twice *t);
/* Whether it was there a moment ago; remembers it. */
bool twice__seen(struct twice *t, const struct packet *pk);

#endif
