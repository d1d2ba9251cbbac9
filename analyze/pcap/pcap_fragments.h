/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reassembles IP datagrams from fragments (RFC 791, 8200). As in Linux (RFC 5722), duplicate
 * fragments are accepted, but a datagram with other overlaps is dropped. Datagrams, bytes and time
 * are bounded; dropped fragments are counted.
 */
#ifndef ANALYZE_PCAP_FRAGMENTS_H
#define ANALYZE_PCAP_FRAGMENTS_H

#include "analyze/pcap/pcap_walk.h"

struct fragment {
	struct endpoint from, to;
	uint64_t net, ts_ns;
	uint32_t id;
	bool v6, more; /* more: not the last fragment */
	uint8_t proto; /* output: protocol of the whole datagram, which the first fragment has */
	uint32_t offset;
	struct rest bytes;
};

int fragments__new(struct fragments **f);
void fragments__free(struct fragments *f);
/* Adds a fragment. True: the datagram is complete, and *whole holds its bytes until
 * fragments__forget_whole(). */
bool fragments__add(struct fragments *f, struct fragment *part, struct rest *whole);
void fragments__forget_whole(struct fragments *f);
/* Number of fragments whose datagram is not complete, including those still waiting. */
uint64_t fragments__lost(const struct fragments *f);
/* Number of duplicate fragments. */
uint64_t fragments__again(const struct fragments *f);

#endif
