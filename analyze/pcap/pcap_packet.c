/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/pcap/pcap_packet.h"

#include <pcap/dlt.h>
#include <string.h>

/* What is left of the frame: captured bytes, and how many there were. */
struct rest {
	const uint8_t *p;
	uint32_t cap, len;
};

enum { ETH_IPV4 = 0x0800, ETH_IPV6 = 0x86dd, ETH_NONE = 0, VLAN_MAX = 4, EXTENSION_MAX = 16 };
enum {
	IP_TCP = 6,
	IP_UDP = 17,
	IP_HOP = 0,
	IP_ROUTING = 43,
	IP_FRAGMENT = 44,
	IP_AH = 51,
	IP_DEST = 60,
	IP_MOBILITY = 135
};

/* Bytes past the capture read as zero; who needs them checks with has(). */
static uint8_t u8(const struct rest *r, uint32_t at)
{
	return at < r->cap ? r->p[at] : 0;
}

static uint16_t be16(const struct rest *r, uint32_t at)
{
	return u8(r, at) << 8 | u8(r, at + 1);
}

static uint32_t be32(const struct rest *r, uint32_t at)
{
	return (uint32_t)be16(r, at) << 16 | be16(r, at + 2);
}

static bool has(const struct rest *r, uint32_t n)
{
	return r->cap >= n;
}

static bool skip(struct rest *r, uint32_t n)
{
	if (r->cap < n)
		return false;
	r->p += n;
	r->cap -= n;
	r->len -= n;
	return true;
}

/* Cuts off what follows the datagram (padding of short Ethernet frames). */
static void limit(struct rest *r, uint32_t len)
{
	r->len = len;
	r->cap = r->cap < len ? r->cap : len;
}

bool packet_link_known(int link)
{
	switch (link) {
	case DLT_EN10MB:
	case DLT_NULL:
	case DLT_LOOP:
	case DLT_RAW:
	case DLT_IPV4:
	case DLT_IPV6:
	case DLT_LINUX_SLL:
	case DLT_LINUX_SLL2:
		return true;
	}
	return false;
}

/* By the first nibble, as raw IP frames have no type. */
static uint16_t ip_version(const struct rest *r)
{
	unsigned version = u8(r, 0) >> 4;

	return version == 4 ? ETH_IPV4 : version == 6 ? ETH_IPV6 : ETH_NONE;
}

/* The EtherType behind the link header; false: the frame is too short. */
static bool parse_link(struct rest *r, int link, uint16_t *type)
{
	switch (link) {
	case DLT_EN10MB:
		*type = be16(r, 12);
		return skip(r, 14);
	case DLT_LINUX_SLL:
		*type = be16(r, 14);
		return skip(r, 16);
	case DLT_LINUX_SLL2:
		*type = be16(r, 0);
		return skip(r, 20);
	case DLT_NULL:
	case DLT_LOOP: /* an address family that differs by system and byte order: the datagram
			  tells */
		if (!skip(r, 4))
			return false;
		break;
	}
	*type = ip_version(r);
	return has(r, 1);
}

static bool is_vlan(uint16_t type)
{
	return type == 0x8100 || type == 0x88a8 || type == 0x9100;
}

static void v4_address(struct endpoint *e, const uint8_t *p)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	memcpy(e->addr, mapped, 12);
	memcpy(e->addr + 12, p, 4);
}

static enum packet_kind parse_ipv4(struct packet *pk, struct rest *r)
{
	uint32_t header = (u8(r, 0) & 15) * 4, total = be16(r, 2);

	if (!has(r, 20) || header < 20 || u8(r, 0) >> 4 != 4)
		return PACKET_SHORT;
	if (!total) /* the network card divides it later: the frame's length holds */
		total = r->len;
	if (total < header || total > r->len)
		return PACKET_SHORT;
	limit(r, total);
	pk->proto = u8(r, 9);
	v4_address(&pk->from, r->p + 12);
	v4_address(&pk->to, r->p + 16);
	if (be16(r, 6) & 0x3fff) /* more fragments, or not the first */
		return PACKET_FRAGMENT;
	return skip(r, header) ? PACKET_OK : PACKET_SHORT;
}

/* RFC 8200, section 4. */
static enum packet_kind skip_extensions(struct packet *pk, struct rest *r)
{
	for (int i = 0; i < EXTENSION_MAX; i++) {
		uint32_t sz;

		switch (pk->proto) {
		case IP_HOP:
		case IP_ROUTING:
		case IP_DEST:
		case IP_MOBILITY:
			sz = (u8(r, 1) + 1) * 8;
			break;
		case IP_AH:
			sz = (u8(r, 1) + 2) * 4;
			break;
		case IP_FRAGMENT:
			if (has(r, 8) && be16(r, 2) & 0xfff9)
				return PACKET_FRAGMENT;
			sz = 8;
			break;
		default:
			return PACKET_OK;
		}
		pk->proto = u8(r, 0);
		if (!skip(r, sz))
			return PACKET_SHORT;
	}
	return PACKET_SHORT;
}

static enum packet_kind parse_ipv6(struct packet *pk, struct rest *r)
{
	uint32_t len = be16(r, 4);

	if (!has(r, 40) || u8(r, 0) >> 4 != 6)
		return PACKET_SHORT;
	pk->proto = u8(r, 6);
	memcpy(pk->from.addr, r->p + 8, 16);
	memcpy(pk->to.addr, r->p + 24, 16);
	skip(r, 40);
	if (len > r->len)
		return PACKET_SHORT;
	if (len) /* 0: a jumbogram, or divided later */
		limit(r, len);
	return skip_extensions(pk, r);
}

static enum packet_kind parse_tcp(struct packet *pk, struct rest *r)
{
	uint32_t header = (u8(r, 12) >> 4) * 4;

	if (!has(r, 20) || header < 20 || header > r->len)
		return PACKET_SHORT;
	pk->seq = be32(r, 4);
	pk->ack = be32(r, 8);
	pk->flags = u8(r, 13);
	/* Cut within its options: the payload's length is known all the same. */
	if (!skip(r, header)) {
		r->len -= header;
		r->cap = 0;
	}
	return PACKET_OK;
}

static enum packet_kind parse_udp(struct packet *pk, struct rest *r)
{
	uint32_t len = be16(r, 4);

	if (!has(r, 8) || (len && len < 8) || len > r->len)
		return PACKET_SHORT;
	if (len)
		limit(r, len);
	skip(r, 8);
	return PACKET_OK;
}

enum packet_kind packet_parse(struct packet *pk, int link, const uint8_t *p, uint32_t caplen,
			      uint32_t len)
{
	struct rest r = {p, caplen < len ? caplen : len, len};
	enum packet_kind kind;
	uint16_t type = ETH_NONE;

	memset(pk, 0, sizeof(*pk));
	if (!parse_link(&r, link, &type))
		return PACKET_SHORT;
	for (int i = 0; i < VLAN_MAX && is_vlan(type); i++) {
		type = be16(&r, 2);
		if (!skip(&r, 4))
			return PACKET_SHORT;
	}
	if (type != ETH_IPV4 && type != ETH_IPV6)
		return PACKET_OTHER;
	kind = type == ETH_IPV4 ? parse_ipv4(pk, &r) : parse_ipv6(pk, &r);
	if (kind != PACKET_OK)
		return kind;
	if (pk->proto != IP_TCP && pk->proto != IP_UDP)
		return PACKET_OTHER;
	pk->from.port = be16(&r, 0);
	pk->to.port = be16(&r, 2);
	kind = pk->proto == IP_TCP ? parse_tcp(pk, &r) : parse_udp(pk, &r);
	pk->len = r.len;
	pk->data = (struct span){(const char *)r.p, r.cap};
	return kind;
}
