/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logins of memcached: what follows the mechanism's name in the binary protocol's SASL_AUTH and
 * SASL_STEP; in its text a `set` whose value is "user password" (memcached -Y), the first one, and
 * the next after each that the server refuses. It cannot be told from one that does not log in, so
 * a value that is no longer than a login, and may hold a space, is masked.
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
	LINES_MAX = 64, /* of other commands that nobody answers, in front of it */
};

/* The text of the first commands. */
struct set {
	bool inside;
	bool other;		/* in a command's line that is no set */
	uint8_t lines;		/* before */
	bool answer;		/* may say that the login failed */
	bool answered;		/* a part of a line */
	uint8_t letters, words; /* of "set"; behind it */
	bool blank, over;	/* between words; the value comes */
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

/* A byte of the command's line; false: it is none that logs in. */
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

/* Behind a value: until the server answers another may follow, behind the value's line. */
static void value_end(struct set *s)
{
	uint8_t lines = s->lines + 1;

	*s = (struct set){
		.inside = lines < LINES_MAX, .other = true, .answer = true, .lines = lines};
}

/* Returns where it ends, or the call. */
static size_t walk(struct set *s, struct redact_call *c, size_t at)
{
	size_t n;

	while (at < c->kept && s->inside && !s->over)
		s->inside = line_byte(s, c->p[at++]);
	if (!s->inside || !s->over)
		return c->kept;
	n = c->len - at < s->size ? c->len - at : s->size;
	/* Whole, and without a space, it is no login. */
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

/* May text begin so that is a client's? */
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

/* A server that wants a login refuses all else. */
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

/* False always: what else is secret in the messages that it carries is masked as well. */
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
	/* What was not seen of the line may be its end: not to be told any more. */
	if (s->set.inside && (*c->conn)->side[c->dir].next == c->pos)
		walk_all(&s->set, c);
	s->set.inside &= c->kept == c->len || s->set.over;
	redact_frames(&s->frames, &framing, s, c, 0);
	if (!s->set.inside && !s->set.answer && !s->frames.in_step)
		redact_disown(c, REDACT_memcached);
	return false;
}
