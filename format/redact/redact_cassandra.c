/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks logins of Cassandra's native protocol (AUTH_RESPONSE) and statements that contain a secret
 * (redact_statement.c); with --redact=sql, literals and bound values. The client's bytes are
 * tracked from OPTIONS or STARTUP on, or from a call that starts with an envelope or a segment
 * containing one; after missing bytes, from the next such call.
 */
#include "format/redact/redact_frames.h"

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
	COMPRESSED = 1,
	HARMLESS = 2 | 16, /* flags that do not change a request: tracing, beta */
	SEGMENT_SIZE = 0x1ffff,
	SELF_CONTAINED = 0x20000,
	PACKED_HEAD = 8, /* of a compressed segment: contains a second length */
	PACKED_BITS = 17,
	OPCODE_AT = 4
};

struct cassandra {
	bool segmented; /* envelopes are in segments */
	bool sure;	/* a complete header was seen */
	unsigned client;
	struct redact_frames segments, envelopes;
	uint32_t at; /* offset in the body */
	uint32_t number, text_end, secret_from;
	struct redact_literal literal;
	bool packed, masks; /* packed: segment is compressed; masks: its rest is masked */
	enum { TOKEN, LITERALS_SZ, LITERALS } lz4;
	uint8_t literal_at;
};

static bool is_head(const uint8_t *p)
{
	return p[0] >= 3 && p[0] <= 5 && p[1] < 32 && p[4] < 16 && REQUESTS >> p[4] & 1 &&
	       be_get(p + 5, 4) <= LEN_MAX && p[2] < 128;
}

static uint32_t crc24(const uint8_t *p, unsigned sz)
{
	uint32_t crc = 0x875060;

	for (unsigned i = 0; i < sz * 8; i++) {
		crc ^= i % 8 ? 0 : (uint32_t)p[i / 8] << 16;
		crc = crc << 1 ^ (crc >> 23 & 1 ? 0x1974f0b : 0);
	}
	return crc & 0xffffff;
}

static bool is_segment(const uint8_t *p)
{
	return crc24(p, 3) == le_get(p + 3, 3);
}

static bool is_packed(const uint8_t *p)
{
	return crc24(p, 5) == le_get(p + 5, 3);
}

/* Whether a call starts with a segment that starts with an envelope. */
static bool begins_segment(const struct redact_call *c)
{
	return c->kept >= SEGMENT_HEAD + HEAD && is_head(c->p + SEGMENT_HEAD) && is_segment(c->p);
}

/* ---- envelopes ---- */

/* Whether the request has a statement's text or, with `sql`, bound values. */
static bool is_statement(unsigned opcode, bool sql)
{
	return opcode == QUERY || opcode == PREPARE || opcode == BATCH ||
	       (opcode == EXECUTE && sql);
}

static int envelope_head(void *own, struct redact_frames *f, const struct redact_call *c)
{
	struct cassandra *s = own;
	unsigned opcode = f->head[4];

	if (!is_head(f->head) || (!s->sure && opcode != OPTIONS && opcode != STARTUP))
		return FRAME_BAD;
	s->sure = true;
	s->at = s->number = s->text_end = s->secret_from = 0;
	s->literal = (struct redact_literal){0};
	return redact_frame(f, be_get(f->head + 5, 4),
			    opcode == AUTH_RESPONSE || is_statement(opcode, c->sql));
}

static uint8_t envelope_byte(struct cassandra *s, const struct redact_call *c, uint8_t ch)
{
	const uint8_t *head = s->envelopes.head;
	unsigned opcode = head[4], at = s->at++, skip = opcode == BATCH ? 4 : 0;

	if (s->secret_from && at >= s->secret_from)
		return '*';
	if (opcode == AUTH_RESPONSE) {
		s->secret_from = head[1] & COMPRESSED ? 1 : 4;
		return head[1] & COMPRESSED ? '*' : ch;
	}
	if (head[1] & ~HARMLESS) { /* compressed, or with a custom payload first */
		s->secret_from = 1;
		return '*';
	}
	if (opcode == BATCH && !c->sql) {
		s->literal.lost = true; /* the sizes of its statements are not parsed */
		return redact_secret_literal(&s->literal, DIALECT_CQL, ch);
	}
	/* Of a batch, the first statement is scanned and everything after it is masked. */
	if (opcode == BATCH && at == 3)
		s->literal.word = ch;
	if (at < skip)
		return ch;
	if (opcode == EXECUTE || (opcode == BATCH && !s->text_end && s->literal.word)) {
		if (at < skip + 2)
			s->number = s->number << 8 | ch;
		if (at == skip + 1) /* the id; of version 5 another; consistency */
			s->secret_from = at + 1 + s->number +
					 (opcode == BATCH ? 0
					  : head[0] < 5	  ? 2
							  : 20);
		return ch;
	}
	if (at < skip + 4) {
		s->number = s->number << 8 | ch;
		if (at == skip + 3) {
			s->text_end =
				at + 1 +
				(s->number < s->envelopes.left ? s->number : s->envelopes.left);
			s->literal = (struct redact_literal){0};
		}
		return ch;
	}
	if (at < s->text_end)
		return c->sql ? redact_literal(&s->literal, DIALECT_CQL, ch)
			      : redact_secret_literal(&s->literal, DIALECT_CQL, ch);
	if (opcode != PREPARE && (c->sql || s->literal.named))
		s->secret_from = s->text_end + (opcode == QUERY ? 2 : 0);
	return opcode == BATCH ? '*' : ch;
}

static void envelope_body(void *own, struct redact_call *c, size_t at, size_t n)
{
	struct cassandra *s = own;
	const uint8_t *head = s->envelopes.head;
	size_t end = at + n;

	if (!c->sql && !s->at && is_statement(head[4], false) && !(head[1] & ~HARMLESS) &&
	    at + s->envelopes.left <= c->len && !redact_names_secret(c->p + at, n)) {
		s->envelopes.secret = false;
		return;
	}
	for (; at < end; at++)
		redact_put(c, at, envelope_byte(s, c, c->p[at]));
}

static bool envelope_starts(void *own, const struct redact_call *c)
{
	(void)own;
	return c->kept >= HEAD && is_head(c->p);
}

/* Data after the response to STARTUP is in segments. */
static void envelope_end(void *own)
{
	struct cassandra *s = own;

	s->segmented |= s->envelopes.head[0] == 5 && s->envelopes.head[4] == STARTUP;
}

static void lost(void *own, struct redact_call *c, size_t from, size_t to)
{
	struct cassandra *s = own;

	if (s->sure)
		redact_mask(c, from, to, '*');
}

static const struct redact_framing envelopes = {
	.head_sz = HEAD,
	.head = envelope_head,
	.starts = envelope_starts,
	.body = envelope_body,
	.end = envelope_end,
	.lost = lost,
};

/* ---- segments ---- */

/* Parses the header of an uncompressed or compressed segment; the bytes after it show which. */
static int segment_head(void *own, struct redact_frames *f, const struct redact_call *c)
{
	struct cassandra *s = own;
	uint64_t word = le_get(f->head, 3);

	if (f->head_sz == SEGMENT_HEAD && !is_segment(f->head))
		return PACKED_HEAD - SEGMENT_HEAD;
	s->packed = f->head_sz == PACKED_HEAD;
	if (s->packed) {
		if (!is_packed(f->head))
			return FRAME_BAD;
		word = le_get(f->head, 5);
		redact_frame(f, (word & SEGMENT_SIZE) + CRC_SZ, true);
		s->packed = word >> PACKED_BITS & SEGMENT_SIZE; /* 0: stored uncompressed */
		word >>= PACKED_BITS;
	} else {
		redact_frame(f, (word & SEGMENT_SIZE) + CRC_SZ, true);
	}
	s->lz4 = TOKEN;
	s->literal_at = 0;
	s->masks = !(word & SELF_CONTAINED);
	if (word & SELF_CONTAINED)
		redact_frames_begin(&s->envelopes, 0);
	return 0;
}

/*
 * LZ4: a token, the number of literals, the literals. No four bytes of an envelope's header repeat
 * before its opcode, so the opcode is a literal. Everything after the header of an envelope with
 * secrets is masked.
 */
static void packed_body(struct cassandra *s, struct redact_call *c, size_t at, size_t n)
{
	for (size_t i = at; i < at + n; i++) {
		uint8_t ch = c->p[i];

		if (s->lz4 == TOKEN) {
			s->lz4 = ch >> 4 == 15 ? LITERALS_SZ : LITERALS;
		} else if (s->lz4 == LITERALS_SZ) {
			s->lz4 = ch == UINT8_MAX ? LITERALS_SZ : LITERALS;
		} else if (s->literal_at < HEAD) {
			if (s->literal_at++ == OPCODE_AT)
				s->masks |= ch == AUTH_RESPONSE || is_statement(ch, c->sql);
		} else if (s->masks) {
			redact_mask(c, i, i + 1, '*');
		}
	}
}

static void segment_body(void *own, struct redact_call *c, size_t at, size_t n)
{
	struct cassandra *s = own;

	if (s->packed) {
		packed_body(s, c, at, n);
		return;
	}
	if (!s->envelopes.in_step && n >= HEAD && is_head(c->p + at))
		redact_frames_begin(&s->envelopes, 0);
	redact_frames_part(&s->envelopes, &envelopes, s, c, at, at + n);
}

static void segment_unseen(void *own, uint64_t n)
{
	struct cassandra *s = own;
	uint64_t left = s->segments.left + n, open = left > CRC_SZ ? left - CRC_SZ : 0;

	/* The position in the compressed data is not known. */
	s->lz4 = LITERALS;
	s->masks |= s->literal_at < HEAD;
	s->literal_at = HEAD;
	redact_frames_unseen(&s->envelopes, &envelopes, s, n < open ? n : open);
}

static bool segment_starts(void *own, const struct redact_call *c)
{
	struct cassandra *s = own;
	bool yes = c->kept >= SEGMENT_HEAD + HEAD && (is_segment(c->p) || is_packed(c->p));

	redact_frames_unseen(&s->envelopes, &envelopes, s, UINT64_MAX);
	return yes;
}

static const struct redact_framing segments = {
	.head_sz = SEGMENT_HEAD,
	.tail_sz = CRC_SZ,
	.head = segment_head,
	.starts = segment_starts,
	.body = segment_body,
	.unseen = segment_unseen,
	.lost = lost,
};

/* ---- which connections ---- */

/* Whether the client's first bytes may be OPTIONS or STARTUP. */
static bool may_begin(const struct redact_call *c)
{
	const uint8_t *p = c->p;
	size_t n = c->kept;

	if (c->pos || !n || p[0] < 3 || p[0] > 5 || (n > 1 && p[1] >= 32) || (n > 2 && p[2] >= 128))
		return false;
	return n <= OPCODE_AT || ((p[4] == OPTIONS || p[4] == STARTUP) && (n < HEAD || is_head(p)));
}

/* Recognises the client's first call, or one with a login. */
static bool recognise(struct redact_call *c)
{
	bool segment = begins_segment(c);
	const uint8_t *p = c->p + (segment ? SEGMENT_HEAD : 0);
	bool begins = may_begin(c);
	struct cassandra *s;

	if (!begins &&
	    (c->kept < HEAD || !is_head(p) || (!segment && be_get(p + 5, 4) + HEAD != c->len)))
		return false;
	if (!begins && p[4] != AUTH_RESPONSE && !segment && !c->sql)
		return false;
	s = redact_own(c, REDACT_cassandra, sizeof(*s));
	if (!s)
		return false;
	s->client = c->dir;
	s->segmented = segment;
	s->sure = !begins;
	redact_frames_begin(segment ? &s->segments : &s->envelopes, c->pos);
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
	if (!s->segmented && !s->envelopes.left && begins_segment(c)) {
		s->segmented = true;
		redact_frames_begin(&s->segments, c->pos);
	}
	if (s->segmented) {
		redact_frames(&s->segments, &segments, s, c, 0);
		return true;
	}
	redact_frames(&s->envelopes, &envelopes, s, c, 0);
	if (s->segmented)
		redact_frames_begin(&s->segments, c->pos + c->len);
	if (s->sure || s->envelopes.in_step)
		return s->sure;
	redact_disown(c, REDACT_cassandra); /* not this protocol */
	return false;
}
