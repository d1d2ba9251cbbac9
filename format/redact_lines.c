/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines whose rest is secret: header fields by their names (RFC 9110), folded ones too (RFC 9112
 * 5.2), and Redis' inline commands. */
#include "redact_conn.h"
#include "redact_inline.h"
#include "redact_spots.h"

/* By their first four characters, as which a line is told; in lower case; a space stands for any
 * number of spaces and tabs. */
#define BEGINNINGS(X)                                                                              \
	X("auth", "authorization:")                                                                \
	X("prox", "proxy-authorization:")                                                          \
	X("cook", "cookie:")                                                                       \
	X("set-", "set-cookie:")                                                                   \
	X("x-ap", "x-api-key:")                                                                    \
	X("x-au", "x-auth-token:")

/* What a message begins with. */
#define METHODS(X)                                                                                 \
	X("GET ")                                                                                  \
	X("HTTP/1.")                                                                               \
	X("HEAD ")                                                                                 \
	X("POST ")                                                                                 \
	X("PUT ")                                                                                  \
	X("PATCH ")                                                                                \
	X("DELETE ")                                                                               \
	X("OPTIONS ")                                                                              \
	X("CONNECT ")                                                                              \
	X("TRACE ")

enum { UNDECIDED = REDACT_UNDECIDED, SOON_SZ = 4 };

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

/* The same, of several. */
static int match_any(const char *const texts[], const uint8_t *p, size_t sz)
{
	bool undecided = false;

	for (; *texts; texts++) {
		int at = match(*texts, p, sz);

		if (at > 0)
			return at;
		undecided |= at == UNDECIDED;
	}
	/* A token that could not be carried is none that matters. */
	return undecided && sz <= CARRY_MAX ? UNDECIDED : 0;
}

/* A line's first characters. Letters become small ones, some other characters become others. */
static inline uint32_t start_of(const void *p)
{
	uint32_t word;

	memcpy(&word, p, SOON_SZ);
	return word | 0x20202020;
}

/* A line's mark, of 64. The factor is one with which hardly a usual header field or command has
 * that of a secret or of a message. */
static inline unsigned mark_of(const void *p)
{
	return start_of(p) * 0xdfaa85d7u >> 26;
}

#define MARK(start, ...) | 1ULL << mark_of(start)
#define COMMANDS (0 REDACT_INLINE(MARK))
#define SECRETS (COMMANDS BEGINNINGS(MARK))
#define MESSAGES (0 METHODS(MARK))

static inline bool is_marked(const uint8_t *p, uint64_t marks)
{
	return marks >> mark_of(p) & 1;
}

/* Where a field's secret begins in a line, 0: nowhere; UNDECIDED. */
static int field_at(const uint8_t *p, size_t sz)
{
#define X(soon, ...) __VA_ARGS__,
	static const char *const all[] = {BEGINNINGS(X) NULL};
#undef X
	const uint8_t first = *p | 32;
	uint32_t start;

	if (sz < SOON_SZ)
#define X(soon, ...) || first == soon[0]
		return 0 BEGINNINGS(X) ? match_any(all, p, sz) : 0;
#undef X
	if (!is_marked(p, SECRETS))
		return 0;
	start = start_of(p);
#define X(soon, ...)                                                                               \
	if (start == start_of(soon)) {                                                             \
		static const char *const texts[] = {__VA_ARGS__, NULL};                            \
		return match_any(texts, p, sz);                                                    \
	}
	BEGINNINGS(X)
#undef X
	return 0;
}

/* The same of fields and commands. */
static int secret_at(const uint8_t *p, size_t sz)
{
	bool may_be = sz < SOON_SZ || is_marked(p, COMMANDS) || redact_is_quoted(p);
	int field = field_at(p, sz), command = may_be && field <= 0 ? redact_inline(p, sz) : 0;

	return command ? command : field;
}

static bool begins_message(const uint8_t *p, size_t sz)
{
	if (sz < SOON_SZ || !is_marked(p, MESSAGES))
		return false;
#define X(text)                                                                                    \
	if (!memcmp(p, text, SOON_SZ))                                                             \
		return sz >= sizeof(text) - 1 && !memcmp(p, text, sizeof(text) - 1);
	METHODS(X)
#undef X
	return false;
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
	bool nats = secret > SOON_SZ && (c->p[at + SOON_SZ - 1] | 32) == 'n';

	at += secret;
	return nats && c->p[at - 1] == '{' ? redact_nats(&s->json, c, at) : mask_rest(s, c, at);
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

/* May a line that begins so hold a secret, begin a message or, as an empty one, end its head? As
 * good as all others are told here. */
static inline bool is_of_note(const uint8_t *p, size_t sz, bool in_head)
{
	if (sz < SOON_SZ || redact_is_quoted(p))
		return true;
	return is_marked(p, in_head ? SECRETS : SECRETS | MESSAGES);
}

size_t redact_lines(struct redact_text *s, struct redact_call *c)
{
	struct redact_spots newlines = redact_spots(c->p, c->kept, '\n');
	size_t at = s->masking || s->gap || s->json.inside ? rest_of_line(s, c) : 0;
	size_t end = redact_spots_next(&newlines, at);

	for (; at < c->kept; at = end + 1, end = redact_spots_after(&newlines)) {
		int secret;

		if (!s->folds && !is_of_note(c->p + at, c->kept - at, s->in_head))
			continue;
		secret = s->folds && is_blank(c->p[at]) ? 1 : secret_at(c->p + at, c->kept - at);
		s->folds = false;
		if (secret == UNDECIDED)
			return at;
		if (secret) {
			at = mask_line(s, c, at, secret);
			end = redact_spots_next(&newlines, at);
			if (at == end)
				continue;
			/* a control character: on with the line */
		}
		if (!s->in_head)
			s->in_head = begins_message(c->p + at, c->kept - at);
		else if (end < c->kept && is_empty(c, at, end))
			s->in_head = false;
	}
	return c->kept;
}
