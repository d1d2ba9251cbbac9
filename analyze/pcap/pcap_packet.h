/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses a captured frame down to TCP or UDP, including tunnels. Nothing is copied except fragments
 * of IP datagrams, for reassembly. */
#ifndef ANALYZE_PCAP_PACKET_H
#define ANALYZE_PCAP_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "format/records.h"
#include "analyze/pcap/pcap_file.h"

/* An IPv6 address, or an IPv4 address as ::ffff:a.b.c.d. */
struct endpoint {
	uint8_t addr[16];
	uint16_t port;
};

/* A tunnel around the packet. */
struct packet_outer {
	const char *name;
	bool has_id;
	uint32_t id; /* virtual network or session id */
	bool has_ends;
	struct endpoint from, to;
};

enum { PACKET_OUTER_MAX = 4 };

/* Why a packet was not converted: the header field that identifies its protocol. */
struct packet_kind_id {
	const char *space; /* "EtherType", "IP protocol", ... */
	uint32_t id;
	const char *name; /* NULL: no name known */
};

struct packet {
	struct endpoint from, to;
	uint8_t proto; /* TRANSPORT_TCP or TRANSPORT_UDP */
	uint8_t flags; /* TCP_* */
	uint8_t scale; /* window scale of a SYN (RFC 7323) + 1; 0: none */
	uint16_t window;
	uint32_t seq, ack;
	uint64_t ts_ns;
	uint32_t len;	  /* payload length on the wire */
	struct span data; /* captured part of the payload */

	uint64_t net;	/* virtual network of the addresses; 0: none */
	uint32_t ip_id; /* 0: none */
	uint64_t path;	/* differs between capture points on the packet's way */
	uint32_t outer_cnt;
	struct packet_outer outer[PACKET_OUTER_MAX]; /* outermost first */
	struct packet_kind_id kind;		     /* PACKET_OTHER: identifies the protocol */
};

enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_PSH = 8, TCP_ACK = 16 };

enum packet_kind {
	PACKET_OK,
	PACKET_OTHER,	 /* ARP, ICMP, ...: not TCP or UDP; see `kind` */
	PACKET_FRAGMENT, /* part of an incomplete IP datagram */
	PACKET_SHORT,	 /* truncated or damaged before the payload */
};

struct fragments;

/* Parses a frame. Fragments are held in `fragments`; data that `pk` refers to is valid until the
 * next call with the same `fragments`. */
enum packet_kind packet_parse(struct packet *pk, struct fragments *fragments,
			      const struct pcap_frame *frame);

#endif
