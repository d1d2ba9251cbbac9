/* SPDX-License-Identifier: BSD-2-Clause */
/* IPv4, IPv6 and their extensions, TCP, UDP. */
#include <string.h>

#include "analyze/pcap/pcap_fragments.h"
#include "analyze/pcap/pcap_walk.h"

enum { EXTENSION_MAX = 16 };
enum { IP_HOP = 0, IP_ROUTING = 43, IP_FRAGMENT = 44, IP_AH = 51, IP_DEST = 60, IP_MOBILITY = 135 };

enum packet_kind layer_ip(struct walk *w)
{
	unsigned version = u8(&w->r, 0) >> 4;

	if (!has(&w->r, 1))
		return PACKET_SHORT;
	if (version == 4 || version == 6)
		return walk_on(w, 0, version == 4 ? layer_ipv4 : layer_ipv6);
	return walk_out(w, BY_IP, 0, "neither IPv4 nor IPv6");
}

static void v4_address(struct endpoint *e, const uint8_t *p)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	memcpy(e->addr, mapped, 12);
	memcpy(e->addr + 12, p, 4);
}

/* Adds a fragment. Parsing continues with the whole datagram once it is complete. */
static enum packet_kind join(struct walk *w, struct fragment *part)
{
	struct rest whole;

	part->from = w->pk->from;
	part->to = w->pk->to;
	part->net = w->pk->net;
	part->ts_ns = w->pk->ts_ns;
	part->bytes = w->r;
	if (!fragments__add(w->fragments, part, &whole))
		return PACKET_FRAGMENT;
	w->r = whole;
	return PACKET_OK;
}

enum packet_kind layer_ipv4(struct walk *w)
{
	struct rest *r = &w->r;
	uint32_t header = (u8(r, 0) & 15) * 4, total = be16(r, 2), place = be16(r, 6);
	struct packet *pk = w->pk;
	uint8_t proto = u8(r, 9);

	if (!has(r, 20) || header < 20 || u8(r, 0) >> 4 != 4)
		return PACKET_SHORT;
	if (!total) /* segmentation offload: use the frame's length */
		total = r->len;
	if (total < header || total > r->len)
		return PACKET_SHORT;
	limit(r, total);
	pk->ip_id = be16(r, 4);
	pk->path = pk->path * 31 + u8(r, 8);
	v4_address(&pk->from, r->p + 12);
	v4_address(&pk->to, r->p + 16);
	if (!skip(r, header))
		return PACKET_SHORT;
	if (place & 0x3fff) { /* more fragments, or not the first */
		struct fragment part = {.id = pk->ip_id,
					.proto = proto,
					.offset = (place & 0x1fff) * 8,
					.more = place & 0x2000};

		if (join(w, &part) != PACKET_OK)
			return PACKET_FRAGMENT;
	}
	return walk_to(w, 0, BY_IP, proto);
}

static enum packet_kind skip_fragment(struct walk *w, uint8_t *proto)
{
	uint32_t place = be16(&w->r, 2);
	struct fragment part = {
		.id = be32(&w->r, 4),
		.v6 = true,
		.proto = *proto,
		.offset = place & 0xfff8,
		.more = place & 1,
	};
	enum packet_kind kind;

	w->pk->ip_id = part.id;
	if (!skip(&w->r, 8))
		return PACKET_SHORT;
	if (!(place & 0xfff9)) /* an atomic fragment (RFC 6946) */
		return PACKET_OK;
	kind = join(w, &part);
	*proto = part.proto;
	return kind;
}

/* RFC 8200, section 4. */
static enum packet_kind skip_extensions(struct walk *w, uint8_t proto)
{
	for (int i = 0; i < EXTENSION_MAX; i++) {
		uint8_t next = u8(&w->r, 0);
		uint32_t sz;
		enum packet_kind kind;

		switch (proto) {
		case IP_HOP:
		case IP_ROUTING:
		case IP_DEST:
		case IP_MOBILITY:
			sz = (u8(&w->r, 1) + 1) * 8;
			break;
		case IP_FRAGMENT:
			kind = skip_fragment(w, &next);
			if (kind != PACKET_OK)
				return kind;
			sz = 0;
			break;
		default:
			return walk_to(w, 0, BY_IP, proto);
		}
		proto = next;
		if (!skip(&w->r, sz))
			return PACKET_SHORT;
	}
	return PACKET_SHORT;
}

enum packet_kind layer_ipv6(struct walk *w)
{
	uint32_t len = be16(&w->r, 4);
	uint8_t proto = u8(&w->r, 6);
	struct packet *pk = w->pk;

	if (!has(&w->r, 40) || u8(&w->r, 0) >> 4 != 6)
		return PACKET_SHORT;
	pk->ip_id = 0;
	pk->path = pk->path * 31 + u8(&w->r, 7);
	memcpy(pk->from.addr, w->r.p + 8, 16);
	memcpy(pk->to.addr, w->r.p + 24, 16);
	skip(&w->r, 40);
	if (len > w->r.len)
		return PACKET_SHORT;
	if (len) /* 0: a jumbogram, or segmentation offload */
		limit(&w->r, len);
	return skip_extensions(w, proto);
}

/* RFC 4302, in both versions: next header (1) | length in words, minus two (1). */
enum packet_kind layer_ah(struct walk *w)
{
	return walk_to(w, (u8(&w->r, 1) + 2) * 4, BY_IP, u8(&w->r, 0));
}

/* RFC 7323: option 3, of length 3, in a SYN. */
static uint8_t window_scale(const struct rest *r, uint32_t header)
{
	for (uint32_t at = 20; at + 2 < header && has(r, at + 3);) {
		uint8_t kind = u8(r, at), len = u8(r, at + 1);

		if (!kind)
			return 0;
		if (kind == 3 && len == 3)
			return 1 + (u8(r, at + 2) < 14 ? u8(r, at + 2) : 14);
		at += kind == 1 ? 1 : len < 2 ? 2 : len;
	}
	return 0;
}

enum packet_kind layer_tcp(struct walk *w)
{
	struct rest *r = &w->r;
	uint32_t header = (u8(r, 12) >> 4) * 4;
	struct packet *pk = w->pk;

	if (!has(r, 20) || header < 20 || header > r->len)
		return PACKET_SHORT;
	pk->proto = TRANSPORT_TCP;
	pk->from.port = be16(r, 0);
	pk->to.port = be16(r, 2);
	pk->seq = be32(r, 4);
	pk->ack = be32(r, 8);
	pk->flags = u8(r, 13);
	pk->window = be16(r, 14);
	pk->scale = pk->flags & TCP_SYN ? window_scale(r, header) : 0;
	/* Truncated within the options; the payload length is known. */
	if (!skip(r, header)) {
		r->len -= header;
		r->cap = 0;
	}
	return PACKET_OK;
}

/* The port is only a hint of a tunnel: data that does not parse as the tunnel is an ordinary
 * datagram. */
enum packet_kind layer_udp(struct walk *w)
{
	struct rest *r = &w->r;
	uint32_t len = be16(r, 4);
	struct packet *pk = w->pk;
	layer_fn inside;

	if (!has(r, 8) || (len && len < 8) || len > r->len)
		return PACKET_SHORT;
	if (len)
		limit(r, len);
	pk->proto = TRANSPORT_UDP;
	pk->from.port = be16(r, 0);
	pk->to.port = be16(r, 2);
	skip(r, 8);
	inside = walk_port(pk->to.port);
	return inside ? inside(w) : PACKET_OK;
}
