/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MQTT 3.1, 3.1.1 and 5 (docs.oasis-open.org/mqtt).
 *
 *   type << 4 | flags   remaining length: varint of at most 4 bytes   variable header   payload
 *
 * Both sides publish, with separate packet ids, so ids are paired within the direction of the
 * request. PUBLISH with QoS 0 has no response; with QoS 1 it is PUBACK. With QoS 2 the sequence
 * PUBREC, PUBREL, PUBCOMP is one response, which ends with PUBCOMP or with a PUBREC that reports an
 * error. An error is a reason code of 0x80 or more; before version 5, a CONNACK other than 0.
 */
#include <inttypes.h>
#include <string.h>

#include "format/text.h"
#include "analyze/l7/proto/mqtt_packet.h"
#include "analyze/l7/proto/names.h"

enum { LOOK_MAX = 4096 /* bytes of a packet needed for parsing */, CLIENT_MAX = 64 };

struct mqtt {
	uint8_t version; /* 0: unknown, because capture began later */
	uint8_t client_sz;
	char client[CLIENT_MAX];
	struct names aliases; /* of topics, by direction and number */
};

/* ---- packets ---- */

static struct span folded(struct l7_parser *parser, struct span topic)
{
	char text[192];

	return l7_keep(parser, l7_fold(topic, text, sizeof(text)));
}

/* Pairing key: direction of the request, kind, packet id. */
static uint64_t key_of(const struct l7_view *v, bool answer, enum mqtt_packet request, unsigned id)
{
	return (uint64_t)(v->requests != answer) << 32 | (uint64_t)request << 16 | id;
}

static struct span client_json(struct l7_parser *parser)
{
	const struct mqtt *s = parser->state;

	return s->client_sz
		       ? l7_text(parser, "\"client\":\"%s\"",
				 l7_json(parser, (struct span){s->client, s->client_sz}, CLIENT_MAX)
					 .p)
		       : (struct span){"", 0};
}

static bool connect(struct l7_parser *parser, struct l7_cursor c, struct l7_message *m)
{
	struct mqtt *s = parser->state;
	struct span name = mqtt_string(&c), client, json, will = {"", 0};
	unsigned flags, keepalive, alias;

	s->version = l7_be(&c, 1) & 0x7f; /* bridges set the top bit */
	flags = l7_be(&c, 1);
	keepalive = l7_be(&c, 2);
	if (c.cut || (!l7_is(name, "MQTT") && !l7_is(name, "MQIsdp")))
		return false;
	if (s->version == MQTT_5 && !mqtt_properties(&c, &alias))
		return false;
	client = mqtt_string(&c);
	s->client_sz = client.len < CLIENT_MAX ? client.len : CLIENT_MAX;
	memcpy(s->client, client.p, s->client_sz);
	if (flags & 4) {
		if (s->version == MQTT_5 && !mqtt_properties(&c, &alias))
			return false;
		will = mqtt_string(&c);
		mqtt_string(&c);
	}
	json = client_json(parser);
	m->detail = l7_text(parser, "{\"version\":%u,\"keepalive\":%u%s%s", s->version, keepalive,
			    json.len ? "," : "", json.p);
	if (will.len)
		m->detail = l7_text(parser, "%s,\"will\":\"%s\"", m->detail.p,
				    l7_json(parser, will, 128).p);
	if (flags & 0x80)
		m->detail = l7_text(parser, "%s,\"user\":\"%s\"", m->detail.p,
				    l7_json(parser, mqtt_string(&c), 64).p);
	m->detail = l7_text(parser, "%s}", m->detail.p);
	return true;
}

/* The topic, or the topic that its alias refers to. */
static struct span topic_of(struct l7_parser *parser, const struct l7_view *v, struct span topic,
			    unsigned alias)
{
	struct mqtt *s = parser->state;
	const char key[3] = {v->requests, alias >> 8, alias & 255};
	const struct name *known;

	if (!alias)
		return topic;
	if (topic.len) {
		names_put(&s->aliases, (struct span){key, 3}, (struct span){"", 0}, topic);
		return topic;
	}
	known = names_get(&s->aliases, (struct span){key, 3});
	return known ? known->target : topic;
}

static bool publish(struct l7_parser *parser, const struct l7_view *v, struct mqtt_head *h,
		    struct l7_message *m)
{
	struct mqtt *s = parser->state;
	struct l7_cursor c = h->body;
	struct span topic = mqtt_string(&c), json = client_json(parser);
	unsigned qos = h->flags >> 1 & 3, alias = 0, id = 0;

	if (qos)
		id = l7_be(&c, 2);
	if (!mqtt_is_topic(topic, false) || (qos && !id))
		return false;
	if (s->version == MQTT_5 && !c.cut && !mqtt_properties(&c, &alias))
		return false;
	m->type = qos ? L7_REQUEST : L7_ONEWAY;
	m->id = qos ? key_of(v, false, MQTT_PUBLISH, id) : 0;
	m->target = folded(parser, topic_of(parser, v, topic, alias));
	m->detail =
		l7_text(parser, "{\"qos\":%u%s%s%s%s}", qos, h->flags & 1 ? ",\"retain\":1" : "",
			h->flags & 8 ? ",\"dup\":1" : "", json.len ? "," : "", json.p);
	return true;
}

static bool subscription(struct l7_parser *parser, const struct l7_view *v, struct mqtt_head *h,
			 struct l7_message *m)
{
	struct mqtt *s = parser->state;
	struct l7_cursor c = h->body;
	struct span topics[MQTT_TOPICS], all = {"", 0}, json = client_json(parser);
	unsigned cnt, option = h->type == MQTT_SUBSCRIBE, id = l7_be(&c, 2);
	bool whole = h->size == (uint64_t)(c.end - v->p);
	bool v5 = s->version == MQTT_5;

	if (c.cut)
		return false;
	if (!mqtt_filters(c, v5, option, topics, &cnt) || (whole && !cnt)) {
		/* The version is unknown: it may be the other one. */
		if (s->version || !mqtt_filters(c, true, option, topics, &cnt))
			return false;
		s->version = MQTT_5;
	}
	m->type = L7_REQUEST;
	m->id = key_of(v, false, h->type, id);
	for (unsigned i = 0; i < cnt && i < MQTT_TOPICS; i++) {
		struct span t = folded(parser, topics[i]);

		all = i ? l7_text(parser, "%s,%s", all.p, t.p) : t;
	}
	m->target = cnt > MQTT_TOPICS ? l7_text(parser, "%s,...", all.p) : all;
	if (json.len || cnt > 1)
		m->detail =
			l7_text(parser, "{%s%s\"topics\":%u}", json.p, json.len ? "," : "", cnt);
	return true;
}

/* ---- answers ---- */

static void reason(struct l7_parser *parser, struct l7_message *m, unsigned code, bool error)
{
	const char *name = mqtt_reason(code);

	m->is_error = error;
	m->status = name		   ? span_of(name)
		    : error || code > 0x18 ? l7_text(parser, "0x%02x", code)
					   : (struct span){"OK", 2};
}

static bool connack(struct l7_parser *parser, const struct l7_view *v, struct mqtt_head *h,
		    struct l7_message *m)
{
	static const char *const refused[] = {"OK",
					      "Unsupported Protocol Version",
					      "Client Identifier not valid",
					      "Server unavailable",
					      "Bad User Name or Password",
					      "Not authorized"};
	struct l7_cursor c = h->body;
	unsigned code = l7_be(&c, 2) & 255;

	m->type = L7_RESPONSE;
	m->id = key_of(v, true, MQTT_CONNECT, 0);
	if (c.cut)
		return false;
	reason(parser, m, code, code != 0);
	if (code < sizeof(refused) / sizeof(refused[0]))
		m->status = span_of(refused[code]);
	return true;
}

/* PUBACK, PUBREC, PUBCOMP: packet id; in version 5 optionally a reason code and properties. */
static bool publish_answer(struct l7_parser *parser, const struct l7_view *v, struct mqtt_head *h,
			   struct l7_message *m)
{
	struct l7_cursor c = h->body;
	unsigned id = l7_be(&c, 2), code = 0;

	if (c.cut)
		return false;
	if (h->size > (uint64_t)(c.p - v->p))
		code = l7_be(&c, 1);
	if (h->type == MQTT_PUBREC && code < MQTT_REFUSED)
		return true; /* the exchange is not complete */
	m->type = L7_RESPONSE;
	m->id = key_of(v, true, MQTT_PUBLISH, id);
	reason(parser, m, code, code >= MQTT_REFUSED);
	return true;
}

/* One code per topic; UNSUBACK of version 3.1.1 has none. */
static bool subscription_answer(struct l7_parser *parser, const struct l7_view *v,
				struct mqtt_head *h, struct l7_message *m)
{
	struct mqtt *s = parser->state;
	struct l7_cursor c = h->body;
	unsigned id = l7_be(&c, 2), worst = 0, alias;

	if (c.cut || (s->version == MQTT_5 && !mqtt_properties(&c, &alias)))
		return false;
	while (l7_left(&c) && !c.cut) {
		unsigned code = l7_be(&c, 1);

		worst = worst < MQTT_REFUSED && code > worst ? code : worst;
	}
	m->type = L7_RESPONSE;
	m->id = key_of(v, true, h->type == MQTT_SUBACK ? MQTT_SUBSCRIBE : MQTT_UNSUBSCRIBE, id);
	if (!c.cut) /* otherwise the codes were not captured */
		reason(parser, m, worst >= MQTT_REFUSED ? worst : 0, worst >= MQTT_REFUSED);
	return true;
}

static bool describe(struct l7_parser *parser, const struct l7_view *v, struct mqtt_head *h,
		     struct l7_message *m)
{
	struct l7_cursor c = h->body;

	m->method = span_of(mqtt_name(h->type));
	switch (h->type) {
	case MQTT_CONNECT:
		m->type = L7_REQUEST;
		m->id = key_of(v, false, MQTT_CONNECT, 0);
		return connect(parser, c, m);
	case MQTT_CONNACK:
		return connack(parser, v, h, m);
	case MQTT_PUBLISH:
		return publish(parser, v, h, m);
	case MQTT_PUBACK:
	case MQTT_PUBREC:
	case MQTT_PUBCOMP:
		return publish_answer(parser, v, h, m);
	case MQTT_PUBREL:
		return true;
	case MQTT_SUBSCRIBE:
	case MQTT_UNSUBSCRIBE:
		return subscription(parser, v, h, m);
	case MQTT_SUBACK:
	case MQTT_UNSUBACK:
		return subscription_answer(parser, v, h, m);
	case MQTT_PINGREQ:
		m->type = L7_REQUEST;
		m->id = key_of(v, false, MQTT_PINGREQ, 0);
		return true;
	case MQTT_PINGRESP:
		m->type = L7_RESPONSE;
		m->id = key_of(v, true, MQTT_PINGREQ, 0);
		m->status = (struct span){"OK", 2};
		return true;
	case MQTT_DISCONNECT:
	case MQTT_AUTH:
		m->type = L7_ONEWAY;
		if (c.p < c.end)
			reason(parser, m, *c.p, *c.p >= MQTT_REFUSED);
		return true;
	}
	return false;
}

static int64_t mqtt_parse(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	struct mqtt_head h;
	enum mqtt_at verdict = mqtt_head_at(&h, v->p, v->len);

	if (verdict == MQTT_SHORT)
		return L7_PARTIAL;
	if (verdict == MQTT_NOT ||
	    (v->requests ? mqtt_is_servers(h.type) : mqtt_is_clients(h.type)))
		return L7_BAD;
	if (v->len < h.size && v->len < LOOK_MAX && !v->cut && !v->last)
		return L7_PARTIAL;
	/* Not enough of it was captured. */
	if (!describe(parser, v, &h, m))
		return v->len < h.size ? (m->type = L7_SKIP, (int64_t)h.size) : L7_BAD;
	return h.size;
}

static void mqtt_fini(void *state)
{
	struct mqtt *s = state;

	names_fini(&s->aliases);
}

const struct l7_protocol l7_mqtt = {
	.name = "mqtt",
	.bid = mqtt_bid,
	.parse = mqtt_parse,
	.resync = mqtt_resync,
	.state_sz = sizeof(struct mqtt),
	.fini = mqtt_fini,
	.pair_by_id = true,
	.ports = {1883, 8883},
};
