/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * IP datagrams put together from their fragments (RFC 791, 8200). As Linux does (RFC 5722): what
 * was there before may come again, but a datagram whose fragments overlap otherwise is given up
 * whole. Bounded in datagrams, bytes and time; what is given up is counted.
 */
#ifndef ANALYZE_PCAP_FRAGMENTS_H
#define ANALYZE_PCAP_FRAGMENTS_H

#include "analyze/pcap/pcap_walk.h"

struct fragment {
	struct endpoint from, to;
	uint64_t net, ts_ns;
	uint32_t id;
	bool v6, more; /* more: not the last */
	uint8_t proto; /* out: the whole's, which the first fragment has */
	uint32_t offset;
	struct rest bytes;
};

int fragments__new(struct fragments **f);
void fragments__free(struct fragments *f);
/* Whether the datagram is whole with this; then its bytes, until fragments__forget_whole(). */
bool fragments__add(struct fragments *f, struct fragment *part, struct rest *whole);
void fragments__forget_whole(struct fragments *f);
/* Fragments whose datagram did not become whole; those that still wait are among them. */
uint64_t fragments__lost(const struct fragments *f);
/* Fragments that came again. */
uint64_t fragments__again(const struct fragments *f);

#endif
