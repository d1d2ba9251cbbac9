/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MQTT 3.1, 3.1.1 and 5 (docs.oasis-open.org/mqtt).
 *
 *   type << 4 | flags   remaining length: varint of at most 4 bytes   variable header   payload
 *
 * Either side publishes, each with packet ids of its own: an id is paired within the direction of
 * its request. PUBLISH with QoS 0 has no answer, with QoS 1 PUBACK; with QoS 2 the whole of PUBREC,
 * PUBREL and PUBCOMP is one answer, whose last packet counts, or a PUBREC that refuses. An error is
 * a reason code of 0x80 or more, before version 5 a CONNACK other than 0.
 */
#include <inttypes.h>
#include <string.h>

#include "../../format/text.h"
#include "names.h"

enum packet {
	CONNECT = 1,
	CONNACK,
	PUBLISH,
	PUBACK,
	PUBREC,
	PUBREL,
	PUBCOMP,
	SUBSCRIBE,
	SUBACK,
	UNSUBSCRIBE,
	UNSUBACK,
	PINGREQ,
	PINGRESP,
	DISCONNECT,
	AUTH,
};

enum {
	VERSION_5 = 5,
	TOPIC_ALIAS = 0x23,
	LOOK_MAX = 4096, /* of a packet, waited for */
	LOOK_PACKETS = 64,
	CLIENT_MAX = 64,
	TOPICS_MAX = 4,
	REFUSED = 0x80,
};

static const char *const names[] = {NULL,	 "CONNECT",  "CONNACK",	    "PUBLISH",
				    "PUBACK",	 "PUBREC",   "PUBREL",	    "PUBCOMP",
				    "SUBSCRIBE", "SUBACK",   "UNSUBSCRIBE", "UNSUBACK",
				    "PINGREQ",	 "PINGRESP", "DISCONNECT",  "AUTH"};

struct mqtt {
	uint8_t version; /* 0: joined late */
	uint8_t client_sz;
	char client[CLIENT_MAX];
	struct names aliases; /* of topics: direction and number */
};

struct head {
	enum packet type;
	unsigned flags;
	uint64_t size; /* of the whole packet */
	struct l7_cursor body;
};

enum verdict { HEAD_OK, HEAD_SHORT, HEAD_NOT };

static bool varint(struct l7_cursor *c, uint64_t *v)
{
	return l7_varint(c, 4, v);
}

static struct span string(struct l7_cursor *c)
{
	return l7_counted(c, 2);
}

/* Flags and lengths that there may be. */
static bool is_possible(enum packet type, unsigned flags, uint64_t len)
{
	switch (type) {
	case PUBLISH:
		return (flags >> 1 & 3) < 3 && len >= 3;
	case PUBREL:
	case SUBSCRIBE:
	case UNSUBSCRIBE:
		return flags == 2 && len >= (type == PUBREL ? 2 : 5);
	case PINGREQ:
	case PINGRESP:
		return !flags && !len;
	case DISCONNECT:
	case AUTH:
		return !flags && len < 1 << 16;
	case CONNECT:
		return !flags && len >= 12;
	default:
		return !flags && len >= 2;
	}
}

static enum verdict head_at(struct head *h, const uint8_t *p, size_t len)
{
	struct l7_cursor c = l7_cursor_at(p, len);
	uint8_t first = l7_be(&c, 1);
	uint64_t left;

	*h = (struct head){.type = first >> 4, .flags = first & 15};
	if (len && (!h->type || (h->type != PUBLISH && h->flags & ~2u)))
		return HEAD_NOT;
	if (!varint(&c, &left))
		return HEAD_NOT;
	if (c.cut)
		return HEAD_SHORT;
	if (!is_possible(h->type, h->flags, left))
		return HEAD_NOT;
	h->size = c.p - p + left;
	h->body = c;
	if (h->size < len)
		h->body.end = p + h->size;
	return HEAD_OK;
}

/* ---- properties of version 5 ---- */

/* How the value of a property is written: bytes, or 's' a string or binary data, 'p' a pair, 'v' a
 * varint; 0: no such property. */
static char property_kind(unsigned id)
{
	static const char kinds[] = {
		[0x01] = 1, [0x02] = 4,	  [0x03] = 's', [0x08] = 's', [0x09] = 's', [0x0b] = 'v',
		[0x11] = 4, [0x12] = 's', [0x13] = 2,	[0x15] = 's', [0x16] = 's', [0x17] = 1,
		[0x18] = 4, [0x19] = 1,	  [0x1a] = 's', [0x1c] = 's', [0x1f] = 's', [0x21] = 2,
		[0x22] = 2, [0x23] = 2,	  [0x24] = 1,	[0x25] = 1,   [0x26] = 'p', [0x27] = 4,
		[0x28] = 1, [0x29] = 1,	  [0x2a] = 1};

	return id < sizeof(kinds) ? kinds[id] : 0;
}

/* Passes the properties; false: these are none. */
static bool properties(struct l7_cursor *c, unsigned *alias)
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
		char kind = property_kind(id);

		if (!kind)
			return false;
		if (kind == 's' || kind == 'p')
			string(&in);
		if (kind == 'p')
			string(&in);
		else if (kind == 'v')
			varint(&in, &v);
		else if (kind < 's' && id == TOPIC_ALIAS)
			*alias = l7_be(&in, 2);
		else if (kind < 's')
			l7_take(&in, kind);
	}
	return !in.cut || c->cut;
}

/* ---- packets ---- */

static bool is_topic(struct span s, bool filter)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f ||
		    (!filter && (s.p[i] == '#' || s.p[i] == '+')))
			return false;
	return true;
}

static struct span folded(struct l7_parser *parser, struct span topic)
{
	char text[192];

	return l7_keep(parser, l7_fold(topic, text, sizeof(text)));
}

/* The pairing key: requester's direction, kind, packet id. */
static uint64_t key_of(const struct l7_view *v, bool answer, enum packet request, unsigned id)
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
	struct span name = string(&c), client, json, will = {"", 0};
	unsigned flags, keepalive, alias;

	s->version = l7_be(&c, 1) & 0x7f; /* a bridge sets the top bit */
	flags = l7_be(&c, 1);
	keepalive = l7_be(&c, 2);
	if (c.cut || (!l7_is(name, "MQTT") && !l7_is(name, "MQIsdp")))
		return false;
	if (s->version == VERSION_5 && !properties(&c, &alias))
		return false;
	client = string(&c);
	s->client_sz = client.len < CLIENT_MAX ? client.len : CLIENT_MAX;
	memcpy(s->client, client.p, s->client_sz);
	if (flags & 4) {
		if (s->version == VERSION_5 && !properties(&c, &alias))
			return false;
		will = string(&c);
		string(&c);
	}
	json = client_json(parser);
	m->detail = l7_text(parser, "{\"version\":%u,\"keepalive\":%u%s%s", s->version, keepalive,
			    json.len ? "," : "", json.p);
	if (will.len)
		m->detail = l7_text(parser, "%s,\"will\":\"%s\"", m->detail.p,
				    l7_json(parser, will, 128).p);
	if (flags & 0x80)
		m->detail = l7_text(parser, "%s,\"user\":\"%s\"", m->detail.p,
				    l7_json(parser, string(&c), 64).p);
	m->detail = l7_text(parser, "%s}", m->detail.p);
	return true;
}

/* The topic, or what its alias stands for. */
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

static bool publish(struct l7_parser *parser, const struct l7_view *v, struct head *h,
		    struct l7_message *m)
{
	struct mqtt *s = parser->state;
	struct l7_cursor c = h->body;
	struct span topic = string(&c), json = client_json(parser);
	unsigned qos = h->flags >> 1 & 3, alias = 0, id = 0;

	if (qos)
		id = l7_be(&c, 2);
	if (!is_topic(topic, false) || (qos && !id))
		return false;
	if (s->version == VERSION_5 && !c.cut && !properties(&c, &alias))
		return false;
	m->type = qos ? L7_REQUEST : L7_ONEWAY;
	m->id = qos ? key_of(v, false, PUBLISH, id) : 0;
	m->target = folded(parser, topic_of(parser, v, topic, alias));
	m->detail =
		l7_text(parser, "{\"qos\":%u%s%s%s%s}", qos, h->flags & 1 ? ",\"retain\":1" : "",
			h->flags & 8 ? ",\"dup\":1" : "", json.len ? "," : "", json.p);
	return true;
}

/* Topics behind the packet id, in version 5 behind properties; false: not written so. */
static bool filters(struct l7_cursor c, bool v5, unsigned option, struct span *topics,
		    unsigned *cnt)
{
	unsigned alias;

	*cnt = 0;
	if (v5 && !properties(&c, &alias))
		return false;
	while (!c.cut && c.p < c.end) {
		struct span s = string(&c);

		l7_take(&c, option);
		if (c.cut)
			break;
		if (!s.len || !is_topic(s, true))
			return false;
		if (*cnt < TOPICS_MAX)
			topics[*cnt] = s;
		++*cnt;
	}
	return true;
}

static bool subscription(struct l7_parser *parser, const struct l7_view *v, struct head *h,
			 struct l7_message *m)
{
	struct mqtt *s = parser->state;
	struct l7_cursor c = h->body;
	struct span topics[TOPICS_MAX], all = {"", 0}, json = client_json(parser);
	unsigned cnt, option = h->type == SUBSCRIBE, id = l7_be(&c, 2);
	bool whole = h->size == (uint64_t)(c.end - v->p);
	bool v5 = s->version == VERSION_5;

	if (c.cut)
		return false;
	if (!filters(c, v5, option, topics, &cnt) || (whole && !cnt)) {
		/* Joined late: it may be the other version. */
		if (s->version || !filters(c, true, option, topics, &cnt))
			return false;
		s->version = VERSION_5;
	}
	m->type = L7_REQUEST;
	m->id = key_of(v, false, h->type, id);
	for (unsigned i = 0; i < cnt && i < TOPICS_MAX; i++) {
		struct span t = folded(parser, topics[i]);

		all = i ? l7_text(parser, "%s,%s", all.p, t.p) : t;
	}
	m->target = cnt > TOPICS_MAX ? l7_text(parser, "%s,...", all.p) : all;
	if (json.len || cnt > 1)
		m->detail =
			l7_text(parser, "{%s%s\"topics\":%u}", json.p, json.len ? "," : "", cnt);
	return true;
}

/* ---- answers ---- */

static const char *reason_name(unsigned code)
{
	static const struct {
		uint8_t code;
		const char *name;
	} reasons[] = {{0x10, "No matching subscribers"},
		       {0x11, "No subscription existed"},
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
		       {0xa1, "Subscription Identifiers not supported"},
		       {0xa2, "Wildcard Subscriptions not supported"}};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].code == code)
			return reasons[i].name;
	return NULL;
}

static void reason(struct l7_parser *parser, struct l7_message *m, unsigned code, bool error)
{
	const char *name = reason_name(code);

	m->is_error = error;
	m->status = name		   ? span_of(name)
		    : error || code > 0x18 ? l7_text(parser, "0x%02x", code)
					   : (struct span){"OK", 2};
}

static bool connack(struct l7_parser *parser, const struct l7_view *v, struct head *h,
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
	m->id = key_of(v, true, CONNECT, 0);
	if (c.cut)
		return false;
	reason(parser, m, code, code != 0);
	if (code < sizeof(refused) / sizeof(refused[0]))
		m->status = span_of(refused[code]);
	return true;
}

/* PUBACK, PUBREC, PUBCOMP: id, in version 5 perhaps a reason and properties. */
static bool publish_answer(struct l7_parser *parser, const struct l7_view *v, struct head *h,
			   struct l7_message *m)
{
	struct l7_cursor c = h->body;
	unsigned id = l7_be(&c, 2), code = 0;

	if (c.cut)
		return false;
	if (h->size > (uint64_t)(c.p - v->p))
		code = l7_be(&c, 1);
	if (h->type == PUBREC && code < REFUSED)
		return true; /* the rest of the exchange is to come */
	m->type = L7_RESPONSE;
	m->id = key_of(v, true, PUBLISH, id);
	reason(parser, m, code, code >= REFUSED);
	return true;
}

/* A code for each topic; version 3.1.1 has none in UNSUBACK. */
static bool subscription_answer(struct l7_parser *parser, const struct l7_view *v, struct head *h,
				struct l7_message *m)
{
	struct mqtt *s = parser->state;
	struct l7_cursor c = h->body;
	unsigned id = l7_be(&c, 2), worst = 0, alias;

	if (c.cut || (s->version == VERSION_5 && !properties(&c, &alias)))
		return false;
	while (c.p < c.end) {
		unsigned code = l7_be(&c, 1);

		worst = worst < REFUSED && code > worst ? code : worst;
	}
	m->type = L7_RESPONSE;
	m->id = key_of(v, true, h->type == SUBACK ? SUBSCRIBE : UNSUBSCRIBE, id);
	reason(parser, m, worst >= REFUSED ? worst : 0, worst >= REFUSED);
	return true;
}

static bool describe(struct l7_parser *parser, const struct l7_view *v, struct head *h,
		     struct l7_message *m)
{
	struct l7_cursor c = h->body;

	m->method = span_of(names[h->type]);
	switch (h->type) {
	case CONNECT:
		m->type = L7_REQUEST;
		m->id = key_of(v, false, CONNECT, 0);
		return connect(parser, c, m);
	case CONNACK:
		return connack(parser, v, h, m);
	case PUBLISH:
		return publish(parser, v, h, m);
	case PUBACK:
	case PUBREC:
	case PUBCOMP:
		return publish_answer(parser, v, h, m);
	case PUBREL:
		return true;
	case SUBSCRIBE:
	case UNSUBSCRIBE:
		return subscription(parser, v, h, m);
	case SUBACK:
	case UNSUBACK:
		return subscription_answer(parser, v, h, m);
	case PINGREQ:
		m->type = L7_REQUEST;
		m->id = key_of(v, false, PINGREQ, 0);
		return true;
	case PINGRESP:
		m->type = L7_RESPONSE;
		m->id = key_of(v, true, PINGREQ, 0);
		m->status = (struct span){"OK", 2};
		return true;
	case DISCONNECT:
	case AUTH:
		m->type = L7_ONEWAY;
		if (c.p < c.end)
			reason(parser, m, *c.p, *c.p >= REFUSED);
		return true;
	}
	return false;
}

/* Only clients send these. */
static bool is_clients(enum packet type)
{
	return type == CONNECT || type == SUBSCRIBE || type == UNSUBSCRIBE || type == PINGREQ;
}

static bool is_servers(enum packet type)
{
	return type == CONNACK || type == SUBACK || type == UNSUBACK || type == PINGRESP;
}

static int64_t mqtt_parse(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	struct head h;
	enum verdict verdict = head_at(&h, v->p, v->len);

	if (verdict == HEAD_SHORT)
		return L7_PARTIAL;
	if (verdict == HEAD_NOT || (v->requests ? is_servers(h.type) : is_clients(h.type)))
		return L7_BAD;
	if (v->len < h.size && v->len < LOOK_MAX && !v->cut && !v->last)
		return L7_PARTIAL;
	/* Not enough of it was kept to tell what it is about. */
	if (!describe(parser, v, &h, m))
		return v->len < h.size ? (m->type = L7_SKIP, (int64_t)h.size) : L7_BAD;
	return h.size;
}

/* ---- bidding ---- */

struct looks {
	unsigned packets, told; /* told: with content that agrees */
	bool release, received; /* PUBREL; what is before and behind it */
	bool connect, client, server, bad;
};

/* Is what h has the form of its type? */
static bool agrees(const struct head *h, const uint8_t *p, size_t len, bool *told)
{
	struct l7_cursor c = h->body;
	struct span s;

	*told = false;
	if (h->type == CONNECT) {
		s = string(&c);
		*told = l7_is(s, "MQTT") || l7_is(s, "MQIsdp");
		return *told;
	}
	if (h->type == PUBLISH) {
		s = string(&c);
		if (c.cut)
			return h->size > len;
		*told = s.len && is_topic(s, false);
		return is_topic(s, false) && h->size > 2 + s.len;
	}
	if (h->type == SUBSCRIBE || h->type == UNSUBSCRIBE) {
		struct span topics[TOPICS_MAX];
		unsigned cnt, option = h->type == SUBSCRIBE;

		l7_take(&c, 2);
		*told = (filters(c, false, option, topics, &cnt) && cnt) ||
			(filters(c, true, option, topics, &cnt) && cnt);
		return *told;
	}
	/* Acknowledgements are short. */
	return h->size <= 64 || h->type == CONNACK || h->type == DISCONNECT || h->type == AUTH;
}

static struct looks look(const struct l7_view *v)
{
	struct looks l = {0};
	size_t at = 0;

	while (at < v->len && l.packets < LOOK_PACKETS) {
		struct head h;
		enum verdict verdict = head_at(&h, v->p + at, v->len - at);
		bool told = false;

		if (verdict == HEAD_SHORT)
			break;
		l.bad = verdict == HEAD_NOT || !agrees(&h, v->p + at, v->len - at, &told);
		/* A packet that goes on in the next call is a long one. */
		l.bad |= !l.bad && h.size > v->known - at && v->known < 512;
		if (l.bad)
			break;
		l.packets++;
		l.told += told;
		l.connect |= h.type == CONNECT && !at;
		l.release |= h.type == PUBREL && h.size == 4;
		l.received |= (h.type == PUBREC || h.type == PUBCOMP) && h.size == 4;
		l.client |= is_clients(h.type);
		l.server |= is_servers(h.type);
		at = h.size > v->len - at ? v->len : at + h.size;
	}
	l.bad |= l.client && l.server;
	return l;
}

static int mqtt_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent)
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

static size_t mqtt_resync(const struct l7_view *v, size_t from)
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
