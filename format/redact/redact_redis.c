/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks secrets of Redis (RESP): AUTH [user] password, also inside HELLO and MIGRATE; secret
 * settings in CONFIG SET and in the response to CONFIG GET; ACL SETUSER user >password and the
 * response to ACL GETUSER; SENTINEL SET auth-pass.
 */
#include <ctype.h>
#include <strings.h>

#include "format/redact/redact_conn.h"
#include "format/redact/redact_inline.h"
#include "format/redact/redact_spots.h"

enum { DIGITS_MAX = 9, WORD_MIN = 4, WORD_MAX = 32, ALL = UINT8_MAX, ARRAY = ALL - 1 };

/* Words after which bulk strings are secret. */
static const struct {
	const char *text;
	uint8_t sz, secrets;
} words[] = {
#define WORD(text, secrets)                                                                        \
	{                                                                                          \
		text, sizeof(text) - 1, secrets                                                    \
	}
	WORD("auth", 2),
	WORD("auth2", 2),
	WORD("setuser", ALL),
	WORD("passwords", ARRAY),
#undef WORD
};

enum { OTHER = -1, CUT = -2 };

/* Parses "$N\r\n": returns N and moves *at after it. */
static inline long bulk_size(const struct redact_call *c, size_t *at)
{
	const uint8_t *p = c->p + *at;
	size_t i = *at + 1;
	long n = 0;

	/* The common case. */
	if (*at + 4 <= c->kept && p[0] == '$' && p[1] >= '0' && p[1] <= '9' && p[2] == '\r' &&
	    p[3] == '\n') {
		*at += 4;
		return p[1] - '0';
	}
	if (*at >= c->kept)
		return CUT;
	if (c->p[*at] != '$')
		return OTHER;
	for (; i < c->kept && c->p[i] >= '0' && c->p[i] <= '9' && i - *at <= DIGITS_MAX; i++)
		n = n * 10 + c->p[i] - '0';
	if (i == *at + 1 && i < c->kept)
		return OTHER;
	if (i == c->kept || (c->p[i] == '\r' && i + 1 == c->kept))
		return CUT;
	if (c->p[i] != '\r' || c->p[i + 1] != '\n')
		return OTHER;
	*at = i + 2;
	return n;
}

/* Masks the following secret bulk strings. Returns their end, or the start of an incomplete one. */
static size_t mask_bulks(struct redact_text *s, struct redact_call *c, size_t at)
{
	while (s->secrets) {
		size_t begin = at;
		long n = bulk_size(c, &at);

		if (n == CUT)
			return begin;
		if (n == OTHER) {
			s->secrets = 0;
			return begin;
		}
		s->secrets--;
		redact_mask(c, at, at + n, '*');
		at += n + 2;
	}
	return at;
}

/* Whether a word may be one of these or a setting's name, by its last two characters; rules out
 * nearly all others. With names of --redact-names, any word may be one. */
static bool may_be_word(const uint8_t *end)
{
	uint16_t tail = (end[-2] | 32) << 8 | (end[-1] | 32);

	switch (tail) {
#define TAIL(a, b) case (a) << 8 | (b):
		TAIL('t', 'h') /* auth, masterauth */
		TAIL('h', '2' | 32)
		TAIL('e', 'r') /* setuser, masteruser */
		TAIL('d', 's') /* passwords */
		TAIL('s', 's') /* requirepass and others with this end */
		TAIL('r', 'd') /* password */
		TAIL('w', 'd')
		TAIL('e', 'n') /* token */
		TAIL('e', 't') /* secret */
		TAIL('e', 'y') /* api_key */
#undef TAIL
		return true;
	}
	return false;
}

/* Number of secret bulk strings after the word of size n at `at`; of an incomplete word: of the
 * words it may become. */
static unsigned secrets_after(const struct redact_call *c, size_t at, size_t n)
{
	size_t have = c->kept - at < n ? c->kept - at : n;
	char name[WORD_MAX];

	if (have == n && !may_be_word(c->p + at + n))
		return 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (n == words[i].sz && !strncasecmp((const char *)c->p + at, words[i].text, have))
			return words[i].secrets;
	if (have < n)
		return 1;
	for (size_t i = 0; i < n; i++)
		name[i] = tolower(c->p[at + i]);
	return redact_is_redis_secret(name, n);
}

/* After a word of an array, whose header has the count: CUT, or the start of its first string. */
static long array(const struct redact_call *c, size_t at, unsigned *secrets)
{
	unsigned n = 0;

	*secrets = 0;
	if (at == c->kept)
		return CUT;
	if (c->p[at] != '*' && c->p[at] != '~')
		return at;
	for (at++; at < c->kept && isdigit(c->p[at]); at++)
		n = n < ALL ? n * 10 + c->p[at] - '0' : ALL;
	if (at + 2 > c->kept)
		return CUT;
	*secrets = n < ALL ? n : ALL;
	return at + 2;
}

/* Finds the next bulk string, from `at` on, whose word makes others secret. Returns its start, or
 * that of an incomplete one, else the end of the text; *behind: start of the secret ones. */
static size_t find_word(struct redact_text *s, struct redact_call *c, struct redact_spots *dollars,
			size_t at, size_t *behind)
{
	size_t begin;

	while ((begin = redact_spots_next(dollars, at)) < c->kept) {
		size_t word = begin;
		bool starts = !begin || c->p[begin - 1] == '\n';
		long n = starts ? bulk_size(c, &word) : OTHER;
		unsigned secrets;

		if (n == CUT)
			return begin;
		at = n == OTHER ? begin + 1 : word;
		if (n < WORD_MIN || n > WORD_MAX)
			continue;
		secrets = secrets_after(c, word, n);
		if (!secrets)
			continue;
		if (word + n + 2 <= c->kept) {
			long from = word + n + 2;

			from = secrets == ARRAY ? array(c, from, &secrets) : from;
			if (from != CUT && !secrets)
				continue;
			s->secrets = from == CUT ? 0 : secrets;
			*behind = from;
		}
		return begin;
	}
	return c->kept;
}

/* After missing bytes: start of the next command or response; bytes before it may be the rest of a
 * secret. */
static size_t resync(struct redact_text *s, struct redact_call *c)
{
	static const char *const answers[] = {"+OK\r\n", "+PONG\r\n", "+QUEUED\r\n", "-ERR ",
					      "$-1\r\n"};
	const uint8_t *p = c->p, *end = c->p + c->kept;
	size_t at = 0;

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (c->kept >= strlen(answers[i]) && !memcmp(p, answers[i], strlen(answers[i])))
			return s->unseen = 0;
	while (p && (p + 1 >= end || !strchr("*%$", *p) || !isdigit(p[1]))) {
		p = memchr(p, '\n', end - p);
		p = p && p + 1 < end ? p + 1 : NULL;
	}
	at = p ? (size_t)(p - c->p) : c->kept;
	redact_mask(c, 0, at < 2 || !p ? at : at - 2, '*');
	if (p)
		s->unseen = 0;
	return at;
}

/* The state between calls is the number of following secrets and the position of the next one's
 * header. */
size_t redact_bulks(struct redact_text *s, struct redact_call *c, uint64_t pos)
{
	struct redact_spots dollars;
	size_t at = 0, end;

	if (pos >= s->unseen || redact_begins_message(c->p, c->kept))
		s->unseen = 0;
	if (s->unseen) {
		s->secrets = 0;
		s->bulk_at = 0;
		at = resync(s, c);
	}
	if (s->bulk_at <= pos && !s->secrets && !memchr(c->p, '$', c->kept))
		return c->kept;
	if (s->bulk_at > pos) {
		uint64_t until = s->bulk_at - pos;

		/* The rest of a value, then two bytes, then the next header. */
		redact_mask(c, 0, until < 2 ? 0 : until - 2, '*');
		if (until >= c->kept)
			return c->kept;
		at = until;
	}
	dollars = redact_spots(c->p, c->kept, '$');
	while (at < c->kept) {
		if (!s->secrets) {
			end = find_word(s, c, &dollars, at, &at);
			if (!s->secrets)
				return end;
		}
		at = mask_bulks(s, c, at);
		if (at >= c->kept)
			s->bulk_at = pos + at;
		else if (s->secrets) /* an incomplete header */
			return at;
	}
	return c->kept;
}
