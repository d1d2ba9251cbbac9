/* SPDX-License-Identifier: BSD-2-Clause */
/* Tunnels over IP and UDP. Functions for UDP leave the walk unchanged if the datagram is not of
 * that tunnel. */
#include "analyze/pcap/pcap_walk.h"

enum { ETH_BRIDGED = 0x6558, ETH_ERSPAN = 0x88be };

enum packet_kind layer_ipip(struct walk *w)
{
	walk_into(w, "IP-in-IP", false, 0);
	return walk_on(w, 0, layer_ip);
}

/* RFC 3378: version 3 (4 bits) | reserved (12), then Ethernet. */
enum packet_kind layer_etherip(struct walk *w)
{
	walk_into(w, "EtherIP", false, 0);
	return walk_on(w, 2, layer_ethernet);
}

/* RFC 4023. */
enum packet_kind layer_mpls_in_ip(struct walk *w)
{
	return walk_on(w, 0, layer_mpls);
}

/* Size of the header including source routes (RFC 1701): family (2) | offset (1) | length (1) |
 * that many bytes. Family and length of the last are 0. */
static uint32_t behind_routes(const struct rest *r, uint32_t at)
{
	uint32_t family, len;

	do {
		family = be16(r, at);
		len = u8(r, at + 3);
		at += 4 + len;
	} while ((family || len) && at < r->cap);
	return at;
}

/*
 * RFC 1701, 2784, 2890; version 1 is PPTP's (RFC 2637):
 *   C R K S (4 bits) | ... | A (bit 8, version 1) | version (3) | type (2 bytes)
 *   | checksum, offset (4, with C or R) | key (4, with K) | sequence (4, with S)
 *   | ack (4, with A) | routes (with R)
 */
enum packet_kind layer_gre(struct walk *w)
{
	uint16_t flags = be16(&w->r, 0), type = be16(&w->r, 2);
	uint32_t header = 4;
	bool sequence = flags & 0x1000;

	if (!has(&w->r, 4))
		return PACKET_SHORT;
	if ((flags & 7) > 1)
		return walk_out(w, BY_IP, 47, "GRE of an unknown version");
	header += flags & 0xc000 ? 4 : 0;
	header += flags & 0x2000 ? 4 : 0;
	header += sequence ? 4 : 0;
	header += (flags & 7) == 1 && flags & 0x80 ? 4 : 0;
	if (flags & 0x4000)
		header = behind_routes(&w->r, header);
	if (w->r.len <= header)
		return walk_out(w, BY_IP, 47, "GRE without payload");
	/* ERSPAN type I has no header and no sequence number. */
	if (type == ETH_ERSPAN && !sequence) {
		walk_into(w, "ERSPAN", false, 0);
		return walk_on(w, header, layer_ethernet);
	}
	if (type != ETH_ERSPAN && type != 0x22eb)
		walk_into(w, "GRE", false, 0);
	return walk_to(w, header, BY_ETHERTYPE, type);
}

/* draft-foschiano-erspan: version (4 bits) | VLAN (12) | ... (6) | session (10) | ... (4 bytes) */
enum packet_kind layer_erspan2(struct walk *w)
{
	walk_into(w, "ERSPAN", true, be16(&w->r, 2) & 0x3ff);
	return walk_on(w, 8, layer_ethernet);
}

/* Type 2 plus 4 bytes for the time. The last bit indicates 8 further platform-specific bytes. The
 * frame type (bits 10 to 14 of the lower half of the last word) is 0 for Ethernet, 2 for IP. */
enum packet_kind layer_erspan3(struct walk *w)
{
	uint16_t last = be16(&w->r, 10);

	walk_into(w, "ERSPAN", true, be16(&w->r, 2) & 0x3ff);
	return walk_on(w, last & 1 ? 20 : 12, last >> 10 & 31 ? layer_ip : layer_ethernet);
}

/* RFC 7348: flags (1; 8: VNI valid) | reserved (3) | VNI (3) | reserved (1). */
enum packet_kind layer_vxlan(struct walk *w)
{
	if (!has(&w->r, 8) || !(u8(&w->r, 0) & 8) || u8(&w->r, 7) || w->r.len < 8 + 14)
		return PACKET_OK;
	walk_net(w, "VXLAN", be32(&w->r, 4) >> 8);
	return walk_on(w, 8, layer_ethernet);
}

/* draft-ietf-nvo3-vxlan-gpe: as above; the fourth byte is the next protocol. */
enum packet_kind layer_vxlan_gpe(struct walk *w)
{
	uint8_t next = u8(&w->r, 3);

	if (!has(&w->r, 8) || !(u8(&w->r, 0) & 4) || next < 1 || next > 3)
		return layer_vxlan(w);
	walk_net(w, "VXLAN", be32(&w->r, 4) >> 8);
	return walk_on(w, 8, next == 3 ? layer_ethernet : layer_ip);
}

/* RFC 8926: version (2 bits) | options length in words (6) | flags (1 byte) | type (2) | VNI (3) |
 * reserved (1) | options. */
enum packet_kind layer_geneve(struct walk *w)
{
	uint32_t header = 8 + (u8(&w->r, 0) & 63) * 4;
	uint16_t type = be16(&w->r, 2);

	if (!has(&w->r, 8) || u8(&w->r, 0) >> 6 || u8(&w->r, 7) || header > w->r.len ||
	    (type != ETH_BRIDGED && type != 0x0800 && type != 0x86dd))
		return PACKET_OK;
	walk_net(w, "Geneve", be32(&w->r, 4) >> 8);
	return walk_to(w, header, BY_ETHERTYPE, type);
}

/*
 * 3GPP TS 29.281: version 1 (3 bits) | protocol type 1 | reserved | E S PN | message type 255 (1
 * byte) | length (2) | tunnel (4) | with any of E, S, PN: sequence (2), N-PDU (1), next extension
 * (1). An extension: length in words (1) | ... | next (1). Other messages are treated as ordinary
 * datagrams.
 */
enum packet_kind layer_gtpu(struct walk *w)
{
	enum { EXTENSIONS_MAX = 8, OPTIONAL = 7, G_PDU = 255 };
	uint32_t at = 8;
	uint8_t flags = u8(&w->r, 0), version, next = 0;

	if (!has(&w->r, 9) || flags >> 4 != 3 || u8(&w->r, 1) != G_PDU)
		return PACKET_OK;
	if (flags & OPTIONAL) {
		next = flags & 4 ? u8(&w->r, 11) : 0;
		at += 4;
	}
	for (int i = 0; next && i < EXTENSIONS_MAX; i++) {
		uint32_t sz = u8(&w->r, at) * 4;

		if (!sz)
			return PACKET_SHORT;
		next = u8(&w->r, at + sz - 1);
		at += sz;
	}
	version = u8(&w->r, at) >> 4;
	if (version != 4 && version != 6)
		return PACKET_OK;
	/* Tunnel numbers differ by direction, so they do not identify the tunnel. */
	walk_into(w, "GTP-U", false, 0);
	return walk_on(w, at, layer_ip);
}
