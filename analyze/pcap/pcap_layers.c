/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/pcap/pcap_walk.h"

#include <string.h>

#include "analyze/pcap/pcap_fragments.h"
#include "analyze/pcap/pcap_link.h"

/*
 * To support another layer, add its function to the file of its kind and a row here. A row without
 * a function gives a name to packets that are counted but not parsed.
 */
static const struct layer {
	enum layer_space space;
	uint32_t id;
	layer_fn parse;
	const char *name;
} layers[] = {
	/* EtherTypes of the IANA registry of IEEE 802 numbers */
	{BY_ETHERTYPE, 0x0800, layer_ipv4, NULL},
	{BY_ETHERTYPE, 0x86dd, layer_ipv6, NULL},
	{BY_ETHERTYPE, 0x8100, layer_vlan, NULL},
	{BY_ETHERTYPE, 0x88a8, layer_vlan, NULL},
	{BY_ETHERTYPE, 0x9100, layer_vlan, NULL},
	{BY_ETHERTYPE, 0x9200, layer_vlan, NULL},
	{BY_ETHERTYPE, 0x8847, layer_mpls, NULL},
	{BY_ETHERTYPE, 0x8848, layer_mpls, NULL},
	{BY_ETHERTYPE, 0x8864, layer_pppoe, NULL},
	{BY_ETHERTYPE, 0x880b, layer_ppp, NULL},
	{BY_ETHERTYPE, 0x6558, layer_ethernet, NULL}, /* transparent bridging */
	{BY_ETHERTYPE, 0x88e7, layer_backbone, NULL},
	{BY_ETHERTYPE, 0x8926, layer_vntag, NULL},
	{BY_ETHERTYPE, 0x8870, layer_llc, NULL}, /* for jumbo frames */
	{BY_ETHERTYPE, 0x88be, layer_erspan2, NULL},
	{BY_ETHERTYPE, 0x22eb, layer_erspan3, NULL},
	{BY_ETHERTYPE, 0x0806, NULL, "ARP"},
	{BY_ETHERTYPE, 0x8035, NULL, "RARP"},
	{BY_ETHERTYPE, 0x809b, NULL, "AppleTalk"},
	{BY_ETHERTYPE, 0x80f3, NULL, "AARP"},
	{BY_ETHERTYPE, 0x8137, NULL, "IPX"},
	{BY_ETHERTYPE, 0x8808, NULL, "Ethernet flow control"},
	{BY_ETHERTYPE, 0x8809, NULL, "LACP"},
	{BY_ETHERTYPE, 0x8863, NULL, "PPPoE discovery"},
	{BY_ETHERTYPE, 0x888e, NULL, "802.1X"},
	{BY_ETHERTYPE, 0x88cc, NULL, "LLDP"},
	{BY_ETHERTYPE, 0x88e5, NULL, "MACsec"},
	{BY_ETHERTYPE, 0x88f7, NULL, "PTP"},
	{BY_ETHERTYPE, 0x8902, NULL, "CFM"},
	{BY_ETHERTYPE, 0x9000, NULL, "Ethernet loopback test"},

	/* IANA protocol numbers */
	{BY_IP, 6, layer_tcp, NULL},
	{BY_IP, 17, layer_udp, NULL},
	{BY_IP, 4, layer_ipip, NULL},
	{BY_IP, 41, layer_ipip, NULL},
	{BY_IP, 47, layer_gre, NULL},
	{BY_IP, 51, layer_ah, NULL},
	{BY_IP, 97, layer_etherip, NULL},
	{BY_IP, 137, layer_mpls_in_ip, NULL},
	{BY_IP, 1, NULL, "ICMP"},
	{BY_IP, 2, NULL, "IGMP"},
	{BY_IP, 33, NULL, "DCCP"},
	{BY_IP, 46, NULL, "RSVP"},
	{BY_IP, 50, NULL, "ESP (encrypted)"},
	{BY_IP, 58, NULL, "ICMPv6"},
	{BY_IP, 59, NULL, "IPv6 without payload"},
	{BY_IP, 88, NULL, "EIGRP"},
	{BY_IP, 89, NULL, "OSPF"},
	{BY_IP, 103, NULL, "PIM"},
	{BY_IP, 112, NULL, "VRRP"},
	{BY_IP, 115, NULL, "L2TPv3"},
	{BY_IP, 132, NULL, "SCTP"},
	{BY_IP, 136, NULL, "UDP-Lite"},

	/* IANA PPP numbers */
	{BY_PPP, 0x0021, layer_ipv4, NULL},
	{BY_PPP, 0x0057, layer_ipv6, NULL},
	{BY_PPP, 0x0281, layer_mpls, NULL},
	{BY_PPP, 0x0283, layer_mpls, NULL},
	{BY_PPP, 0x002d, NULL, "PPP with compressed TCP headers"},
	{BY_PPP, 0x002f, NULL, "PPP with compressed TCP headers"},
	{BY_PPP, 0x003d, NULL, "PPP multilink"},
	{BY_PPP, 0x00fd, NULL, "PPP, compressed"},
	{BY_PPP, 0xc021, NULL, "PPP LCP"},
	{BY_PPP, 0xc023, NULL, "PPP PAP"},
	{BY_PPP, 0xc223, NULL, "PPP CHAP"},
	{BY_PPP, 0x8021, NULL, "PPP IPCP"},
	{BY_PPP, 0x8057, NULL, "PPP IPv6CP"},

	/* DSAPs of IEEE 802.2; SNAP and IP are parsed in layer_llc */
	{BY_LLC, 0x42, NULL, "STP"},
	{BY_LLC, 0xe0, NULL, "IPX"},
	{BY_LLC, 0xf0, NULL, "NetBEUI"},
	{BY_LLC, 0xfe, NULL, "IS-IS"},

	/* IANA ports; 8472 is the Linux default for VXLAN */
	{BY_UDP, 4789, layer_vxlan, NULL},
	{BY_UDP, 8472, layer_vxlan, NULL},
	{BY_UDP, 4790, layer_vxlan_gpe, NULL},
	{BY_UDP, 6081, layer_geneve, NULL},
	{BY_UDP, 2152, layer_gtpu, NULL},
};

static const char *const spaces[] = {
	[BY_ETHERTYPE] = "EtherType",
	[BY_IP] = "IP protocol",
	[BY_PPP] = "PPP protocol",
	[BY_LLC] = "LLC",
	[BY_UDP] = "UDP",
	[BY_WIFI] = "802.11",
	[BY_LINK] = "link type",
};

static const struct layer *find(enum layer_space space, uint32_t id)
{
	for (size_t i = 0; i < sizeof(layers) / sizeof(*layers); i++)
		if (layers[i].id == id && layers[i].space == space)
			return &layers[i];
	return NULL;
}

enum packet_kind walk_out(struct walk *w, enum layer_space space, uint32_t id, const char *name)
{
	w->pk->kind = (struct packet_kind_id){spaces[space], id, name};
	return PACKET_OTHER;
}

enum packet_kind walk_to(struct walk *w, uint32_t n, enum layer_space space, uint32_t id)
{
	const struct layer *l = find(space, id);

	if (!has(&w->r, n))
		return PACKET_SHORT;
	if (!l || !l->parse)
		return walk_out(w, space, id, l ? l->name : NULL);
	return walk_on(w, n, l->parse);
}

layer_fn walk_port(uint16_t port)
{
	const struct layer *l = find(BY_UDP, port);

	return l ? l->parse : NULL;
}

void walk_into(struct walk *w, const char *name, bool has_id, uint32_t id)
{
	struct packet *pk = w->pk;
	struct packet_outer o = {.name = name, .has_id = has_id, .id = id};

	/* At this point the addresses are those of the tunnel packet; the inner ones are parsed
	 * later. */
	for (int i = 0; i < 16; i++)
		o.has_ends |= pk->from.addr[i] || pk->to.addr[i];
	o.from = pk->from;
	o.to = pk->to;
	if (pk->outer_cnt < PACKET_OUTER_MAX)
		pk->outer[pk->outer_cnt++] = o;
	pk->from = pk->to = (struct endpoint){0};
}

void walk_net(struct walk *w, const char *name, uint32_t id)
{
	w->pk->net = (w->pk->net + id + 1) * 0x9e3779b97f4a7c15ULL;
	walk_into(w, name, true, id);
}

enum { STEPS_MAX = 32 };

enum packet_kind packet_parse(struct packet *pk, struct fragments *fragments,
			      const struct pcap_frame *frame)
{
	struct walk w = {
		.r = {frame->p, frame->cap < frame->len ? frame->cap : frame->len, frame->len},
		.pk = pk,
		.fragments = fragments,
		.frame = frame,
	};
	enum packet_kind kind;

	memset(pk, 0, sizeof(*pk));
	pk->ts_ns = frame->ts_ns;
	fragments__forget_whole(fragments);
	kind = link_begin(&w);
	for (int steps = 0; kind == PACKET_OK && w.next; steps++) {
		layer_fn layer = w.next;

		if (steps == STEPS_MAX)
			return walk_out(&w, BY_IP, 0, "nested too deeply");
		w.next = NULL;
		kind = layer(&w);
	}
	if (kind == PACKET_OK) {
		pk->len = w.r.len;
		pk->data = (struct span){(const char *)w.r.p, w.r.cap};
	}
	return kind;
}
