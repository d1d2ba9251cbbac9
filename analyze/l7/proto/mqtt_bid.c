/* SPDX-License-Identifier: BSD-2-Clause */
/* Detects MQTT and the direction, from several consecutive packets of valid form. */
#include "analyze/l7/proto/mqtt_packet.h"

enum { LOOK_PACKETS = 64 };

struct looks {
	unsigned packets, told; /* told: packets with content that matches */
	bool release, received; /* release: PUBREL; received: PUBREC or PUBCOMP */
	bool connect, client, server, bad;
};

/* Does the packet have the format of its type? */
static bool agrees(const struct mqtt_head *h, const uint8_t *p, size_t len, bool *told)
{
	struct l7_cursor c = h->body;
	struct span s;

	*told = false;
	if (h->type == MQTT_CONNECT) {
		s = mqtt_string(&c);
		*told = l7_is(s, "MQTT") || l7_is(s, "MQIsdp");
		return *told;
	}
	if (h->type == MQTT_PUBLISH) {
		s = mqtt_string(&c);
		if (c.cut)
			return h->size > len;
		*told = s.len && mqtt_is_topic(s, false);
		return mqtt_is_topic(s, false) && h->size > 2 + s.len;
	}
	if (h->type == MQTT_SUBSCRIBE || h->type == MQTT_UNSUBSCRIBE) {
		struct span topics[MQTT_TOPICS];
		unsigned cnt, option = h->type == MQTT_SUBSCRIBE;

		l7_take(&c, 2);
		*told = (mqtt_filters(c, false, option, topics, &cnt) && cnt) ||
			(mqtt_filters(c, true, option, topics, &cnt) && cnt);
		return *told;
	}
	/* Acknowledgements are short. */
	return h->size <= 64 || h->type == MQTT_CONNACK || h->type == MQTT_DISCONNECT ||
	       h->type == MQTT_AUTH;
}

static struct looks look(const struct l7_view *v)
{
	struct looks l = {0};
	size_t at = 0;

	while (at < v->len && l.packets < LOOK_PACKETS) {
		struct mqtt_head h;
		enum mqtt_at verdict = mqtt_head_at(&h, v->p + at, v->len - at);
		bool told = false;

		if (verdict == MQTT_SHORT)
			break;
		l.bad = verdict == MQTT_NOT || !agrees(&h, v->p + at, v->len - at, &told);
		/* A packet that continues in the next call is long. */
		l.bad |= !l.bad && h.size > v->known - at && v->known < 512;
		if (l.bad)
			break;
		l.packets++;
		l.told += told;
		l.connect |= h.type == MQTT_CONNECT && !at;
		l.release |= h.type == MQTT_PUBREL && h.size == 4;
		l.received |= (h.type == MQTT_PUBREC || h.type == MQTT_PUBCOMP) && h.size == 4;
		l.client |= mqtt_is_clients(h.type);
		l.server |= mqtt_is_servers(h.type);
		at = h.size > v->len - at ? v->len : at + h.size;
	}
	l.bad |= l.client && l.server;
	return l;
}

int mqtt_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent)
{
	struct looks s = look(sent), r = look(received);
	bool both = sent->len && received->len;

	if (s.connect || r.connect) {
		*requests_sent = s.connect;
		return (s.connect ? r.bad : s.bad) ? 75 : 98;
	}
	if (s.bad || r.bad || (s.client && r.client) || (s.server && r.server))
		return 0;
	if (s.client || r.server)
		*requests_sent = 1;
	else if (r.client || s.server)
		*requests_sent = 0;
	if ((s.release && r.received) || (r.release && s.received))
		return 72;
	if (both && s.packets && r.packets)
		return s.told + r.told				       ? 85
		       : s.client + r.client + s.server + r.server > 1 ? 72
								       : 45;
	return s.told + r.told > 1 ? 70 : s.told + r.told ? 55 : s.packets + r.packets ? 20 : 0;
}

size_t mqtt_resync(const struct l7_view *v, size_t from)
{
	for (size_t i = from; i < v->len; i++) {
		struct l7_view rest = *v;
		struct looks l;

		rest.p += i;
		rest.len -= i;
		rest.known -= i;
		l = look(&rest);
		if (!l.bad && l.packets > 1 && l.told)
			return i;
	}
	return v->len;
}
