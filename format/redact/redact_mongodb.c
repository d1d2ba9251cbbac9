/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks logins of MongoDB: the payloads of saslStart and saslContinue, also inside hello, and of
 * their responses; the passwords of createUser and updateUser; the keys of authenticate and copydb
 * and of the response to usersInfo. Messages are tracked by their sizes; only those whose command
 * may contain a secret are scanned byte by byte. After missing bytes, until a call starts with a
 * message, everything that may be a secret is masked.
 */
#include "format/redact/redact_frames.h"

enum {
	HEADER_SZ = 16,
	MESSAGE_MAX = 48000000,
	OP_REPLY = 1,
	OP_QUERY = 2004,
	OP_COMPRESSED = 2012,
	OP_MSG = 2013,
	TAIL_SZ = 24, /* longer than the longest name */
	/* The body of OP_MSG: flags 4, kind 1, size 4, type 1, then the command's name. */
	KIND_AT = 4,
	TYPE_AT = 9,
};
enum look { FIRST, SCAN, SIZE, VALUE, COMPRESSOR };

struct side {
	struct redact_frames frames;
	uint8_t start[HEADER_SZ], start_sz; /* first header, incomplete */
	bool astray;			    /* not synchronized: missing bytes, or no header */
	enum look look;
	uint32_t off; /* offset in the body, before its command is known */
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

/* First fields of messages that may contain secrets. */
static const char *const commands[] = {"saslStart",	  "saslContinue",
				       "conversationId",  "createUser",
				       "updateUser",	  "hello",
				       "isMaster",	  "ismaster",
				       "helloOk",	  "isWritablePrimary",
				       "authenticate",	  "copydb",
				       "copydbsaslstart", "users",
				       "topologyVersion", NULL};

/* The opcode of replies is too small a number to recognise a connection by it. */
static bool is_header(const uint8_t *p, bool known)
{
	uint32_t op = le_get(p + 12, 4), size = le_get(p, 4);

	return size > HEADER_SZ && size <= MESSAGE_MAX &&
	       ((op > 2000 && op <= OP_MSG && op != 2003) || (known && op == OP_REPLY));
}

static bool ends(const struct side *s, const char *name)
{
	size_t n = strlen(name);

	return n <= TAIL_SZ && !memcmp(s->tail + TAIL_SZ - n, name, n);
}

/* Whether the string is a password or derived from one. */
static bool is_key(const struct side *s)
{
	static const char *const names[] = {"\2pwd",	   "\2key",  "\2storedKey",
					    "\2serverKey", "\2salt", "\2MONGODB-CR"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (ends(s, names[i]))
			return true;
	return false;
}

/* Called after a name's NUL. */
static void token(struct side *s)
{
	bool payload = ends(s, "\5payload") || ends(s, "\2payload");

	s->sasl |= ends(s, "copydbsaslstart") || ends(s, "saslStart") || ends(s, "saslContinue") ||
		   ends(s, "conversationId");
	if (!(payload && s->sasl) && !is_key(s))
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

	/* Its document may follow others: then everything is scanned. */
	if (off == KIND_AT && ch)
		s->look = SCAN;
	if (off < TYPE_AT)
		return;
	if (off == TYPE_AT || ch) {
		push(s, off == TYPE_AT ? 0 : ch);
		s->frames.secret = off <= TYPE_AT + TAIL_SZ;
		return;
	}
	for (size_t i = 0; commands[i]; i++)
		if (off - TYPE_AT - 1 == strlen(commands[i]) && ends(s, commands[i]))
			s->look = SCAN;
	s->frames.secret = s->look == SCAN;
	if (s->look == SCAN)
		token(s);
	push(s, 0);
}

/* The size of a string includes its NUL, which is not masked; that of a binary is followed by its
 * subtype. */
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

/* OP_COMPRESSED: opcode 4, size 4, compressor 1. Compressed messages contain no secret (MongoDB's
 * specification of compression), but need not be compressed. */
static void compressor_byte(struct side *s, uint8_t ch)
{
	if (s->off++ < 8)
		return;
	s->frames.secret = !ch;
	s->look = SCAN;
}

static uint8_t byte(void *own, const struct redact_call *c, uint8_t ch)
{
	struct side *s = own;

	(void)c;
	switch (s->look) {
	case FIRST:
		first_byte(s, ch);
		return ch;
	case COMPRESSOR:
		compressor_byte(s, ch);
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
	}
	return ch;
}

static int head(void *own, struct redact_frames *f, const struct redact_call *c)
{
	struct side *s = own;
	uint32_t op = le_get(f->head + 12, 4);

	(void)c;
	if (!is_header(f->head, true))
		return FRAME_BAD;
	s->look = op == OP_MSG ? FIRST : op == OP_COMPRESSED ? COMPRESSOR : SCAN;
	s->off = 0;
	s->astray = s->sasl = false;
	memset(s->tail, 0, sizeof(s->tail));
	return redact_frame(f, le_get(f->head, 4) - HEADER_SZ,
			    op == OP_MSG || op == OP_QUERY || op == OP_REPLY ||
				    op == OP_COMPRESSED);
}

static bool starts(void *own, const struct redact_call *c)
{
	(void)own;
	return c->kept >= HEADER_SZ && is_header(c->p, true);
}

/* Handles bytes without known context. */
static void lost(void *own, struct redact_call *c, size_t from, size_t to)
{
	struct side *s = own;

	if (!s->astray)
		s->look = SCAN;
	s->astray = s->sasl = true;
	for (size_t i = from; i < to; i++)
		redact_put(c, i, byte(s, c, c->p[i]));
}

static const struct redact_framing framing = {
	.head_sz = HEADER_SZ,
	.head = head,
	.starts = starts,
	.byte = byte,
	.lost = lost,
};

/* Recognises a header, collected from the first calls or at the start of any call. Returns the
 * number of bytes of the call that belong to it. */
static size_t recognise(struct redact_call *c)
{
	struct mongodb *m = redact_has(c, REDACT_mongodb);
	size_t had = m && c->pos == m->side[c->dir].start_sz ? c->pos : 0, n;
	uint8_t start[HEADER_SZ];
	struct redact_call early = {.p = start, .kept = HEADER_SZ};
	struct side *s;

	n = c->kept < HEADER_SZ - had ? c->kept : HEADER_SZ - had;
	if (!n)
		return SIZE_MAX;
	if (had)
		memcpy(start, m->side[c->dir].start, had);
	memcpy(start + had, c->p, n);
	if (m)
		m->side[c->dir].start_sz = 0;
	if (had + n == HEADER_SZ ? !is_header(start, false)
				 : c->pos != had || c->kept < c->len ||
					   (had + n >= 4 &&
					    (uint32_t)le_get(start, 4) - HEADER_SZ > MESSAGE_MAX))
		return SIZE_MAX;
	m = redact_own(c, REDACT_mongodb, sizeof(*m));
	if (!m)
		return SIZE_MAX;
	s = &m->side[c->dir];
	if (had + n < HEADER_SZ) {
		memcpy(s->start, start, had + n);
		s->start_sz = had + n;
		return SIZE_MAX;
	}
	m->known = true;
	redact_frames_begin(&s->frames, c->pos + n);
	redact_frames_part(&s->frames, &framing, s, &early, 0, HEADER_SZ);
	return n;
}

bool redact_mongodb(struct redact_call *c)
{
	struct mongodb *m = redact_has(c, REDACT_mongodb);
	size_t at = 0;

	if (!m || !m->known) {
		at = recognise(c);
		if (at == SIZE_MAX)
			return false;
		m = redact_has(c, REDACT_mongodb);
	}
	redact_frames(&m->side[c->dir].frames, &framing, &m->side[c->dir], c, at);
	return true;
}
