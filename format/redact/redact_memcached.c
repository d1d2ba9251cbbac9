/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks logins of memcached: the data after the mechanism's name in SASL_AUTH and SASL_STEP of the
 * binary protocol; in the text protocol the first `set`, whose value is "user password" (memcached
 * -Y), and the next one after each refusal by the server. It cannot be distinguished from a `set`
 * without login. Therefore a value is masked when it is no longer than a login and may contain a
 * space.
 */
#include <ctype.h>

#include "format/redact/redact_frames.h"

enum {
	HEAD_SZ = 24,
	REQUEST = 0x80,
	SASL_AUTH = 0x21,
	SASL_STEP = 0x22,
	LOGIN_MAX = 512,
	SIZE_WORD = 4,	/* set KEY FLAGS TIME SIZE */
	LINES_MAX = 64, /* maximum of unanswered commands before it */
};

/* State of parsing the first text commands. */
struct set {
	bool inside;
	bool other;		/* in a command line other than set */
	uint8_t lines;		/* lines before it */
	bool answer;		/* the response may contain a login failure */
	bool answered;		/* part of a response line was seen */
	uint8_t letters, words; /* letters of "set"; words after it */
	bool blank, over;	/* blank: between words; over: the value follows */
	uint32_t size;
};

struct memcached {
	unsigned client;
	struct redact_frames frames;
	struct set set;
};

static bool is_sasl(const uint8_t *p)
{
	return (p[1] == SASL_AUTH || p[1] == SASL_STEP) && !be_get(p + 4, 2);
}

static int head(void *own, struct redact_frames *f, const struct redact_call *c)
{
	(void)own;
	(void)c;
	if (f->head[0] != REQUEST)
		return FRAME_BAD;
	redact_frame(f, be_get(f->head + 8, 4), is_sasl(f->head));
	f->open = be_get(f->head + 2, 2);
	return 0;
}

static bool starts(void *own, const struct redact_call *c)
{
	(void)own;
	return c->p[0] == REQUEST && (!c->pos || (c->kept >= HEAD_SZ && is_sasl(c->p)));
}

static const struct redact_framing framing = {
	.head_sz = HEAD_SZ,
	.head = head,
	.starts = starts,
};

/* Processes a byte of the command line; false: not a login. */
static bool line_byte(struct set *s, uint8_t ch)
{
	static const char set[] = "set";

	if (s->other) {
		s->other = ch != '\n';
		return s->other || ++s->lines < LINES_MAX;
	}
	if (s->letters < sizeof(set) - 1) {
		s->other = ch != set[s->letters++];
		if (s->other)
			s->letters = 0;
		return !s->other || (ch != '\n' && line_byte(s, ch));
	}
	if (ch == '\n') {
		s->over = true;
		return s->words >= SIZE_WORD && s->size <= LOGIN_MAX;
	}
	if (ch == ' ' || ch == '\r') {
		s->blank = true;
		return true;
	}
	if (!s->words && !s->blank)
		return false;
	s->words += s->blank && s->words < UINT8_MAX;
	s->blank = false;
	if (s->words != SIZE_WORD)
		return ch > ' ';
	s->size = s->size * 10 + ch - '0';
	return isdigit(ch) && s->size <= LOGIN_MAX;
}

/* After the line of a value: another one may follow until the server responds. */
static void value_end(struct set *s)
{
	uint8_t lines = s->lines + 1;

	*s = (struct set){
		.inside = lines < LINES_MAX, .other = true, .answer = true, .lines = lines};
}

/* Returns its end or the end of the call. */
static size_t walk(struct set *s, struct redact_call *c, size_t at)
{
	size_t n;

	while (at < c->kept && s->inside && !s->over)
		s->inside = line_byte(s, c->p[at++]);
	if (!s->inside || !s->over)
		return c->kept;
	n = c->len - at < s->size ? c->len - at : s->size;
	/* A complete value without a space is not a login. */
	if (!at || n < s->size || at + n > c->kept || memchr(c->p + at, ' ', n))
		redact_mask(c, at, at + n, '*');
	s->size -= n;
	if (!s->size)
		value_end(s);
	return at + n;
}

static void walk_all(struct set *s, struct redact_call *c)
{
	for (size_t at = 0; at < c->kept && s->inside;)
		at = walk(s, c, at);
}

/* Whether the text may be from a client. */
static bool begins_text(const struct redact_call *c)
{
	static const char *const commands[] = {"set ",	    "get",    "version", "stats",
					       "verbosity", "mn",     "incr",	 "decr",
					       "delete ",   "touch ", "add ",	 "me "};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		size_t n = strlen(commands[i]);

		if (!strncmp((const char *)c->p, commands[i], c->kept < n ? c->kept : n))
			return true;
	}
	return false;
}

/* A server that requires a login refuses all other commands. */
static void answer(struct set *s, const struct redact_call *c)
{
	bool goes_on = s->answered;

	s->answered = c->p[c->kept - 1] != '\n';
	if (goes_on)
		return;
	if (c->p[0] != 'C') /* CLIENT_ERROR */
		*s = (struct set){0};
	else if (s->answer)
		*s = (struct set){.inside = true, .answered = s->answered};
}

/* Always returns false: other secrets in the messages are masked by the text scans. */
bool redact_memcached(struct redact_call *c)
{
	struct memcached *s = redact_has(c, REDACT_memcached);

	if (!s && (starts(NULL, c) || (!c->pos && begins_text(c)))) {
		s = redact_own(c, REDACT_memcached, sizeof(*s));
		if (!s)
			return false;
		s->client = c->dir;
		s->set.inside = c->p[0] != REQUEST;
	}
	if (!s)
		return false;
	if (s->client != c->dir) {
		if (c->kept)
			answer(&s->set, c);
		return false;
	}
	/* The missing bytes may contain the end of the line: no longer decidable. */
	if (s->set.inside && (*c->conn)->side[c->dir].next == c->pos)
		walk_all(&s->set, c);
	s->set.inside &= c->kept == c->len || s->set.over;
	redact_frames(&s->frames, &framing, s, c, 0);
	if (!s->set.inside && !s->set.answer && !s->frames.in_step)
		redact_disown(c, REDACT_memcached);
	return false;
}
