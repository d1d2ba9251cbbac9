/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks logins of AMQP 0-9-1: the responses of connection.start-ok and secure-ok (SASL), and the
 * secret of connection.update-secret. The client's frames are tracked from its protocol header on,
 * or from a call that starts with one of these methods; after missing bytes, from the next call
 * that starts with a frame. For AMQP 1.0, masks the content of the client's SASL frames, which end
 * with its second protocol header.
 */
#include "format/redact/redact_frames.h"

enum {
	GREETING_SZ = 8,
	FRAME_HEAD = 7,
	METHOD_SZ = 4, /* class and method number */
	METHOD = 1,
	START_OK = 10 << 16 | 11,
	SECURE_OK = 10 << 16 | 21,
	UPDATE_SECRET = 10 << 16 | 70,
	FRAME_MAX = 1 << 26
};

/* Arguments of a method with a secret: tables and long strings (size:4), short strings (size:1). */
enum part { END, TABLE, SHORT, SECRET };
static const enum part start_ok[] = {TABLE, SHORT, SECRET, END}, other[] = {SECRET, END};

struct amqp {
	struct redact_frames frames;
	bool known, login;
	bool v1;	 /* AMQP 1.0, during login */
	uint8_t greeted; /* bytes seen of the protocol header */
	unsigned client;
	const enum part *part;
	uint8_t size_sz;
	uint32_t size; /* size of the current argument */
};

static bool is_secret(uint32_t method)
{
	return method == START_OK || method == SECURE_OK || method == UPDATE_SECRET;
}

static bool is_frame(const uint8_t *p)
{
	return ((*p >= 1 && *p <= 3) || *p == 8) && be_get(p + 3, 4) < FRAME_MAX;
}

/* Parses a frame header; for methods includes the method number. */
static int head(void *own, struct redact_frames *f, const struct redact_call *c)
{
	struct amqp *s = own;
	uint32_t size = be_get(f->head + 3, 4), method;

	(void)c;
	if (!is_frame(f->head))
		return FRAME_BAD;
	if (f->head[0] != METHOD || size < METHOD_SZ)
		return redact_frame(f, size + 1, false);
	if (f->head_sz == FRAME_HEAD)
		return METHOD_SZ;
	method = be_get(f->head + FRAME_HEAD, METHOD_SZ);
	s->login &= is_secret(method);
	s->part = method == START_OK ? start_ok : other;
	s->size_sz = 0;
	s->size = 0;
	return redact_frame(f, size + 1 - METHOD_SZ, is_secret(method));
}

static bool in_size(const struct amqp *s)
{
	return s->size_sz < (*s->part == SHORT ? 1 : 4);
}

static uint8_t byte(void *own, const struct redact_call *c, uint8_t ch)
{
	struct amqp *s = own;
	uint8_t out = ch;

	(void)c;
	if (in_size(s)) {
		s->size = s->size << 8 | ch;
		s->size_sz++;
	} else {
		out = *s->part == SECRET ? '*' : ch;
		s->size--;
	}
	while (*s->part != END && !in_size(s) && !s->size) {
		s->part++;
		s->size_sz = 0;
	}
	s->frames.secret = *s->part != END;
	return out;
}

static bool starts(void *own, const struct redact_call *c)
{
	(void)own;
	return c->kept >= FRAME_HEAD + METHOD_SZ && is_frame(c->p);
}

static void lost(void *own, struct redact_call *c, size_t from, size_t to)
{
	struct amqp *s = own;

	if (s->login)
		redact_mask(c, from, to, '*');
}

static const struct redact_framing framing = {
	.head_sz = FRAME_HEAD,
	.tail_sz = 1,
	.head = head,
	.starts = starts,
	.byte = byte,
	.lost = lost,
};

/* ---- AMQP 1.0, 2.3.1: size 4, data offset 1, type 1, channel 2 ---- */

enum { SASL_HEAD = 8, SASL_TYPE = 1, DESCRIPTOR_SZ = 3 };

/* The descriptor, which identifies the body, is not masked. */
static int sasl_head(void *own, struct redact_frames *f, const struct redact_call *c)
{
	struct amqp *s = own;
	uint32_t size = be_get(f->head, 4);

	(void)c;
	s->login &= memcmp(f->head, "AMQP", 4) != 0;
	if (size < SASL_HEAD || size >= FRAME_MAX)
		return FRAME_BAD;
	redact_frame(f, size - SASL_HEAD, f->head[5] == SASL_TYPE);
	f->open = DESCRIPTOR_SZ;
	return 0;
}

static bool sasl_starts(void *own, const struct redact_call *c)
{
	(void)own;
	return c->kept > SASL_HEAD && !c->p[0] && !c->p[1] && c->p[4] == 2 && c->p[5] == SASL_TYPE;
}

static const struct redact_framing sasl = {
	.head_sz = SASL_HEAD,
	.head = sasl_head,
	.starts = sasl_starts,
	.lost = lost,
};

/* ---- which connections ---- */

/* Recognises the protocol header, byte by byte across calls; or, on a connection seen from its
 * middle on, a method with a secret. */
static size_t recognise(struct redact_call *c)
{
	static const uint8_t greetings[][GREETING_SZ + 1] = {"AMQP\0\0\x09\x01",
							     "AMQP\x03\x01\0\0"};
	enum { TELLS = 4 };
	struct amqp *s = redact_has(c, REDACT_amqp);
	size_t had = s && s->client == c->dir ? s->greeted : 0, n;
	bool late = c->kept && *c->p == METHOD && starts(NULL, c) && !c->p[1] && !c->p[2] &&
		    is_secret(be_get(c->p + FRAME_HEAD, METHOD_SZ));

	bool v1;

	n = c->kept < GREETING_SZ - had ? c->kept : GREETING_SZ - had;
	v1 = had > TELLS ? s->v1 : had + n > TELLS && c->p[TELLS - had] == 3;
	if (!late && (c->pos != had || !n || memcmp(c->p, greetings[v1] + had, n))) {
		if (s && s->client == c->dir)
			s->greeted = 0;
		return SIZE_MAX;
	}
	s = redact_own(c, REDACT_amqp, sizeof(*s));
	if (!s)
		return SIZE_MAX;
	s->client = c->dir;
	s->greeted = had + n;
	s->v1 = v1 && !late;
	s->known = s->login = late || s->greeted == GREETING_SZ;
	n = late ? 0 : n;
	redact_frames_begin(&s->frames, c->pos + n);
	return s->known ? n : SIZE_MAX;
}

bool redact_amqp(struct redact_call *c)
{
	struct amqp *s = redact_has(c, REDACT_amqp);
	size_t at = 0;

	if (!s || !s->known) {
		at = recognise(c);
		if (at == SIZE_MAX)
			return false;
		s = redact_has(c, REDACT_amqp);
	}
	if (s->client == c->dir)
		redact_frames(&s->frames, s->v1 ? &sasl : &framing, s, c, at);
	return true;
}
