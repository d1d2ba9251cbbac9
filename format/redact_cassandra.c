/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logins of Cassandra's native protocol (AUTH_RESPONSE); with --redact=sql, literals and what is
 * bound. The client's bytes are followed one by one, from OPTIONS or STARTUP on or from a call that
 * begins with an envelope or a segment of it; where bytes were not seen, until such a call.
 */
#include "redact_impl.h"

enum { HEAD = 9, SEGMENT_HEAD = 6, CRC_SZ = 4, LEN_MAX = 1 << 28 };
enum {
	STARTUP = 1,
	OPTIONS = 5,
	QUERY = 7,
	PREPARE = 9,
	EXECUTE = 10,
	BATCH = 13,
	AUTH_RESPONSE = 15,
	REQUESTS = 0xaea2, /* bits by opcode */
	COMPRESSED = 1
};

struct cassandra {
	bool known, in_step, segments;
	unsigned client;
	uint8_t segment[SEGMENT_HEAD], segment_sz, crc_left;
	uint32_t segment_left;
	uint8_t head[HEAD], head_sz;
	uint32_t left, at; /* of the body; the place in it */
	uint32_t number, text_end, secret_from;
	struct redact_literal literal;
};

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static bool is_head(const uint8_t *p)
{
	return p[0] >= 3 && p[0] <= 5 && p[1] < 32 && p[4] < 16 && REQUESTS >> p[4] & 1 &&
	       be32(p + 5) <= LEN_MAX && p[2] < 128;
}

static bool is_segment(const uint8_t *p)
{
	uint32_t crc = 0x875060;

	for (int i = 0; i < 24; i++) {
		crc ^= i % 8 ? 0 : (uint32_t)p[i / 8] << 16;
		crc = crc << 1 ^ (crc >> 23 & 1 ? 0x1974f0b : 0);
	}
	return (crc & 0xffffff) == (p[3] | p[4] << 8 | (uint32_t)p[5] << 16);
}

/* One byte of a body; what to write instead. */
static uint8_t body(struct cassandra *s, bool sql, uint8_t ch)
{
	unsigned opcode = s->head[4], at = s->at++, skip = opcode == BATCH ? 4 : 0;

	if (s->secret_from && at >= s->secret_from)
		return '*';
	if (opcode == AUTH_RESPONSE) {
		s->secret_from = s->head[1] & COMPRESSED ? 1 : 4;
		return s->head[1] & COMPRESSED ? '*' : ch;
	}
	if (!sql || (opcode != QUERY && opcode != PREPARE && opcode != EXECUTE && opcode != BATCH))
		return ch;
	if (s->head[1]) { /* compressed, or a payload in front */
		s->secret_from = 1;
		return '*';
	}
	/* Of a batch the first statement is read, and all behind it is masked. */
	if (opcode == BATCH && at == 3)
		s->literal.word = ch;
	if (at < skip)
		return ch;
	if (opcode == EXECUTE || (opcode == BATCH && !s->text_end && s->literal.word)) {
		if (at < skip + 2)
			s->number = s->number << 8 | ch;
		if (at == skip + 1) /* the id; of version 5 another; consistency */
			s->secret_from = at + 1 + s->number +
					 (opcode == BATCH  ? 0
					  : s->head[0] < 5 ? 2
							   : 20);
		return ch;
	}
	if (at < skip + 4) {
		s->number = s->number << 8 | ch;
		if (at == skip + 3) {
			s->text_end = at + 1 + (s->number < s->left ? s->number : s->left);
			s->literal = (struct redact_literal){0};
		}
		return ch;
	}
	if (at < s->text_end)
		return redact_literal(&s->literal, false, ch);
	if (opcode != PREPARE)
		s->secret_from = s->text_end + (opcode == QUERY ? 2 : 0);
	return opcode == BATCH ? '*' : ch;
}

static uint8_t envelope(struct cassandra *s, bool sql, uint8_t ch)
{
	if (s->left) {
		uint8_t out = body(s, sql, ch);

		s->left--;
		return out;
	}
	s->head[s->head_sz++] = ch;
	if (s->head_sz < HEAD)
		return ch;
	s->head_sz = 0;
	s->left = be32(s->head + 5);
	s->at = s->number = s->text_end = s->secret_from = 0;
	s->literal = (struct redact_literal){0};
	s->in_step = is_head(s->head);
	return ch;
}

static uint8_t one_byte(struct cassandra *s, bool sql, uint8_t ch)
{
	if (!s->segments) {
		uint8_t out = envelope(s, sql, ch);

		/* What follows its answer stands in segments. */
		s->segments = s->head[0] == 5 && s->head[4] == STARTUP && !s->left && !s->head_sz;
		return out;
	}
	if (s->crc_left) {
		s->crc_left--;
		return ch;
	}
	if (s->segment_left) {
		if (!--s->segment_left)
			s->crc_left = CRC_SZ;
		return envelope(s, sql, ch);
	}
	s->segment[s->segment_sz++] = ch;
	if (s->segment_sz == SEGMENT_HEAD) {
		s->segment_sz = 0;
		s->in_step = is_segment(s->segment);
		s->segment_left =
			(s->segment[0] | s->segment[1] << 8 | s->segment[2] << 16) & 0x1ffff;
		s->crc_left = s->segment_left ? 0 : CRC_SZ;
	}
	return ch;
}

static void walk(struct cassandra *s, struct redact_call *c)
{
	size_t i = 0;

	for (; i < c->kept && s->in_step; i++) {
		uint8_t ch = one_byte(s, c->sql, c->p[i]);

		c->masked |= ch != c->p[i];
		c->p[i] = ch;
	}
	if (!s->in_step)
		redact_mask(c, i, c->kept, '*');
	if (c->kept < c->len)
		s->in_step = false;
}

/* In step where a call begins with an envelope or a segment. */
static void resume(struct cassandra *s, const struct redact_call *c)
{
	bool segment = c->kept >= SEGMENT_HEAD + HEAD && is_segment(c->p);

	s->in_step = segment || (!s->segments && c->kept >= HEAD && is_head(c->p));
	s->segments |= segment;
	s->segment_sz = s->head_sz = s->crc_left = 0;
	s->segment_left = s->left = 0;
}

/* The client's first call, or one with a login. */
static bool recognise(struct redact_call *c)
{
	bool segment = c->kept >= SEGMENT_HEAD + HEAD && is_segment(c->p);
	const uint8_t *p = c->p + (segment ? SEGMENT_HEAD : 0);
	struct cassandra *s;

	if (c->kept < HEAD || !is_head(p) || (!segment && be32(p + 5) + HEAD != c->len))
		return false;
	if (p[4] != AUTH_RESPONSE && !segment && !c->sql &&
	    !(c->pos == 0 && (p[4] == OPTIONS || p[4] == STARTUP)))
		return false;
	s = redact_own(c, REDACT_cassandra, sizeof(*s));
	if (!s)
		return false;
	s->known = true;
	s->client = c->dir;
	resume(s, c);
	return true;
}

bool redact_cassandra(struct redact_call *c)
{
	struct cassandra *s = redact_has(c, REDACT_cassandra);

	if (!s && !recognise(c))
		return false;
	s = redact_has(c, REDACT_cassandra);
	if (s->client != c->dir)
		return true;
	if ((*c->conn)->side[c->dir].next != c->pos && c->pos)
		s->in_step = false;
	if (!s->in_step)
		resume(s, c);
	if (s->in_step || c->sql)
		walk(s, c);
	return true;
}
