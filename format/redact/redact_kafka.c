/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks secrets of Kafka: the content of SaslAuthenticate and of requests for delegation tokens and
 * SCRAM passwords; responses that contain tokens; settings from the first one with a secret's name
 * on; after SaslHandshake version 0 the mechanism's raw tokens, which have only a length. The
 * client's requests are tracked from the first bytes of the connection, across calls, which may cut
 * them anywhere. After missing bytes, or when seen from its middle on, tracking starts at a call
 * that starts with such a request.
 */
#include "format/redact/redact_frames.h"

enum {
	SASL_HANDSHAKE = 17,
	ALTER_CONFIGS = 33,
	SASL_AUTHENTICATE = 36,
	CREATE_TOKEN = 38,
	RENEW_TOKEN = 39,
	EXPIRE_TOKEN = 40,
	DESCRIBE_TOKENS = 41,
	INCREMENTAL_ALTER = 44,
	ALTER_SCRAM = 51,
	KEY_MAX = 96, /* highest API key, with room for new ones; below ASCII letters */
	VERSION_MAX = 30,
	SECRET_VERSION_MAX = 2,
	CLIENT_MAX = 1024,
	LENGTH_SZ = 4,
	START_SZ = 8,	 /* and key 2, version 2 */
	HEAD_SZ = 14,	 /* START_SZ, correlation id 4, size of the client's name 2 */
	REQUEST_SZ = 10, /* of these, after the length */
	ANSWER_SZ = 8,	 /* length, correlation id */
	ANSWER_OPEN = 3, /* bytes of a response with tokens that may contain the error code */
	WANTED_MAX = 8,
};
#define FRAME_MAX (1u << 30)
#define CORRELATION_MAX (1u << 24)

enum raw { RAW_NOT, RAW_NEXT, RAW_PERHAPS };

/* One direction: its requests, and its responses to the other direction's requests. */
struct side {
	struct redact_frames frames, answers;
	enum raw raw;		     /* tokens without header may follow */
	uint32_t wanted[WANTED_MAX]; /* requests whose responses contain secrets */
	uint8_t wanted_cnt;
	bool settings; /* the request changes settings */
	struct redact_literal names;
};

struct kafka {
	struct side side[2];
};

static uint32_t be16(const uint8_t *p)
{
	return be_get(p, 2);
}

static uint32_t be32(const uint8_t *p)
{
	return be_get(p, 4);
}

/* The following functions examine the bytes after the length. */
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

/* Number of bytes after a header that are not secret: the client's name and the secret's length,
 * which has four bytes before version 2, and later tags and one byte. */
static uint32_t open_bytes(const uint8_t *p)
{
	uint32_t client = be16(p + 8) == 0xffff ? 0 : be16(p + 8);

	return client + (be16(p) == ALTER_SCRAM || be16(p + 2) >= 2 ? 2 : 4);
}

static bool sets(const uint8_t *p)
{
	return be16(p) == ALTER_CONFIGS || be16(p) == INCREMENTAL_ALTER;
}

/* Starts the rest of a frame, whose secret is `open` bytes after its header. */
static int begin(struct side *s, uint32_t open, bool secret)
{
	redact_frame(&s->frames, be32(s->frames.head) - (s->frames.head_sz - LENGTH_SZ), secret);
	s->frames.open = open;
	return 0;
}

/* Replaces the oldest entry when full, which clients do not reach. */
static void want(struct side *s, uint32_t correlation)
{
	if (s->wanted_cnt == WANTED_MAX) {
		memmove(s->wanted, s->wanted + 1, sizeof(s->wanted) - sizeof(*s->wanted));
		s->wanted_cnt--;
	}
	s->wanted[s->wanted_cnt++] = correlation;
}

static bool is_wanted(const struct side *asked, uint32_t correlation)
{
	for (unsigned i = 0; i < asked->wanted_cnt; i++)
		if (asked->wanted[i] == correlation)
			return true;
	return false;
}

/*
 * Reads the length; then, when a token is possible, enough bytes to distinguish it from a request.
 */
static int head(void *own, struct redact_frames *f, const struct redact_call *c)
{
	struct side *s = own;
	const uint8_t *p = f->head + LENGTH_SZ;
	uint32_t size = be32(f->head);

	(void)c;
	if (f->head_sz == LENGTH_SZ) {
		if (size > FRAME_MAX || (!s->raw && size < REQUEST_SZ))
			return FRAME_BAD;
		if (s->raw == RAW_NEXT || (s->raw && size < REQUEST_SZ)) {
			s->raw = RAW_PERHAPS;
			return begin(s, 0, true);
		}
		return (s->raw ? START_SZ : HEAD_SZ) - LENGTH_SZ;
	}
	if (f->head_sz == START_SZ)
		return is_start(p) ? HEAD_SZ - START_SZ : begin(s, 0, true);
	if (!is_head(p))
		return FRAME_BAD;
	if (be16(p) == CREATE_TOKEN || be16(p) == DESCRIBE_TOKENS)
		want(s, be32(p + 4));
	s->raw = be16(p) == SASL_HANDSHAKE && !be16(p + 2) ? RAW_NEXT : RAW_NOT;
	s->settings = sets(p);
	s->names = (struct redact_literal){.lost = true};
	return has_secret(p) ? begin(s, open_bytes(p), true) : begin(s, 0, s->settings);
}

/* Whether a call starts with a request that contains a secret, with or without its length. */
static bool starts(void *own, const struct redact_call *c)
{
	struct side *s = own;
	const uint8_t *p = c->p;

	s->raw = RAW_NOT;
	s->settings = false;
	if (!c->pos || (c->kept >= HEAD_SZ && (has_secret(p + LENGTH_SZ) || sets(p + LENGTH_SZ)) &&
			is_head(p + LENGTH_SZ) && be32(p) >= REQUEST_SZ && be32(p) <= FRAME_MAX))
		return true;
	/* Without its length, it is similar to DNS over TCP. */
	if (c->kept < REQUEST_SZ || !has_secret(p) || !is_head(p) ||
	    be16(p + 2) > SECRET_VERSION_MAX || !be16(p + 8) || be32(p + 4) >= CORRELATION_MAX)
		return false;
	redact_frame(&s->frames, c->len, true);
	s->settings = false;
	s->frames.open = REQUEST_SZ + open_bytes(p);
	return true;
}

/* Scans settings: names and values, each after its length, with a layout that depends on the
 * version. Everything after a secret's name is masked. */
static void body(void *own, struct redact_call *c, size_t at, size_t n)
{
	struct side *s = own;
	size_t open = s->frames.open < n ? s->frames.open : n;

	if (!s->settings) {
		redact_mask(c, at + open, at + n, '*');
		s->frames.open -= open;
		return;
	}
	for (; at < c->kept && n && !s->names.named; at++, n--)
		redact_secret_literal(&s->names, DIALECT_CQL, c->p[at]);
	redact_mask(c, at, at + n, '*');
}

static const struct redact_framing framing = {
	.head_sz = LENGTH_SZ,
	.head = head,
	.starts = starts,
	.body = body,
};

/* ---- responses: own is the side that sent the requests ---- */

static int answer_head(void *own, struct redact_frames *f, const struct redact_call *c)
{
	struct side *asked = own;
	uint32_t size = be32(f->head), correlation = be32(f->head + LENGTH_SZ);

	(void)c;
	if (size < ANSWER_SZ - LENGTH_SZ || size > FRAME_MAX)
		return FRAME_BAD;
	redact_frame(f, size - (ANSWER_SZ - LENGTH_SZ), is_wanted(asked, correlation));
	f->open = ANSWER_OPEN;
	return 0;
}

/* At the direction's first byte, or at an expected response, with or without its length. */
static bool answer_starts(void *own, const struct redact_call *c)
{
	return !c->pos || (c->kept >= ANSWER_SZ && is_wanted(own, be32(c->p + LENGTH_SZ)) &&
			   be32(c->p) >= ANSWER_SZ - LENGTH_SZ && be32(c->p) <= FRAME_MAX);
}

static const struct redact_framing answering = {
	.head_sz = ANSWER_SZ,
	.head = answer_head,
	.starts = answer_starts,
};

static void answers(struct kafka *k, struct redact_call *c)
{
	struct side *asked = &k->side[!c->dir];
	struct redact_frames *f = &k->side[c->dir].answers;

	if (!asked->frames.in_step && !asked->wanted_cnt)
		return;
	redact_frames(f, &answering, asked, c, 0);
	if (f->in_step || c->kept < LENGTH_SZ || !is_wanted(asked, be32(c->p)))
		return;
	redact_mask(c, LENGTH_SZ + ANSWER_OPEN, c->kept, '*');
}

/* ---- which connections ---- */

static bool is_of_use(const struct side *s)
{
	return s->frames.in_step || s->wanted_cnt;
}

/* Always returns false: other secrets in the messages are masked by the text scans. */
bool redact_kafka(struct redact_call *c)
{
	struct kafka *k = redact_has(c, REDACT_kafka);
	struct side made = {0}, *s = k ? &k->side[c->dir] : &made;

	redact_frames(&s->frames, &framing, s, c, 0);
	if (k)
		answers(k, c);
	if (k && !is_of_use(&k->side[0]) && !is_of_use(&k->side[1]))
		redact_disown(c, REDACT_kafka); /* not this protocol */
	if (k || !made.frames.in_step)
		return false;
	k = redact_own(c, REDACT_kafka, sizeof(*k));
	if (k)
		k->side[c->dir] = made;
	return false;
}
