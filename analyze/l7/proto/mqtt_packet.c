/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/l7/proto/mqtt_packet.h"
#include "format/mqtt_property.h"

enum { TOPIC_ALIAS = 0x23 };

const char *mqtt_name(enum mqtt_packet type)
{
	static const char *const names[] = {NULL,	 "CONNECT",  "CONNACK",	    "PUBLISH",
					    "PUBACK",	 "PUBREC",   "PUBREL",	    "PUBCOMP",
					    "SUBSCRIBE", "SUBACK",   "UNSUBSCRIBE", "UNSUBACK",
					    "PINGREQ",	 "PINGRESP", "DISCONNECT",  "AUTH"};

	return names[type];
}

const char *mqtt_reason(unsigned code)
{
	static const struct {
		uint8_t code;
		const char *name;
	} reasons[] = {{0x04, "Disconnect with Will Message"},
		       {0x10, "No matching subscribers"},
		       {0x11, "No subscription existed"},
		       {0x18, "Continue authentication"},
		       {0x19, "Re-authenticate"},
		       {0x80, "Unspecified error"},
		       {0x81, "Malformed Packet"},
		       {0x82, "Protocol Error"},
		       {0x83, "Implementation specific error"},
		       {0x84, "Unsupported Protocol Version"},
		       {0x85, "Client Identifier not valid"},
		       {0x86, "Bad User Name or Password"},
		       {0x87, "Not authorized"},
		       {0x88, "Server unavailable"},
		       {0x89, "Server busy"},
		       {0x8a, "Banned"},
		       {0x8b, "Server shutting down"},
		       {0x8c, "Bad authentication method"},
		       {0x8d, "Keep Alive timeout"},
		       {0x8e, "Session taken over"},
		       {0x8f, "Topic Filter invalid"},
		       {0x90, "Topic Name invalid"},
		       {0x91, "Packet Identifier in use"},
		       {0x92, "Packet Identifier not found"},
		       {0x93, "Receive Maximum exceeded"},
		       {0x94, "Topic Alias invalid"},
		       {0x95, "Packet too large"},
		       {0x96, "Message rate too high"},
		       {0x97, "Quota exceeded"},
		       {0x98, "Administrative action"},
		       {0x99, "Payload format invalid"},
		       {0x9a, "Retain not supported"},
		       {0x9b, "QoS not supported"},
		       {0x9c, "Use another server"},
		       {0x9d, "Server moved"},
		       {0x9e, "Shared Subscriptions not supported"},
		       {0x9f, "Connection rate exceeded"},
		       {0xa0, "Maximum connect time"},
		       {0xa1, "Subscription Identifiers not supported"},
		       {0xa2, "Wildcard Subscriptions not supported"}};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].code == code)
			return reasons[i].name;
	return NULL;
}

bool mqtt_is_clients(enum mqtt_packet type)
{
	return type == MQTT_CONNECT || type == MQTT_SUBSCRIBE || type == MQTT_UNSUBSCRIBE ||
	       type == MQTT_PINGREQ;
}

bool mqtt_is_servers(enum mqtt_packet type)
{
	return type == MQTT_CONNACK || type == MQTT_SUBACK || type == MQTT_UNSUBACK ||
	       type == MQTT_PINGRESP;
}

/* ---- the fixed header ---- */

static bool varint(struct l7_cursor *c, uint64_t *v)
{
	return l7_varint(c, 4, v);
}

struct span mqtt_string(struct l7_cursor *c)
{
	return l7_counted(c, 2);
}

/* Are flags and length valid for the type? */
static bool is_possible(enum mqtt_packet type, unsigned flags, uint64_t len)
{
	switch (type) {
	case MQTT_PUBLISH:
		return (flags >> 1 & 3) < 3 && len >= 3;
	case MQTT_PUBREL:
	case MQTT_SUBSCRIBE:
	case MQTT_UNSUBSCRIBE:
		return flags == 2 && len >= (type == MQTT_PUBREL ? 2 : 5);
	case MQTT_PINGREQ:
	case MQTT_PINGRESP:
		return !flags && !len;
	case MQTT_DISCONNECT:
	case MQTT_AUTH:
		return !flags && len < 1 << 16;
	case MQTT_CONNECT:
		return !flags && len >= 12;
	default:
		return !flags && len >= 2;
	}
}

enum mqtt_at mqtt_head_at(struct mqtt_head *h, const uint8_t *p, size_t len)
{
	struct l7_cursor c = l7_cursor_at(p, len);
	uint8_t first = l7_be(&c, 1);
	uint64_t left;

	*h = (struct mqtt_head){.type = first >> 4, .flags = first & 15};
	if (len && (!h->type || (h->type != MQTT_PUBLISH && h->flags & ~2u)))
		return MQTT_NOT;
	if (!varint(&c, &left))
		return MQTT_NOT;
	if (c.cut)
		return MQTT_SHORT;
	if (!is_possible(h->type, h->flags, left))
		return MQTT_NOT;
	h->size = c.p - p + left;
	h->body = c;
	if (h->size < len)
		h->body.end = p + h->size;
	return MQTT_IS;
}

/* ---- properties of version 5 ---- */

bool mqtt_properties(struct l7_cursor *c, unsigned *alias)
{
	struct l7_cursor in;
	uint64_t len, v;

	if (!varint(c, &len))
		return false;
	in = *c;
	l7_take(c, len);
	if (!c->cut)
		in.end = in.p + len;
	while (!in.cut && in.p < in.end) {
		unsigned id = l7_be(&in, 1);
		char kind = mqtt_property_kind(id);

		if (!kind)
			return false;
		if (kind == 's' || kind == 'p')
			mqtt_string(&in);
		if (kind == 'p')
			mqtt_string(&in);
		else if (kind == 'v')
			varint(&in, &v);
		else if (kind < 's' && id == TOPIC_ALIAS)
			*alias = l7_be(&in, 2);
		else if (kind < 's')
			l7_take(&in, kind);
	}
	return !in.cut || c->cut;
}

/* ---- topics ---- */

bool mqtt_is_topic(struct span s, bool filter)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f ||
		    (!filter && (s.p[i] == '#' || s.p[i] == '+')))
			return false;
	return true;
}

bool mqtt_filters(struct l7_cursor c, bool v5, unsigned option, struct span *topics, unsigned *cnt)
{
	unsigned alias;

	*cnt = 0;
	if (v5 && !mqtt_properties(&c, &alias))
		return false;
	while (!c.cut && c.p < c.end) {
		struct span s = mqtt_string(&c);

		l7_take(&c, option);
		if (c.cut)
			break;
		if (!s.len || !mqtt_is_topic(s, true))
			return false;
		if (*cnt < MQTT_TOPICS)
			topics[*cnt] = s;
		++*cnt;
	}
	return true;
}
