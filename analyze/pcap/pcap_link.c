/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/pcap/pcap_link.h"

static enum packet_kind link_raw(struct walk *w)
{
	return walk_on(w, 0, layer_ip);
}

/* The address family, whose values and byte order depend on the system. The datagram identifies
 * itself. */
static enum packet_kind link_null(struct walk *w)
{
	return walk_on(w, 4, layer_ip);
}

static enum packet_kind link_sll(struct walk *w)
{
	uint16_t type = be16(&w->r, 14);

	/* 1 and 4 are 802.3 and 802.2 frames (linux/if_ether.h). */
	return type == 4 ? walk_on(w, 16, layer_llc) : walk_to(w, 16, BY_ETHERTYPE, type);
}

static enum packet_kind link_sll2(struct walk *w)
{
	uint16_t type = be16(&w->r, 0);

	return type == 4 ? walk_on(w, 20, layer_llc) : walk_to(w, 20, BY_ETHERTYPE, type);
}

/*
 * PPP in HDLC-like framing (RFC 1662), or Cisco HDLC, on the same link type:
 *   address (1) | control (1) | PPP: protocol (2); Cisco: EtherType (2)
 */
static enum packet_kind link_hdlc(struct walk *w)
{
	uint8_t address = u8(&w->r, 0);

	if (address == 0x0f || address == 0x8f)
		return walk_to(w, 4, BY_ETHERTYPE, be16(&w->r, 2));
	return walk_on(w, 0, layer_ppp);
}

/* The direction replaces the address (pppd), or precedes the frame. */
static enum packet_kind link_ppp_pppd(struct walk *w)
{
	return walk_on(w, u8(&w->r, 1) == 3 ? 2 : 1, layer_ppp);
}

static enum packet_kind link_ppp_direction(struct walk *w)
{
	return walk_on(w, 1, layer_ppp);
}

/* Frame control, destination and source (6 each), then LLC. */
static enum packet_kind link_fddi(struct walk *w)
{
	return walk_on(w, 13, layer_llc);
}

/* Access control, frame control, destination, source; the highest bit of the source indicates a
 * route. */
static enum packet_kind link_token_ring(struct walk *w)
{
	uint32_t route = u8(&w->r, 8) & 0x80 ? u8(&w->r, 14) & 31 : 0;

	return walk_on(w, 14 + route, layer_llc);
}

static enum packet_kind link_fibre_channel(struct walk *w)
{
	return walk_on(w, 16, layer_llc);
}

static enum packet_kind link_llc(struct walk *w)
{
	return walk_on(w, 0, layer_llc);
}

/* RFC 2427: address (2) | control 3 | padding? | NLPID: IP, or SNAP with its OUI and EtherType. */
static enum packet_kind link_frame_relay(struct walk *w)
{
	uint32_t at = 2;

	if (u8(&w->r, at) != 3) /* Cisco encapsulation: EtherType */
		return walk_to(w, 4, BY_ETHERTYPE, be16(&w->r, 2));
	at++;
	if (!u8(&w->r, at))
		at++;
	switch (u8(&w->r, at)) {
	case 0xcc:
	case 0x8e:
		return walk_on(w, at + 1, layer_ip);
	case 0x80:
		return walk_to(w, at + 6, BY_ETHERTYPE, be16(&w->r, at + 4));
	}
	return walk_out(w, BY_LINK, w->frame->link, "frame relay management");
}

/* BSD packet filter log: the header begins with its length, padded to 4. */
static enum packet_kind link_pflog(struct walk *w)
{
	return walk_on(w, (u8(&w->r, 0) + 3u) & ~3u, layer_ip);
}

static enum packet_kind link_firewire(struct walk *w)
{
	return walk_to(w, 18, BY_ETHERTYPE, be16(&w->r, 16));
}

/* Version (1) | flags (1) | header length (2) | link type of the payload (4); all little-endian. */
static enum packet_kind link_ppi(struct walk *w)
{
	return link_inside(w, le16(&w->r, 2), le32(&w->r, 4));
}

/* Solaris: version, family, hook type, length, interfaces and zones. */
static enum packet_kind link_ipnet(struct walk *w)
{
	return walk_on(w, 24, layer_ip);
}

/*
 * family (1) | version (1) | resource (2), then attributes: length (2) | type (2) | value, padded
 * to 4. Type 9 is the datagram. Attribute numbers are in the writer's byte order.
 */
static enum packet_kind link_nflog(struct walk *w)
{
	enum { PAYLOAD = 9 };

	if (!skip(&w->r, 4))
		return PACKET_SHORT;
	while (has(&w->r, 4)) {
		bool big = w->frame->big_endian;
		uint32_t len = big ? be16(&w->r, 0) : le16(&w->r, 0);
		uint32_t type = big ? be16(&w->r, 2) : le16(&w->r, 2);

		if (len < 4)
			return PACKET_SHORT;
		if ((type & 0x7fff) == PAYLOAD) {
			limit(&w->r, len);
			return walk_on(w, 4, layer_ip);
		}
		if (!skip(&w->r, (len + 3) & ~3u))
			return PACKET_SHORT;
	}
	return walk_out(w, BY_LINK, w->frame->link, "NFLOG without packet");
}

/* Apple: header length (4), kind (4), link type of the payload (4); little-endian. */
static enum packet_kind link_pktap(struct walk *w)
{
	return link_inside(w, le32(&w->r, 0), le32(&w->r, 8));
}

static enum packet_kind link_infiniband(struct walk *w)
{
	return walk_to(w, 44, BY_ETHERTYPE, be16(&w->r, 40));
}

static enum packet_kind link_preamble(struct walk *w)
{
	return walk_on(w, 8, layer_ethernet);
}

static enum packet_kind link_enc(struct walk *w)
{
	return walk_on(w, 12, layer_ip);
}

/* To support another link type, add a function and a row. A row without a function gives the name
 * for the error message. */
static const struct link_type {
	uint32_t link;
	layer_fn parse;
	const char *name;
} types[] = {
	{0, link_null, "NULL"},
	{1, layer_ethernet, "ETHERNET"},
	{6, link_token_ring, "IEEE802_5"},
	{9, layer_ppp, "PPP"},
	{10, link_fddi, "FDDI"},
	{12, link_raw, "RAW"}, /* 12 and 14: written by BSDs for 101 */
	{14, link_raw, "RAW"},
	{50, link_hdlc, "PPP_HDLC"},
	{51, layer_pppoe, "PPP_ETHER"},
	{100, link_llc, "ATM_RFC1483"},
	{101, link_raw, "RAW"},
	{104, link_hdlc, "C_HDLC"},
	{105, layer_wifi, "IEEE802_11"},
	{107, link_frame_relay, "FRELAY"},
	{108, link_null, "LOOP"},
	{109, link_enc, "ENC"},
	{113, link_sll, "LINUX_SLL"},
	{117, link_pflog, "PFLOG"},
	{119, layer_prism, "IEEE802_11_PRISM"},
	{122, link_fibre_channel, "IP_OVER_FC"},
	{127, layer_radiotap, "IEEE802_11_RADIOTAP"},
	{138, link_firewire, "APPLE_IP_OVER_IEEE1394"},
	{149, link_pktap, "PKTAP"}, /* USER2, used by Apple */
	{163, layer_avs, "IEEE802_11_AVS"},
	{166, link_ppp_pppd, "PPP_PPPD"},
	{192, link_ppi, "PPI"},
	{204, link_ppp_direction, "PPP_WITH_DIR"},
	{219, layer_mpls, "MPLS"},
	{226, link_ipnet, "IPNET"},
	{228, link_raw, "IPV4"},
	{229, link_raw, "IPV6"},
	{239, link_nflog, "NFLOG"},
	{242, link_infiniband, "IPOIB"},
	{258, link_pktap, "PKTAP"},
	{274, link_preamble, "ETHERNET_MPACKET"},
	{276, link_sll2, "LINUX_SLL2"},
	{187, NULL, "BLUETOOTH_HCI_H4"},
	{189, NULL, "USB_LINUX"},
	{195, NULL, "IEEE802_15_4_WITHFCS"},
	{201, NULL, "BLUETOOTH_HCI_H4_WITH_PHDR"},
	{220, NULL, "USB_LINUX_MMAPPED"},
	{227, NULL, "CAN_SOCKETCAN"},
	{249, NULL, "USBPCAP"},
	{252, NULL, "WIRESHARK_UPPER_PDU"},
	{253, NULL, "NETLINK"},
};

static const struct link_type *find(uint32_t link)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (types[i].link == link)
			return &types[i];
	return NULL;
}

bool link_known(uint32_t link)
{
	const struct link_type *t = find(link);

	return t && t->parse;
}

const char *link_name(uint32_t link)
{
	const struct link_type *t = find(link);

	return t ? t->name : NULL;
}

enum packet_kind link_inside(struct walk *w, uint32_t n, uint32_t link)
{
	const struct link_type *t = find(link);

	if (!t || !t->parse)
		return walk_out(w, BY_LINK, link, NULL);
	return walk_on(w, n, t->parse);
}

enum packet_kind link_begin(struct walk *w)
{
	enum packet_kind kind = link_inside(w, 0, w->frame->link);

	/* A frame without captured bytes cannot be classified. */
	return kind == PACKET_OK && !has(&w->r, 1) ? PACKET_SHORT : kind;
}
