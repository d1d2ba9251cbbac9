/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks secrets of MQTT: the password of CONNECT; the authentication data of CONNECT and AUTH; user
 * properties with a secret's name in these and in PUBLISH. Each side's bytes are tracked from the
 * client's CONNECT on, across calls, which may cut them anywhere; after missing bytes, or when seen
 * from the middle on, from a call that starts with CONNECT or AUTH.
 */
#include "format/mqtt_property.h"
#include "format/redact/redact_frames.h"
#include "format/redact/redact_names.h"

enum { HEAD_SZ = 2, HEAD_MAX = 5 };
enum { CONNECT = 0x10, CONNACK = 0x20, PUBLISH = 0x30, AUTH = 0xf0 };
enum { VERSION_5 = 5, AUTHENTICATION_DATA = 0x16, NAME_MAX_SZ = 32 };
enum { HAS_WILL = 4, HAS_PASSWORD = 0x40, HAS_USER = 0x80 };

/* Parts of a packet's body, in order. */
enum step {
	NAME,
	VERSION, /* flags, keep alive */
	PROPERTIES,
	CLIENT,
	WILL_PROPERTIES,
	WILL_TOPIC,
	WILL,
	USER,
	PASSWORD,
	CONNECT_END,
	REASON, /* AUTH starts here */
	REASON_PROPERTIES,
	AUTH_END,
	TOPIC, /* PUBLISH starts here */
	PACKET_ID,
	PUBLISH_PROPERTIES,
	PUBLISH_END,
};

/* Meaning of the next byte. */
enum now {
	NOW_REST, /* not scanned, to the end of the packet */
	NOW_BYTES,
	NOW_SIZE,
	NOW_SPAN, /* length of the properties */
	NOW_ID,
	NOW_VARINT,
};

struct side {
	struct redact_frames frames;
	bool sure, secret, server;
	bool named; /* the current string is a property's name */
	char name[NAME_MAX_SZ];
	uint8_t name_sz;
	uint8_t version, flags, digits, strings;
	enum step step;
	enum now now;
	uint32_t number, count, properties;
};

struct mqtt {
	unsigned client;
	struct side side[2];
};

static void begin(struct side *s, enum now now, uint32_t count, bool secret)
{
	s->now = now;
	s->frames.secret = now != NOW_REST;
	s->count = count;
	s->secret = secret;
	s->number = s->digits = 0;
}

/* Moves to the next part that the packet has. */
static void advance(struct side *s)
{
	bool v5 = s->version == VERSION_5, qos = s->frames.head[0] & 6, will = s->flags & HAS_WILL;

	for (;;) {
		switch (++s->step) {
		case VERSION:
			begin(s, NOW_BYTES, 4, false);
			return;
		case REASON:
			begin(s, NOW_BYTES, 1, false);
			return;
		case PROPERTIES:
		case WILL_PROPERTIES:
			if (!v5 || (s->step == WILL_PROPERTIES && !will))
				break;
			begin(s, NOW_SPAN, 0, false);
			return;
		case PACKET_ID:
			if (!qos)
				break;
			begin(s, NOW_BYTES, 2, false);
			return;
		case PUBLISH_PROPERTIES:
		case REASON_PROPERTIES:
			begin(s, NOW_SPAN, 0, false);
			return;
		case WILL_TOPIC:
		case WILL:
			if (!will)
				break;
			begin(s, NOW_SIZE, 0, false);
			return;
		case USER:
		case PASSWORD:
			if (!(s->flags & (s->step == USER ? HAS_USER : HAS_PASSWORD)))
				break;
			begin(s, NOW_SIZE, 0, s->step == PASSWORD);
			return;
		case CLIENT:
		case TOPIC:
			begin(s, NOW_SIZE, 0, false);
			return;
		default:
			begin(s, NOW_REST, 0, false);
			return;
		}
	}
}

/* Called after a field. */
static void next(struct side *s)
{
	if (s->properties && s->strings) {
		bool secret =
			s->name_sz > NAME_MAX_SZ || redact_name_is_secret(s->name, s->name_sz);

		s->strings--;
		s->named = false;
		begin(s, NOW_SIZE, 0, secret);
		return;
	}
	s->named = false;
	if (s->properties) {
		begin(s, NOW_ID, 0, false);
		return;
	}
	if (s->step == NAME) {
		/* The last four letters of MQTT and MQIsdp. */
		s->sure = s->number == 0x4d515454 || s->number == 0x49736470;
		if (!s->sure) {
			s->frames.in_step = false;
			begin(s, NOW_REST, 0, false);
			return;
		}
	} else if (s->step == VERSION) {
		s->version = s->number >> 24 & 0x7f;
		s->flags = s->number >> 16;
	}
	advance(s);
}

static void property(struct side *s, uint8_t id)
{
	char kind = mqtt_property_kind(id);

	s->strings = s->named = kind == 'p';
	s->name_sz = 0;
	if (!kind) /* unknown property: mask the rest */
		begin(s, NOW_BYTES, UINT32_MAX, true);
	else if (kind == 'v')
		begin(s, NOW_VARINT, 0, false);
	else if (kind == 's' || kind == 'p')
		begin(s, NOW_SIZE, 0, id == AUTHENTICATION_DATA);
	else
		begin(s, NOW_BYTES, kind, false);
}

static uint8_t byte(void *own, const struct redact_call *c, uint8_t ch)
{
	struct side *s = own;
	bool inside = s->properties, done = false;
	uint8_t out = ch;

	(void)c;
	switch (s->now) {
	case NOW_REST:
		return ch;
	case NOW_BYTES:
		s->number = s->number << 8 | ch;
		out = s->secret ? '*' : ch;
		if (s->named && s->name_sz++ < NAME_MAX_SZ)
			s->name[s->name_sz - 1] = ch;
		s->name_sz -= s->name_sz > NAME_MAX_SZ + 1;
		done = !--s->count;
		break;
	case NOW_SIZE:
		s->number = s->number << 8 | ch;
		if (++s->digits == 2) {
			done = !s->number;
			begin(s, NOW_BYTES, s->number, s->secret);
		}
		break;
	case NOW_SPAN:
	case NOW_VARINT:
		s->number |= (uint32_t)(ch & 0x7f) << 7 * s->digits++;
		done = !(ch & 0x80) || s->digits == 4;
		if (done && s->now == NOW_SPAN)
			s->properties = s->number;
		break;
	case NOW_ID:
		property(s, ch);
		break;
	}
	if (inside && !--s->properties)
		done = true;
	if (done)
		next(s);
	return out;
}

/* Parses the type, and the size, each byte of which shows whether another follows. */
static int head(void *own, struct redact_frames *f, const struct redact_call *c)
{
	struct side *s = own;
	uint8_t type = f->head[0];
	uint32_t left = 0;

	(void)c;
	if (type < CONNECT || (!s->sure && type != CONNECT && type != AUTH))
		return FRAME_BAD;
	if (f->head[f->head_sz - 1] & 0x80)
		return f->head_sz < HEAD_MAX ? 1 : FRAME_BAD;
	for (unsigned i = 1; i < f->head_sz; i++)
		left |= (uint32_t)(f->head[i] & 0x7f) << 7 * (i - 1);
	redact_frame(f, left, false);
	s->properties = 0;
	if (type == CONNECT) {
		s->step = NAME;
		begin(s, NOW_SIZE, 0, false);
	} else if (type == AUTH) {
		s->step = CONNECT_END;
		advance(s);
	} else if (type >> 4 == PUBLISH >> 4 && s->version == VERSION_5) {
		s->step = AUTH_END;
		advance(s);
	}
	return 0;
}

/* Whether a call starts with CONNECT, or with AUTH that has a method. */
static bool starts(void *own, const struct redact_call *c)
{
	const uint8_t *p = c->p, *end = c->p + c->kept;

	struct side *s = own;

	if (s && s->server)
		return c->kept && (*p == CONNACK || *p == AUTH) && !c->pos;
	if (c->kept < 1 || (*p != CONNECT && *p != AUTH))
		return false;
	if (*p == CONNECT && !c->pos)
		return true;
	for (p++; p < end && p < c->p + 4 && *p & 0x80;)
		p++;
	if (end - p < 7)
		return false;
	p++;
	if (*c->p == AUTH)
		return (p[0] == 0x18 || p[0] == 0x19) &&
		       (p[2] == 0x15 || (p[1] & 0x80 && p[3] == 0x15));
	return !p[0] && ((p[1] == 4 && !memcmp(p + 2, "MQTT", 4)) ||
			 (p[1] == 6 && !memcmp(p + 2, "MQIs", 4)));
}

static const struct redact_framing framing = {
	.head_sz = HEAD_SZ,
	.head = head,
	.starts = starts,
	.byte = byte,
};

/* A server responds in the version of the request. */
static void answers(struct mqtt *m, struct redact_call *c)
{
	struct side *asked = &m->side[m->client], *s = &m->side[!m->client];

	if (!asked->sure || asked->version != VERSION_5)
		return;
	s->server = s->sure = true;
	s->version = VERSION_5;
	redact_frames(&s->frames, &framing, s, c, 0);
}

/* Always returns false: other secrets in the messages are masked by the text scans. */
bool redact_mqtt(struct redact_call *c)
{
	struct mqtt *m = redact_has(c, REDACT_mqtt);

	if (!m && starts(NULL, c)) {
		m = redact_own(c, REDACT_mqtt, sizeof(*m));
		if (m)
			m->client = c->dir;
	}
	if (m && m->client == c->dir)
		redact_frames(&m->side[c->dir].frames, &framing, &m->side[c->dir], c, 0);
	else if (m)
		answers(m, c);
	return false;
}
