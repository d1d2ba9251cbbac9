/* SPDX-License-Identifier: BSD-2-Clause */
/* One captured frame, taken apart down to TCP or UDP. Nothing is copied. */
#ifndef ANALYZE_PCAP_PACKET_H
#define ANALYZE_PCAP_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "format/records.h"

/* IPv6, or IPv4 as ::ffff:a.b.c.d. */
struct endpoint {
	uint8_t addr[16];
	uint16_t port;
};

struct packet {
	struct endpoint from, to;
	uint8_t proto; /* TRANSPORT_TCP or TRANSPORT_UDP */
	uint8_t flags; /* TCP_* */
	uint32_t seq, ack;
	uint64_t ts_ns;	  /* filled by the caller */
	uint32_t len;	  /* payload as it was sent */
	struct span data; /* what of it was captured */
};

enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_ACK = 16 };

enum packet_kind {
	PACKET_OK,
	PACKET_OTHER,	 /* ARP, ICMP, ...: no TCP or UDP */
	PACKET_FRAGMENT, /* of an IP datagram; not put together */
	PACKET_SHORT,	 /* cut or damaged before the payload */
};

/* Whether frames of that link type (DLT_*) can be taken apart. */
bool packet_link_known(int link);

/* `caplen` bytes at p were captured of a frame of `len` bytes. */
enum packet_kind packet_parse(struct packet *pk, int link, const uint8_t *p, uint32_t caplen,
			      uint32_t len);

#endif
