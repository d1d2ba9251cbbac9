/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MQTT: the password of CONNECT, and what the authentication data of CONNECT and AUTH hold. The
 * client's bytes are followed one by one from a CONNECT on, through calls that cut it anywhere;
 * where bytes were not seen, or joined late, from a call that begins with CONNECT or AUTH.
 */
#include "mqtt_property.h"
#include "redact_frames.h"

enum { HEAD_SZ = 2, HEAD_MAX = 5 };
enum { CONNECT = 0x10, AUTH = 0xf0, VERSION_5 = 5, AUTHENTICATION_DATA = 0x16 };
enum { HAS_WILL = 4, HAS_PASSWORD = 0x40, HAS_USER = 0x80 };

/* What a packet's body consists of, in this order. */
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
	REASON, /* AUTH begins here */
	REASON_PROPERTIES,
	AUTH_END,
};

/* The next byte is. */
enum now {
	NOW_REST, /* of no interest, to the packet's end */
	NOW_BYTES,
	NOW_SIZE,
	NOW_SPAN, /* how long the properties are */
	NOW_ID,
	NOW_VARINT,
};

struct mqtt {
	struct redact_frames frames;
	bool sure, secret;
	unsigned client;
	uint8_t version, flags, digits, strings;
	enum step step;
	enum now now;
	uint32_t number, count, properties;
};

static void begin(struct mqtt *s, enum now now, uint32_t count, bool secret)
{
	s->now = now;
	s->frames.secret = now != NOW_REST;
	s->count = count;
	s->secret = secret;
	s->number = s->digits = 0;
}

/* The next step that the packet has. */
static void advance(struct mqtt *s)
{
	bool v5 = s->version == VERSION_5, will = s->flags & HAS_WILL;

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
			begin(s, NOW_SIZE, 0, false);
			return;
		default:
			begin(s, NOW_REST, 0, false);
			return;
		}
	}
}

/* Behind a field. */
static void next(struct mqtt *s)
{
	if (s->properties && s->strings) {
		s->strings--;
		begin(s, NOW_SIZE, 0, false);
		return;
	}
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

static void property(struct mqtt *s, uint8_t id)
{
	char kind = mqtt_property_kind(id);

	s->strings = kind == 'p';
	if (!kind) /* not known: it may be anything */
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
	struct mqtt *s = own;
	bool inside = s->properties, done = false;
	uint8_t out = ch;

	(void)c;
	switch (s->now) {
	case NOW_REST:
		return ch;
	case NOW_BYTES:
		s->number = s->number << 8 | ch;
		out = s->secret ? '*' : ch;
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

/* Its type, and a size of which each byte tells whether another follows. */
static int head(void *own, struct redact_frames *f, const struct redact_call *c)
{
	struct mqtt *s = own;
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
	}
	return 0;
}

/* A call that begins with CONNECT, or with AUTH of a method. */
static bool starts(void *own, const struct redact_call *c)
{
	const uint8_t *p = c->p, *end = c->p + c->kept;

	(void)own;
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

/* False always: what else is secret in the messages that it carries is masked as well. */
bool redact_mqtt(struct redact_call *c)
{
	struct mqtt *s = redact_has(c, REDACT_mqtt);

	if (!s && starts(NULL, c)) {
		s = redact_own(c, REDACT_mqtt, sizeof(*s));
		if (s)
			s->client = c->dir;
	}
	if (s && s->client == c->dir)
		redact_frames(&s->frames, &framing, s, c, 0);
	return false;
}
