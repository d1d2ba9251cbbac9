/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a frame is parsed: the function of each layer reads its header, skips it, and sets the next
 * layer. Two tables map numbers to functions: link types (pcap_link.c), and everything identified
 * by an EtherType, IP protocol, port or the like (pcap_layers.c).
 */
#ifndef ANALYZE_PCAP_WALK_H
#define ANALYZE_PCAP_WALK_H

#include "analyze/pcap/pcap_packet.h"

/* The rest of the frame: captured bytes, and length on the wire. */
struct rest {
	const uint8_t *p;
	uint32_t cap, len;
};

struct walk;
typedef enum packet_kind (*layer_fn)(struct walk *w);

struct walk {
	struct rest r;
	layer_fn next; /* NULL: the payload is reached */
	struct packet *pk;
	struct fragments *fragments;
	const struct pcap_frame *frame;
};

/* Number spaces that identify a layer. */
enum layer_space { BY_ETHERTYPE, BY_IP, BY_PPP, BY_LLC, BY_UDP, BY_WIFI, BY_LINK };

/* Bytes beyond the capture read as zero. Callers that need the bytes check with has(). */
static inline uint8_t u8(const struct rest *r, uint32_t at)
{
	return at < r->cap ? r->p[at] : 0;
}

static inline uint16_t be16(const struct rest *r, uint32_t at)
{
	return u8(r, at) << 8 | u8(r, at + 1);
}

static inline uint32_t be32(const struct rest *r, uint32_t at)
{
	return (uint32_t)be16(r, at) << 16 | be16(r, at + 2);
}

static inline uint32_t le32(const struct rest *r, uint32_t at)
{
	return __builtin_bswap32(be32(r, at));
}

static inline uint16_t le16(const struct rest *r, uint32_t at)
{
	return __builtin_bswap16(be16(r, at));
}

static inline bool has(const struct rest *r, uint32_t n)
{
	return r->cap >= n;
}

static inline bool skip(struct rest *r, uint32_t n)
{
	if (r->cap < n)
		return false;
	r->p += n;
	r->cap -= n;
	r->len -= n;
	return true;
}

/* Cuts off bytes after the datagram (padding of short Ethernet frames). */
static inline void limit(struct rest *r, uint32_t len)
{
	r->len = r->len < len ? r->len : len;
	r->cap = r->cap < len ? r->cap : len;
}

/* Skips a header of n bytes; `next` parses what follows. */
static inline enum packet_kind walk_on(struct walk *w, uint32_t n, layer_fn next)
{
	w->next = next;
	return skip(&w->r, n) ? PACKET_OK : PACKET_SHORT;
}

/* Skips n bytes; the number identifies the next layer. PACKET_OTHER: not supported. */
enum packet_kind walk_to(struct walk *w, uint32_t n, enum layer_space space, uint32_t id);
/* The function for a UDP port; NULL: none. */
layer_fn walk_port(uint16_t port);
/* Ends parsing: the packet is counted under `name` and not converted. */
enum packet_kind walk_out(struct walk *w, enum layer_space space, uint32_t id, const char *name);
/* The rest of the packet is inside that tunnel; `id` is valid if has_id. */
void walk_into(struct walk *w, const char *name, bool has_id, uint32_t id);
/* The following addresses belong to that virtual network. */
void walk_net(struct walk *w, const char *name, uint32_t id);

/* IPv4 or IPv6, by the first nibble. */
enum packet_kind layer_ip(struct walk *w);
enum packet_kind layer_ipv4(struct walk *w);
enum packet_kind layer_ipv6(struct walk *w);
enum packet_kind layer_ah(struct walk *w);
enum packet_kind layer_tcp(struct walk *w);
enum packet_kind layer_udp(struct walk *w);

enum packet_kind layer_ethernet(struct walk *w);
enum packet_kind layer_vlan(struct walk *w);
enum packet_kind layer_vntag(struct walk *w);
enum packet_kind layer_backbone(struct walk *w);
enum packet_kind layer_llc(struct walk *w);
enum packet_kind layer_ppp(struct walk *w);
enum packet_kind layer_pppoe(struct walk *w);
enum packet_kind layer_mpls(struct walk *w);

enum packet_kind layer_wifi(struct walk *w);
enum packet_kind layer_radiotap(struct walk *w);
enum packet_kind layer_prism(struct walk *w);
enum packet_kind layer_avs(struct walk *w);

enum packet_kind layer_gre(struct walk *w);
enum packet_kind layer_ipip(struct walk *w);
enum packet_kind layer_etherip(struct walk *w);
enum packet_kind layer_mpls_in_ip(struct walk *w);
enum packet_kind layer_erspan2(struct walk *w);
enum packet_kind layer_erspan3(struct walk *w);
enum packet_kind layer_vxlan(struct walk *w);
enum packet_kind layer_vxlan_gpe(struct walk *w);
enum packet_kind layer_geneve(struct walk *w);
enum packet_kind layer_gtpu(struct walk *w);

#endif
