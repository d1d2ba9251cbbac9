/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logins of memcached: what follows the mechanism's name in the binary protocol's SASL_AUTH and
 * SASL_STEP; in its text the first command, a `set` whose value is "user password" (memcached -Y).
 * A first `set` cannot be told from one that logs in, so a value that is no longer than a login,
 * and may hold a space, is masked.
 */
#include <ctype.h>

#include "redact_frames.h"

enum {
	HEAD_SZ = 24,
	REQUEST = 0x80,
	SASL_AUTH = 0x21,
	SASL_STEP = 0x22,
	LOGIN_MAX = 512,
	SIZE_WORD = 4, /* set KEY FLAGS TIME SIZE */
};

/* The text of the first command. */
struct set {
	bool inside;
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

	if (s->letters < sizeof(set) - 1)
		return ch == set[s->letters++];
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

static void walk(struct set *s, struct redact_call *c)
{
	size_t at = 0, n;

	while (at < c->kept && s->inside && !s->over)
		s->inside = line_byte(s, c->p[at++]);
	if (!s->inside || !s->over)
		return;
	n = c->len - at < s->size ? c->len - at : s->size;
	/* Whole, and without a space: no login. */
	if (at && n == s->size && at + n <= c->kept && !memchr(c->p + at, ' ', n)) {
		s->inside = false;
		return;
	}
	redact_mask(c, at, at + n, '*');
	s->size -= n;
	s->inside = s->size;
}

/* False always: what else is secret in the messages that it carries is masked as well. */
bool redact_memcached(struct redact_call *c)
{
	struct memcached *s = redact_has(c, REDACT_memcached);

	if (!s && (starts(NULL, c) || (!c->pos && c->p[0] == 's'))) {
		s = redact_own(c, REDACT_memcached, sizeof(*s));
		if (!s)
			return false;
		s->client = c->dir;
		s->set.inside = c->p[0] == 's';
	}
	if (!s || s->client != c->dir)
		return false;
	/* What was not seen of the line may be its end: not to be told any more. */
	if (s->set.inside && (*c->conn)->side[c->dir].next == c->pos)
		walk(&s->set, c);
	s->set.inside &= c->kept == c->len || s->set.over;
	redact_frames(&s->frames, &framing, s, c, 0);
	if (!s->set.inside && !s->frames.in_step)
		redact_disown(c, REDACT_memcached);
	return false;
}
