/* SPDX-License-Identifier: BSD-2-Clause */
/* Ethernet and the protocols identified by EtherTypes: tags, LLC, PPP, MPLS. */
#include "analyze/pcap/pcap_walk.h"

enum { ETHERTYPE_MIN = 0x600, LLC_SNAP = 0xaa, LLC_IP = 0x06 };

enum packet_kind layer_ethernet(struct walk *w)
{
	uint16_t type = be16(&w->r, 12);

	if (!has(&w->r, 14))
		return PACKET_SHORT;
	w->pk->path = w->pk->path * 31 + be32(&w->r, 2) * 31ULL + be32(&w->r, 8);
	if (type >= ETHERTYPE_MIN)
		return walk_to(w, 14, BY_ETHERTYPE, type);
	skip(&w->r, 14);
	limit(&w->r, type); /* length of the frame */
	w->next = layer_llc;
	return PACKET_OK;
}

/* 802.1Q and 802.1ad: priority and number (2) | type of what follows (2). */
enum packet_kind layer_vlan(struct walk *w)
{
	uint16_t type = be16(&w->r, 2);

	w->pk->path = w->pk->path * 31 + be16(&w->r, 0);
	if (type >= ETHERTYPE_MIN || !has(&w->r, 4))
		return walk_to(w, 4, BY_ETHERTYPE, type);
	return walk_on(w, 4, layer_llc);
}

/* 802.1BR: direction and interfaces (4) | type (2). */
enum packet_kind layer_vntag(struct walk *w)
{
	return walk_to(w, 6, BY_ETHERTYPE, be16(&w->r, 4));
}

/* 802.1ah: flags and service identifier (4), then the customer's frame. */
enum packet_kind layer_backbone(struct walk *w)
{
	uint32_t service = be32(&w->r, 0) & 0xffffff;

	if (!has(&w->r, 4))
		return PACKET_SHORT;
	walk_into(w, "PBB", true, service);
	return walk_on(w, 4, layer_ethernet);
}

/*
 * 802.2: DSAP (1) | SSAP (1) | control (1 or 2). SNAP (RFC 1042) adds OUI (3) | EtherType (2); with
 * other OUIs the type is not an EtherType.
 */
enum packet_kind layer_llc(struct walk *w)
{
	uint8_t dsap = u8(&w->r, 0);
	uint32_t oui = be32(&w->r, 3) >> 8;

	if (!has(&w->r, 3))
		return PACKET_SHORT;
	if (dsap == LLC_IP && u8(&w->r, 2) == 3)
		return walk_on(w, 3, layer_ip);
	if (dsap != LLC_SNAP)
		return walk_to(w, 3, BY_LLC, dsap);
	if (!has(&w->r, 8))
		return PACKET_SHORT;
	if (oui == 0 || oui == 0xf8) /* 802.1H */
		return walk_to(w, 8, BY_ETHERTYPE, be16(&w->r, 6));
	return walk_out(w, BY_LLC, dsap,
			oui == 0x0c ? "Cisco discovery (CDP, VTP)"
				    : "SNAP of a "
				      "vendor");
}

/* RFC 1661, 1662: address and control may be omitted, and so may the first byte of the protocol. */
enum packet_kind layer_ppp(struct walk *w)
{
	if (u8(&w->r, 0) == 0xff && u8(&w->r, 1) == 3)
		skip(&w->r, 2);
	if (u8(&w->r, 0) & 1)
		return walk_to(w, 1, BY_PPP, u8(&w->r, 0));
	return walk_to(w, 2, BY_PPP, be16(&w->r, 0));
}

/* RFC 2516: version and type (1) | code (1) | session (2) | length (2), then PPP. */
enum packet_kind layer_pppoe(struct walk *w)
{
	uint32_t len = be16(&w->r, 4);

	if (!has(&w->r, 6))
		return PACKET_SHORT;
	if (u8(&w->r, 1))
		return walk_out(w, BY_ETHERTYPE, 0x8863, "PPPoE discovery");
	walk_into(w, "PPPoE", true, be16(&w->r, 2));
	skip(&w->r, 6);
	limit(&w->r, len);
	w->next = layer_ppp;
	return PACKET_OK;
}

/*
 * RFC 3032: label (20 bits) | class (3) | last (1) | TTL (8), repeated until the last. The payload
 * has no type: the first nibble identifies IP (RFC 4928), 0 is the control word of a pseudowire
 * (RFC 4448), anything else is Ethernet.
 */
enum packet_kind layer_mpls(struct walk *w)
{
	bool last;
	uint8_t nibble;

	do {
		last = u8(&w->r, 2) & 1;
		if (!skip(&w->r, 4))
			return PACKET_SHORT;
	} while (!last);
	if (!has(&w->r, 1))
		return PACKET_SHORT;
	nibble = u8(&w->r, 0) >> 4;
	/* Labels differ by direction, so they do not identify a tunnel. */
	walk_into(w, "MPLS", false, 0);
	if (nibble == 4 || nibble == 6)
		return walk_on(w, 0, layer_ip);
	if (nibble == 1)
		return walk_out(w, BY_ETHERTYPE, 0x8847, "MPLS control channel");
	return walk_on(w, nibble ? 0 : 4, layer_ethernet);
}
