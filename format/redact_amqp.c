/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logins of AMQP 0-9-1: the responses of connection.start-ok and secure-ok (SASL), the secret of
 * connection.update-secret. The client's frames are followed from its greeting on, or from a call
 * that begins with one of these; where bytes were not seen, until a call begins with a frame.
 */
#include "redact_impl.h"

enum {
	GREETING_SZ = 8,
	FRAME_HEAD = 7,
	METHOD_HEAD = FRAME_HEAD + 4,
	START_OK = 10 << 16 | 11,
	SECURE_OK = 10 << 16 | 21,
	UPDATE_SECRET = 10 << 16 | 70,
	FRAME_MAX = 1 << 26
};

/* What stands in a method with a secret: tables and long strings (size:4), short ones (size:1). */
enum part { END, TABLE, SHORT, SECRET };
static const enum part start_ok[] = {TABLE, SHORT, SECRET, END}, other[] = {SECRET, END};

struct amqp {
	bool known, in_step, login;
	bool blind;	 /* the rest of this frame is masked */
	uint8_t greeted; /* bytes of the greeting */
	unsigned client;
	uint8_t head[METHOD_HEAD], head_sz;
	uint64_t left;	       /* of the frame, its end octet included */
	const enum part *part; /* NULL: no secret in it */
	uint8_t size_sz;
	uint32_t size; /* of the part */
};

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static bool is_secret(uint32_t method)
{
	return method == START_OK || method == SECURE_OK || method == UPDATE_SECRET;
}

static bool is_frame(const uint8_t *p)
{
	return ((*p >= 1 && *p <= 3) || *p == 8) && be32(p + 3) < FRAME_MAX;
}

/* The head of a frame is whole; of a method its number as well. */
static void begin_frame(struct amqp *s)
{
	uint32_t method = be32(s->head + FRAME_HEAD);

	s->left = (uint64_t)be32(s->head + 3) + 1;
	s->part = NULL;
	s->blind = false;
	if (s->head_sz < METHOD_HEAD)
		return;
	s->left -= 4;
	s->login &= is_secret(method);
	if (is_secret(method))
		s->part = method == START_OK ? start_ok : other;
	s->size_sz = 0;
	s->size = 0;
}

/* Bytes of a head that are needed to go on. */
static unsigned head_size(const struct amqp *s)
{
	return s->head_sz >= FRAME_HEAD && s->head[0] == 1 && be32(s->head + 3) >= 4 ? METHOD_HEAD
										     : FRAME_HEAD;
}

static bool in_size(const struct amqp *s)
{
	return s->size_sz < (*s->part == SHORT ? 1 : 4);
}

static void next_part(struct amqp *s)
{
	while (*s->part != END && !in_size(s) && !s->size) {
		s->part++;
		s->size_sz = 0;
	}
}

/* One byte of a method with a secret; what to write instead. */
static uint8_t one_byte(struct amqp *s, uint8_t ch)
{
	uint8_t out = ch;

	if (s->blind)
		return '*';
	if (*s->part == END)
		return ch;
	if (in_size(s)) {
		s->size = s->size << 8 | ch;
		s->size_sz++;
	} else {
		out = *s->part == SECRET ? '*' : ch;
		s->size--;
	}
	next_part(s);
	return out;
}

static void body(struct amqp *s, struct redact_call *c, size_t at, size_t n)
{
	/* The end octet stays. */
	if (n == s->left)
		n--;
	for (size_t i = at; s->part && i < at + n; i++) {
		uint8_t ch = one_byte(s, c->p[i]);

		c->masked |= ch != c->p[i];
		c->p[i] = ch;
	}
}

static void walk(struct amqp *s, struct redact_call *c, size_t at)
{
	while (at < c->kept && s->in_step) {
		size_t n = s->left ? s->left : head_size(s) - s->head_sz;

		if (n > c->kept - at)
			n = c->kept - at;
		if (s->left) {
			body(s, c, at, n);
			s->left -= n;
		} else {
			memcpy(s->head + s->head_sz, c->p + at, n);
			s->head_sz += n;
			s->in_step = s->head_sz < FRAME_HEAD || is_frame(s->head);
			if (s->in_step && s->head_sz >= FRAME_HEAD && s->head_sz == head_size(s)) {
				begin_frame(s);
				s->head_sz = 0;
			}
		}
		at += n;
	}
	if (!s->in_step && s->login)
		redact_mask(c, at, c->kept, '*');
}

/* Bytes that were not seen. */
static void skip(struct amqp *s, uint64_t n)
{
	if (!n || !s->in_step)
		return;
	s->blind = true;
	if (n > s->left) {
		s->in_step = false;
		s->left = s->head_sz = 0;
	} else {
		s->left -= n;
	}
}

/* Told by the greeting, byte by byte through calls; or joined late, by a method with a secret. */
static size_t recognise(struct redact_call *c)
{
	static const uint8_t greeting[GREETING_SZ] = "AMQP\0\0\x09\x01";
	struct amqp *s = redact_has(c, REDACT_amqp);
	size_t had = s && s->client == c->dir ? s->greeted : 0, n;
	bool late = c->kept >= METHOD_HEAD && c->p[0] == 1 && is_frame(c->p) && !c->p[1] &&
		    !c->p[2] && is_secret(be32(c->p + FRAME_HEAD));

	n = c->kept < GREETING_SZ - had ? c->kept : GREETING_SZ - had;
	if (!late && (c->pos != had || !n || memcmp(c->p, greeting + had, n))) {
		if (s && s->client == c->dir)
			s->greeted = 0;
		return SIZE_MAX;
	}
	s = redact_own(c, REDACT_amqp, sizeof(*s));
	if (!s)
		return SIZE_MAX;
	s->client = c->dir;
	s->greeted = had + n;
	s->known = late || s->greeted == GREETING_SZ;
	s->in_step = s->login = s->known;
	return !s->known ? SIZE_MAX : late ? 0 : n;
}

bool redact_amqp(struct redact_call *c)
{
	struct amqp *s = redact_has(c, REDACT_amqp);
	uint64_t next;
	size_t at = 0;

	if (!s || !s->known) {
		at = recognise(c);
		if (at == SIZE_MAX)
			return false;
		s = redact_has(c, REDACT_amqp);
	} else if (s->client == c->dir) {
		next = (*c->conn)->side[c->dir].next;
		skip(s, c->pos < next ? UINT64_MAX : c->pos - next);
		if (!s->in_step && c->kept >= METHOD_HEAD && is_frame(c->p))
			s->in_step = true;
	}
	if (s->client == c->dir) {
		walk(s, c, at);
		skip(s, c->len - c->kept);
	}
	return true;
}
