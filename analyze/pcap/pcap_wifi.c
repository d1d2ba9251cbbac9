/* SPDX-License-Identifier: BSD-2-Clause */
/* IEEE 802.11 (9.2, 9.3 of the 2020 edition), and the headers that capture tools add before it. */
#include "analyze/pcap/pcap_link.h"

enum { TYPE_DATA = 2, SUBTYPE_NULL = 4, SUBTYPE_QOS = 8 };
enum { TO_DS = 1, FROM_DS = 2, MORE_FRAGMENTS = 4, PROTECTED = 0x40, ORDER = 0x80 };
enum { QOS_AGGREGATE = 0x80 };

static enum packet_kind out(struct walk *w, const char *name)
{
	return walk_out(w, BY_WIFI, 0, name);
}

/*
 * frame control (2) | duration (2) | 3 addresses (18) | sequence (2)
 * | 4th address (6), between access points | QoS (2) | HT control (4)
 * `padded`: to a multiple of four bytes.
 */
static enum packet_kind data_frame(struct walk *w, bool padded)
{
	uint8_t control = u8(&w->r, 0), flags = u8(&w->r, 1);
	uint8_t type = control >> 2 & 3, subtype = control >> 4;
	uint32_t header = 24, qos = 0;

	if (!has(&w->r, 2))
		return PACKET_SHORT;
	if (control & 3)
		return out(w, "802.11 of an unknown version");
	if (type != TYPE_DATA)
		return out(w, type ? "802.11 control" : "802.11 management");
	if (subtype & SUBTYPE_NULL)
		return out(w, "802.11 without data");
	if (flags & PROTECTED)
		return out(w, "802.11 (encrypted)");
	if ((flags & TO_DS) && (flags & FROM_DS))
		header += 6;
	if (subtype & SUBTYPE_QOS) {
		qos = u8(&w->r, header);
		header += flags & ORDER ? 6 : 2;
	}
	if (flags & MORE_FRAGMENTS || u8(&w->r, 22) & 15)
		return out(w, "802.11 fragments");
	if (qos & QOS_AGGREGATE)
		return out(w, "802.11 aggregates (A-MSDU)");
	w->pk->path = be32(&w->r, 6) * 31ULL + be32(&w->r, 12);
	return walk_on(w, padded ? (header + 3) & ~3u : header, layer_llc);
}

enum packet_kind layer_wifi(struct walk *w)
{
	return data_frame(w, false);
}

/*
 * https://www.radiotap.org: version (1) | pad (1) | length (2) | bitmap words of present fields, in
 * which bit 31 indicates another word | fields, aligned. All little-endian.
 */
enum packet_kind layer_radiotap(struct walk *w)
{
	enum { HAS_TIME = 1, HAS_FLAGS = 2, MORE = 1u << 31, FLAG_PADDED = 0x20 };
	uint32_t len = le16(&w->r, 2), present = le32(&w->r, 4), at = 8;
	bool padded = false;

	for (uint32_t word = present; word & MORE && at < len; at += 4)
		word = le32(&w->r, at);
	if (present & HAS_TIME)
		at = (at + 7) / 8 * 8 + 8;
	if (present & HAS_FLAGS && at < len)
		padded = u8(&w->r, at) & FLAG_PADDED;
	if (len < 8 || !skip(&w->r, len))
		return PACKET_SHORT;
	return data_frame(w, padded);
}

/* AVS: version (4) | length (4), big-endian. */
enum packet_kind layer_avs(struct walk *w)
{
	return walk_on(w, be32(&w->r, 4), layer_wifi);
}

/* Prism: message (4) | length (4), in the host's byte order; 144 bytes. Some drivers write AVS
 * instead. */
enum packet_kind layer_prism(struct walk *w)
{
	if ((be32(&w->r, 0) & 0xfffff000) == 0x80211000)
		return layer_avs(w);
	return walk_on(w, 144, layer_wifi);
}
