/* SPDX-License-Identifier: BSD-2-Clause */
/* One captured frame, taken apart down to TCP or UDP, through tunnels. Nothing is copied but
 * fragments of IP datagrams, which are put together. */
#ifndef ANALYZE_PCAP_PACKET_H
#define ANALYZE_PCAP_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "format/records.h"
#include "analyze/pcap/pcap_file.h"

/* IPv6, or IPv4 as ::ffff:a.b.c.d. */
struct endpoint {
	uint8_t addr[16];
	uint16_t port;
};

/* A tunnel that the packet came in. */
struct packet_outer {
	const char *name;
	bool has_id;
	uint32_t id; /* of the virtual network, or session */
	bool has_ends;
	struct endpoint from, to;
};

enum { PACKET_OUTER_MAX = 4 };

/* What was left out of a capture, by the header that says what it is. */
struct packet_kind_id {
	const char *space; /* "EtherType", "IP protocol", ... */
	uint32_t id;
	const char *name; /* NULL: has none here */
};

struct packet {
	struct endpoint from, to;
	uint8_t proto; /* TRANSPORT_TCP or TRANSPORT_UDP */
	uint8_t flags; /* TCP_* */
	uint8_t scale; /* of a SYN's window (RFC 7323) + 1; 0: none */
	uint16_t window;
	uint32_t seq, ack;
	uint64_t ts_ns;
	uint32_t len;	  /* payload as it was sent */
	struct span data; /* what of it was captured */

	uint64_t net;	/* 0, or the virtual network that the addresses belong to */
	uint32_t ip_id; /* 0: none */
	uint64_t path;	/* differs where it was captured at another place of its way */
	uint32_t outer_cnt;
	struct packet_outer outer[PACKET_OUTER_MAX]; /* outermost first */
	struct packet_kind_id kind;		     /* PACKET_OTHER: what it is */
};

enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_PSH = 8, TCP_ACK = 16 };

enum packet_kind {
	PACKET_OK,
	PACKET_OTHER,	 /* ARP, ICMP, ...: no TCP or UDP; `kind` tells */
	PACKET_FRAGMENT, /* of an IP datagram that is not whole */
	PACKET_SHORT,	 /* cut or damaged before the payload */
};

struct fragments;

/* Fragments wait in `fragments`; what `pk` refers to lives until the next call with them. */
enum packet_kind packet_parse(struct packet *pk, struct fragments *fragments,
			      const struct pcap_frame *frame);

#endif
