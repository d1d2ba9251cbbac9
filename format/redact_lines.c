/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines whose rest is secret: header fields by their names (RFC 9110), folded ones too (RFC 9112
 * 5.2), and Redis' inline commands. */
#include "redact_conn.h"
#include "redact_spots.h"

/* In lower case; a space stands for any number of spaces and tabs. Of NATS' CONNECT: password,
 * token, jwt, signature. */
#define BEGINNINGS(X)                                                                              \
	X("authorization:")                                                                        \
	X("proxy-authorization:")                                                                  \
	X("cookie:")                                                                               \
	X("set-cookie:")                                                                           \
	X("x-api-key:")                                                                            \
	X("x-auth-token:")                                                                         \
	X("auth ")                                                                                 \
	X("hello 2 auth ")                                                                         \
	X("hello 3 auth ")                                                                         \
	X("acl setuser ")                                                                          \
	X("config set requirepass ")                                                               \
	X("config set masterauth ")                                                                \
	X("connect {")

enum { UNDECIDED = -1, SOON_SZ = 4 };

static bool is_blank(uint8_t ch)
{
	return ch == ' ' || ch == '\t';
}

static uint8_t lower(uint8_t ch)
{
	return ch >= 'A' && ch <= 'Z' ? ch | 32 : ch;
}

/* Where the secret begins in a line, 0: nowhere. UNDECIDED: the line is cut before it can tell. */
static int match(const char *w, const uint8_t *p, size_t sz)
{
	size_t i = 0;

	for (; *w; w++) {
		if (i == sz)
			return UNDECIDED;
		if (*w != ' ') {
			if (lower(p[i++]) != (uint8_t)*w)
				return 0;
			continue;
		}
		if (!is_blank(p[i]))
			return 0;
		/* What follows the last one is secret, whatever it is. */
		i++;
		while (w[1] && i < sz && is_blank(p[i]))
			i++;
	}
	return i;
}

/* Is it one of those capital, or small, letters whose bits are set? */
#define LETTER(ch) (1u << ((ch)&31))
#define METHODS                                                                                    \
	(LETTER('G') | LETTER('H') | LETTER('P') | LETTER('D') | LETTER('O') | LETTER('C') |       \
	 LETTER('T'))
#define LETTERS (LETTER('a') | LETTER('c') | LETTER('h') | LETTER('p') | LETTER('s') | LETTER('x'))
static inline bool is_among(uint8_t ch, uint32_t letters)
{
	return ch & 0x40 && letters >> (ch & 31) & 1;
}

/* By its first four bytes alone, as good as all other lines are told; `word`: these in lower case,
 * where a tab is no space. */
static inline __attribute__((always_inline)) bool soon(uint32_t word, const char *text)
{
	return (text[3] == ' ' ? word & 0xffffff : word) ==
	       ((uint32_t)text[0] | (uint32_t)text[1] << 8 | (uint32_t)text[2] << 16 |
		(text[3] == ' ' ? 0 : (uint32_t)text[3] << 24));
}

/* Where the secret begins in a line, 0: nowhere; UNDECIDED. */
static inline int secret_at(const uint8_t *p, size_t sz)
{
	bool undecided = false;
	uint32_t word;
	int at;

	if (!is_among(*p | 32, LETTERS))
		return 0;
	word = sz < SOON_SZ ? 0 : le_get(p, SOON_SZ) | 0x20202020;
#define X(text)                                                                                    \
	if (soon(word, text) || sz < SOON_SZ) {                                                    \
		at = match(text, p, sz);                                                           \
		if (at > 0)                                                                        \
			return at;                                                                 \
		undecided |= at == UNDECIDED;                                                      \
	}
	BEGINNINGS(X)
#undef X
	/* A token that could not be carried is none that matters. */
	return undecided && sz <= CARRY_MAX ? UNDECIDED : 0;
}

static bool is_start(const uint8_t *p, size_t sz, const char *start)
{
	size_t n = strlen(start);

	return sz >= n && !memcmp(p, start, n);
}

static bool is_message(const uint8_t *p, size_t sz)
{
	switch (*p) {
	case 'G':
		return is_start(p, sz, "GET ");
	case 'H':
		return is_start(p, sz, "HTTP/1.") || is_start(p, sz, "HEAD ");
	case 'P':
		return is_start(p, sz, "POST ") || is_start(p, sz, "PUT ") ||
		       is_start(p, sz, "PATCH ");
	case 'D':
		return is_start(p, sz, "DELETE ");
	case 'O':
		return is_start(p, sz, "OPTIONS ");
	case 'C':
		return is_start(p, sz, "CONNECT ");
	case 'T':
		return is_start(p, sz, "TRACE ");
	}
	return false;
}

static inline bool begins_message(const uint8_t *p, size_t sz)
{
	return sz && is_among(*p, METHODS) && is_message(p, sz);
}

/* Masks the rest of a line; returns where it ends, at its newline. No header field and no command
 * holds control characters: outside of a head they end what only looks like one. */
static size_t mask_rest(struct redact_text *s, struct redact_call *c, size_t at)
{
	size_t end = at;

	while (end < c->kept && c->p[end] != '\n' &&
	       (s->in_head || c->p[end] >= ' ' || c->p[end] == '\t' || c->p[end] == '\r'))
		end++;
	s->masking = end == c->kept;
	s->folds = end < c->kept && c->p[end] == '\n';
	redact_mask(c, at, end > at && c->p[end - 1] == '\r' ? end - 1 : end, '*');
	return end;
}

/* What a line's beginning of `secret` bytes makes secret; returns where that ends. */
static size_t mask_line(struct redact_text *s, struct redact_call *c, size_t at, size_t secret)
{
	at += secret;
	return c->p[at - 1] == '{' ? redact_nats(&s->json, c, at) : mask_rest(s, c, at);
}

/* The part of a line that earlier calls began; returns where the next line begins. */
static size_t rest_of_line(struct redact_text *s, struct redact_call *c)
{
	const uint8_t *nl;
	size_t end;

	if (s->masking || s->json.inside) {
		end = s->masking ? mask_rest(s, c, 0) : redact_nats(&s->json, c, 0);
		return end < c->kept && c->p[end] == '\n' ? end + 1 : end;
	}
	/* What was not seen may have begun a secret, unless a message begins here. */
	if (!s->gap || begins_message(c->p, c->kept)) {
		s->gap = false;
		return 0;
	}
	nl = memchr(c->p, '\n', c->kept);
	end = nl ? (size_t)(nl - c->p) : c->kept;
	redact_mask(c, 0, end && c->p[end - 1] == '\r' ? end - 1 : end, '*');
	s->gap = !nl;
	return nl ? end + 1 : end;
}

/* Is a line, up to `end`, empty? */
static inline bool is_empty(const struct redact_call *c, size_t at, size_t end)
{
	return end == at || (end == at + 1 && c->p[at] == '\r');
}

/* May a line that begins so hold a secret, begin a message or, as an empty one, end its head? */
static inline bool is_of_note(uint8_t ch, bool in_head)
{
	return is_among(ch, in_head ? LETTERS : LETTERS | METHODS) || ch == '\r' || ch == '\n';
}

size_t redact_lines(struct redact_text *s, struct redact_call *c)
{
	struct redact_spots newlines = redact_spots(c->p, c->kept, '\n');
	size_t at = s->masking || s->gap || s->json.inside ? rest_of_line(s, c) : 0, end;

	for (; at < c->kept; at = end + 1) {
		int secret;

		if (!s->folds && !is_of_note(c->p[at], s->in_head)) {
			end = redact_spots_next(&newlines, at);
			continue;
		}
		secret = s->folds && is_blank(c->p[at]) ? 1 : secret_at(c->p + at, c->kept - at);
		s->folds = false;
		if (secret == UNDECIDED)
			return at;
		if (secret) {
			end = mask_line(s, c, at, secret);
			if (end == c->kept || c->p[end] == '\n')
				continue;
			at = end; /* a control character: on with the line */
		}
		end = redact_spots_next(&newlines, at);
		if (!s->in_head)
			s->in_head = begins_message(c->p + at, c->kept - at);
		else if (end < c->kept && is_empty(c, at, end))
			s->in_head = false;
	}
	return c->kept;
}
