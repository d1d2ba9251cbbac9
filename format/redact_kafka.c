/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kafka: what SaslAuthenticate and the requests about delegation tokens and SCRAM passwords carry;
 * behind SaslHandshake version 0 the mechanism's own tokens, which have a length and nothing else.
 * The client's requests are followed from the connection's first bytes on, through calls that cut
 * them anywhere; where bytes were not seen, or joined late, a call that begins with such a request
 * gives the step.
 */
#include "redact_impl.h"

enum {
	SASL_HANDSHAKE = 17,
	SASL_AUTHENTICATE = 36,
	RENEW_TOKEN = 39,
	EXPIRE_TOKEN = 40,
	ALTER_SCRAM = 51,
	KEY_MAX = 96, /* APIs, with room for new ones, below the letters */
	VERSION_MAX = 30,
	SECRET_VERSION_MAX = 2,
	CLIENT_MAX = 1024,
	LENGTH_SZ = 4,
	START_SZ = 8,	 /* and key 2, version 2 */
	HEAD_SZ = 14,	 /* and correlation id 4, size of the client's name 2 */
	REQUEST_SZ = 10, /* of these, behind the length */
};
#define FRAME_MAX (1u << 30)
#define CORRELATION_MAX (1u << 24)

/* Requests of a direction. */
struct requests {
	bool in_step;
	uint8_t raw; /* tokens without a head may come */
	uint8_t head[HEAD_SZ], head_sz;
	uint32_t left; /* of the frame at hand */
	uint32_t open; /* bytes of it to pass before its secret begins; UINT32_MAX: it has none */
};

struct kafka {
	struct requests side[2];
};

enum raw { RAW_NOT, RAW_NEXT, RAW_PERHAPS };

static uint32_t be16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static uint32_t be32(const uint8_t *p)
{
	return be16(p) << 16 | be16(p + 2);
}

/* All of these look behind the length. */
static bool is_start(const uint8_t *p)
{
	return be16(p) <= KEY_MAX && be16(p + 2) <= VERSION_MAX;
}

static bool is_head(const uint8_t *p)
{
	return is_start(p) && (be16(p + 8) <= CLIENT_MAX || be16(p + 8) == 0xffff);
}

static bool has_secret(const uint8_t *p)
{
	uint32_t key = be16(p);

	return key == SASL_AUTHENTICATE || key == RENEW_TOKEN || key == EXPIRE_TOKEN ||
	       key == ALTER_SCRAM;
}

/* How many bytes behind a head are not secret: the client's name and what tells the secret's
 * length, before version 2 four bytes, from there on tags and a length of a byte. */
static uint32_t open_bytes(const uint8_t *p)
{
	uint32_t client = be16(p + 8) == 0xffff ? 0 : be16(p + 8);

	if (!has_secret(p))
		return UINT32_MAX;
	return client + (be16(p) == ALTER_SCRAM || be16(p + 2) >= 2 ? 2 : 4);
}

static void begin_frame(struct requests *s, uint32_t open)
{
	s->left = be32(s->head) - (s->head_sz - LENGTH_SZ);
	s->open = open;
	s->head_sz = 0;
}

static uint8_t wanted(const struct requests *s)
{
	if (s->head_sz < LENGTH_SZ)
		return LENGTH_SZ;
	return s->raw == RAW_PERHAPS && s->head_sz < START_SZ ? START_SZ : HEAD_SZ;
}

/* So much of a head as was wanted is there. */
static void look(struct requests *s)
{
	const uint8_t *p = s->head + LENGTH_SZ;
	uint32_t size = be32(s->head);

	if (s->head_sz == LENGTH_SZ) {
		s->in_step = size <= FRAME_MAX && (s->raw || size >= REQUEST_SZ);
		if (s->raw == RAW_NEXT || (s->raw && size < REQUEST_SZ)) {
			s->raw = RAW_PERHAPS;
			begin_frame(s, 0);
		}
	} else if (s->head_sz == START_SZ) {
		if (is_start(p))
			s->raw = RAW_NOT;
		else
			begin_frame(s, 0);
	} else {
		s->in_step = is_head(p);
		s->raw = be16(p) == SASL_HANDSHAKE && !be16(p + 2) ? RAW_NEXT : RAW_NOT;
		begin_frame(s, open_bytes(p));
	}
}

static void body(struct requests *s, struct redact_call *c, size_t at, size_t n)
{
	if (s->open < n)
		redact_mask(c, at + s->open, at + n, '*');
	if (s->open != UINT32_MAX)
		s->open -= n < s->open ? n : s->open;
	s->left -= n;
}

static void walk(struct requests *s, struct redact_call *c, size_t at)
{
	while (at < c->kept && s->in_step) {
		uint8_t want = wanted(s);
		size_t n = s->left ? s->left : (size_t)(want - s->head_sz);

		if (n > c->kept - at)
			n = c->kept - at;
		if (s->left) {
			body(s, c, at, n);
		} else {
			memcpy(s->head + s->head_sz, c->p + at, n);
			s->head_sz += n;
			if (s->head_sz == want)
				look(s);
		}
		at += n;
	}
}

/* Bytes that were not seen. */
static void skip(struct requests *s, uint64_t n)
{
	if (!n || !s->in_step)
		return;
	if (n > s->left) {
		*s = (struct requests){0};
		return;
	}
	s->left -= n;
	if (s->open != UINT32_MAX)
		s->open = 0;
}

/* A call that begins with a request which holds a secret, or with what follows its length. */
static void join(struct requests *s, struct redact_call *c)
{
	const uint8_t *p = c->p;

	if (c->kept >= HEAD_SZ && has_secret(p + LENGTH_SZ) && is_head(p + LENGTH_SZ) &&
	    be32(p) >= REQUEST_SZ && be32(p) <= FRAME_MAX) {
		s->in_step = true;
	} else if (c->kept >= REQUEST_SZ && has_secret(p) && is_head(p) &&
		   be16(p + 2) <= SECRET_VERSION_MAX && be16(p + 8) &&
		   be32(p + 4) <
			   CORRELATION_MAX) { /* without its length, DNS over TCP looks alike */
		s->left = c->len;
		s->open = REQUEST_SZ + open_bytes(p);
		s->in_step = true;
	}
}

/* False always: what else is secret in the messages that it carries is masked as well. */
bool redact_kafka(struct redact_call *c)
{
	struct kafka *k = redact_has(c, REDACT_kafka);
	struct requests made = {.in_step = !c->pos}, *s = k ? &k->side[c->dir] : &made;

	if (k && s->in_step && c->pos != (*c->conn)->side[c->dir].next)
		skip(s, c->pos - (*c->conn)->side[c->dir].next);
	if (k && !c->pos)
		s->in_step = true;
	if (!s->in_step)
		join(s, c);
	if (!s->in_step)
		return false;
	walk(s, c, 0);
	skip(s, c->len - c->kept);
	if (s != &made || !s->in_step)
		return false;
	k = redact_own(c, REDACT_kafka, sizeof(*k));
	if (k)
		k->side[c->dir] = made;
	return false;
}
