/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logins of MongoDB: the payloads of saslStart and saslContinue, also inside of hello, and of their
 * answers; the passwords of createUser and updateUser. Messages are followed by their sizes; only
 * those whose command may carry a secret are looked into, byte by byte. Where bytes were not seen,
 * and until a call begins with a message, whatever could be a secret is masked.
 */
#include "redact_impl.h"

enum {
	HEADER_SZ = 16,
	MESSAGE_MAX = 48000000,
	OP_REPLY = 1,
	OP_QUERY = 2004,
	OP_COMPRESSED = 2012,
	OP_MSG = 2013,
	TAIL_SZ = 24, /* longer than the longest name */
	/* In the body of OP_MSG: flags 4, kind 1, size 4, type 1, then the command's name. */
	KIND_AT = 4,
	TYPE_AT = 9,
};
enum look { PASS, FIRST, SCAN, SIZE, VALUE, BLIND };

struct side {
	bool in_step;
	uint8_t head[HEADER_SZ], head_sz;
	uint64_t left; /* of the message */
	enum look look;
	uint32_t off; /* in the body, before its command is known */
	bool sasl;    /* a payload is secret */
	uint8_t tail[TAIL_SZ];
	bool binary;
	uint8_t size_sz;
	uint32_t size;
};

struct mongodb {
	bool known;
	struct side side[2];
};

/* First fields of messages that may carry secrets. */
static const char *const commands[] = {"saslStart",
				       "saslContinue",
				       "conversationId",
				       "createUser",
				       "updateUser",
				       "hello",
				       "isMaster",
				       "ismaster",
				       "helloOk",
				       "isWritablePrimary",
				       "authenticate",
				       "topologyVersion",
				       NULL};

static uint32_t le32(const uint8_t *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Replies' opcode is too small a number to tell a connection by. */
static bool is_header(const uint8_t *p, bool known)
{
	uint32_t op = le32(p + 12), size = le32(p);

	return size > HEADER_SZ && size <= MESSAGE_MAX &&
	       ((op > 2000 && op <= OP_MSG && op != 2003) || (known && op == OP_REPLY));
}

static bool ends(const struct side *s, const char *name)
{
	size_t n = strlen(name);

	return n <= TAIL_SZ && !memcmp(s->tail + TAIL_SZ - n, name, n);
}

/* Behind a name's NUL. */
static void token(struct side *s)
{
	bool payload = ends(s, "\5payload") || ends(s, "\2payload");

	s->sasl |= ends(s, "saslStart") || ends(s, "saslContinue") || ends(s, "conversationId");
	if (!(payload && s->sasl) && !ends(s, "\2pwd") && !ends(s, "\2key"))
		return;
	s->look = SIZE;
	s->binary = ends(s, "\5payload");
	s->size_sz = 0;
	s->size = 0;
}

static void push(struct side *s, uint8_t ch)
{
	memmove(s->tail, s->tail + 1, TAIL_SZ - 1);
	s->tail[TAIL_SZ - 1] = ch;
}

static void first_byte(struct side *s, uint8_t ch)
{
	uint32_t off = s->off++;

	if (off == KIND_AT && ch)
		s->look = PASS;
	if (off < TYPE_AT)
		return;
	if (off == TYPE_AT || ch) {
		push(s, off == TYPE_AT ? 0 : ch);
		if (off > TYPE_AT + TAIL_SZ)
			s->look = PASS;
		return;
	}
	s->look = PASS;
	for (size_t i = 0; commands[i]; i++)
		if (off - TYPE_AT - 1 == strlen(commands[i]) && ends(s, commands[i]))
			s->look = SCAN;
	if (s->look == SCAN)
		token(s);
	push(s, 0);
}

/* A string's size counts its NUL, which stays; a binary's kind stands between. */
static void size_byte(struct side *s, uint8_t ch)
{
	if (s->size_sz < 4)
		s->size |= (uint32_t)ch << 8 * s->size_sz;
	if (++s->size_sz < 4 + s->binary)
		return;
	s->size -= !s->binary && s->size;
	s->look = s->size ? VALUE : SCAN;
	push(s, 0);
}

static uint8_t one_byte(struct side *s, uint8_t ch)
{
	switch (s->look) {
	case FIRST:
		first_byte(s, ch);
		return ch;
	case SCAN:
		if (!ch)
			token(s);
		push(s, ch);
		return ch;
	case SIZE:
		size_byte(s, ch);
		return ch;
	case VALUE:
		if (!--s->size)
			s->look = SCAN;
		return '*';
	case BLIND:
		return '*';
	case PASS:
		break;
	}
	return ch;
}

static void begin_message(struct side *s)
{
	uint32_t op = le32(s->head + 12);

	s->in_step = true;
	s->head_sz = 0;
	s->left = le32(s->head) - HEADER_SZ;
	s->look = op == OP_MSG ? FIRST : op == OP_QUERY || op == OP_REPLY ? SCAN : PASS;
	s->off = 0;
	s->sasl = false;
	memset(s->tail, 0, sizeof(s->tail));
}

static void body(struct side *s, struct redact_call *c, size_t at, size_t n)
{
	for (size_t i = at; i < at + n && s->look != PASS; i++) {
		uint8_t ch = one_byte(s, c->p[i]);

		c->masked |= ch != c->p[i];
		c->p[i] = ch;
	}
}

static void walk(struct side *s, struct redact_call *c, size_t at)
{
	while (at < c->kept && s->in_step) {
		size_t n = s->left ? s->left : (size_t)HEADER_SZ - s->head_sz;

		if (n > c->kept - at)
			n = c->kept - at;
		if (s->left) {
			body(s, c, at, n);
			s->left -= n;
		} else {
			memcpy(s->head + s->head_sz, c->p + at, n);
			s->head_sz += n;
			s->in_step = s->head_sz < HEADER_SZ || is_header(s->head, true);
			if (s->in_step && s->head_sz == HEADER_SZ)
				begin_message(s);
		}
		at += n;
	}
	if (s->in_step)
		return;
	/* Nobody knows what this is of. */
	s->head_sz = 0;
	s->left = 0;
	s->sasl = true;
	if (s->look != SIZE && s->look != VALUE)
		s->look = SCAN;
	body(s, c, at, c->kept - at);
}

/* Bytes that were not seen. */
static void skip(struct side *s, uint64_t n)
{
	if (!n)
		return;
	if (!s->in_step || n > s->left) {
		s->in_step = false;
		s->look = SCAN;
		return;
	}
	s->left -= n;
	if (s->look != PASS)
		s->look = BLIND;
}

/* Told by a header, gathered from the first calls or at the beginning of any. Returns how much of
 * the call belongs to it. */
static size_t recognise(struct redact_call *c)
{
	struct mongodb *m = redact_has(c, REDACT_mongodb);
	uint8_t head[HEADER_SZ];
	size_t had = m ? m->side[c->dir].head_sz : 0, n;

	if (c->pos != had)
		had = 0;
	n = c->kept < HEADER_SZ - had ? c->kept : HEADER_SZ - had;
	if (!n)
		return SIZE_MAX;
	if (had)
		memcpy(head, m->side[c->dir].head, had);
	memcpy(head + had, c->p, n);
	if (m)
		m->side[c->dir].head_sz = 0;
	n += had;
	if (n == HEADER_SZ ? !is_header(head, false)
			   : c->pos != had || c->kept < c->len ||
				     (n >= 4 && le32(head) - HEADER_SZ > MESSAGE_MAX))
		return SIZE_MAX;
	m = redact_own(c, REDACT_mongodb, sizeof(*m));
	if (!m)
		return SIZE_MAX;
	memcpy(m->side[c->dir].head, head, n);
	m->side[c->dir].head_sz = n;
	if (n < HEADER_SZ)
		return SIZE_MAX;
	m->known = true;
	begin_message(&m->side[c->dir]);
	return n - had;
}

bool redact_mongodb(struct redact_call *c)
{
	struct mongodb *m = redact_has(c, REDACT_mongodb);
	struct side *s;
	size_t at = 0;

	if (!m || !m->known) {
		at = recognise(c);
		if (at == SIZE_MAX)
			return false;
		m = redact_has(c, REDACT_mongodb);
		s = &m->side[c->dir];
	} else {
		uint64_t next = (*c->conn)->side[c->dir].next;

		s = &m->side[c->dir];
		if (s->in_step)
			skip(s, c->pos < next ? UINT64_MAX : c->pos - next);
		if (!s->in_step && c->kept >= HEADER_SZ && is_header(c->p, true)) {
			s->in_step = true;
			s->left = s->head_sz = 0;
		}
	}
	walk(s, c, at);
	skip(s, c->len - c->kept);
	return true;
}
