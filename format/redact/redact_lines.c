/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines whose rest is secret: header fields by their names (RFC 9110; redact_names.def), folded
 * ones too (RFC 9112 5.2), and Redis' inline commands. */
#include "format/redact/redact_conn.h"
#include "format/redact/redact_hits.h"
#include "format/redact/redact_inline.h"

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
#define SECRETS (0 REDACT_INLINE(MARK))
#define MESSAGES (0 METHODS(MARK))

static inline bool is_marked(const uint8_t *p, uint64_t marks)
{
	return marks >> mark_of(p) & 1;
}

bool redact_begins_message(const uint8_t *p, size_t sz)
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
	if (!s->gap || redact_begins_message(c->p, c->kept)) {
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

/* ---- header fields ---- */

/* RFC 9110 5.6.2 */
static const uint8_t tokens[256] = {
	['!'] = 1,	   ['#' ... '\''] = 1, ['*'] = 1,	  ['+'] = 1, ['-'] = 1, ['.'] = 1,
	['0' ... '9'] = 1, ['A' ... 'Z'] = 1,  ['^' ... 'z'] = 1, ['|'] = 1, ['~'] = 1,
};

static inline bool is_token(uint8_t ch)
{
	return tokens[ch];
}

static size_t blanks(const uint8_t *p, size_t at, size_t end)
{
	while (at < end && is_blank(p[at]))
		at++;
	return at;
}

/* Is a line, up to its colon, a secret's name? Blanks around it are an error that servers forgive.
 */
static bool is_secret_name(const uint8_t *p, size_t at, size_t colon)
{
	size_t begin;

	while (colon > at && is_blank(p[colon - 1]))
		colon--;
	begin = blanks(p, at, colon);
	/* Behind tokens there may be others; ends are enough. */
	for (size_t i = begin; i < colon; i++)
		if (!is_token(p[i]))
			return false;
	return redact_name_where((const char *)p + begin, colon - begin) & REDACT_IN_HEADER;
}

/* The same of a line that the call's end cuts before it has a colon: may it get one? */
static bool may_be_name(const struct redact_call *c, size_t at, bool in_head)
{
	/* Of a long one its end is enough. */
	if (c->kept - at > CARRY_MAX && !in_head)
		return false;
	if (c->kept - at > CARRY_MAX)
		at = c->kept - CARRY_MAX;
	/* or an answer's first line */
	if (!memcmp(c->p + at, "HTTP/1.", c->kept - at < 7 ? c->kept - at : 7))
		return c->kept - at < 7;
	at = blanks(c->p, at, c->kept);
	for (size_t i = at; i < c->kept; i++)
		if (!is_token(c->p[i]) && !is_blank(c->p[i]))
			return c->p[i] == '\r' && i == at; /* or the head's end */
	return true;
}

/* Where a field's secret value begins in the line up to `end`, 0: nowhere; UNDECIDED. *hit: the
 * next in the call. */
static inline int field_at(const struct redact_call *c, size_t at, size_t end, bool in_head,
			   struct redact_hits *hits, size_t *hit)
{
	const uint8_t *colon;

	if (*hit < at)
		*hit = redact_hits_next(hits, at);
	if (*hit < end) {
		colon = memchr(c->p + at, ':', end - at);
		if (colon)
			return is_secret_name(c->p, at, colon - c->p) ? colon + 1 - c->p - at : 0;
	}
	return end == c->kept && may_be_name(c, at, in_head) ? UNDECIDED : 0;
}

/* May a line that begins so hold a secret, begin a message or, as an empty one, end its head? As
 * good as all others are told here. */
static inline bool is_of_note(const uint8_t *p, size_t sz, bool in_head)
{
	if (sz < SOON_SZ || redact_is_quoted(p))
		return true;
	return is_marked(p, in_head ? SECRETS : SECRETS | MESSAGES);
}

/* Of two looks at a line: what one of them knows. */
static int more_of(int a, int b)
{
	return a > 0 || (a && b <= 0) ? a : b;
}

/* A field's rest, or its whole line: text up to a newline, and behind it another field, or the
 * head's end, or nothing. */
bool redact_is_cut_field(const uint8_t *p, size_t sz)
{
	const uint8_t *nl = memchr(p, '\n', sz);
	size_t end = nl ? (size_t)(nl - p) : sz, at = end + 1;

	if (!sz || redact_begins_message(p, sz) || memchr("+-:$*", *p, 5))
		return false;
	for (size_t i = 0; i < end; i++)
		if (p[i] < ' ' && !is_blank(p[i]) && (p[i] != '\r' || i + 1 < end))
			return false;
	if (at >= sz || p[at] == '\r' || p[at] == '\n')
		return true;
	while (at < sz && is_token(p[at]))
		at++;
	return at == sz || (at > end + 1 && p[at] == ':');
}

size_t redact_lines(struct redact_text *s, struct redact_call *c, size_t hit)
{
	struct redact_spots newlines = redact_spots(c->p, c->kept, '\n');
	struct redact_hits hits = redact_hits(c->p, c->kept, hit);
	size_t at = s->masking || s->gap || s->json.inside ? rest_of_line(s, c) : 0;
	size_t end = redact_spots_next(&newlines, at);

	/* A field's line that is known already. */
	if (s->mid && !at) {
		at = end + 1;
		end = redact_spots_next(&newlines, at);
	}
	s->mid = false;
	for (; at < c->kept; at = end + 1, end = redact_spots_after(&newlines)) {
		int secret;

		secret = field_at(c, at, end, s->in_head, &hits, &hit);
		if (!secret && !s->folds && !is_of_note(c->p + at, c->kept - at, s->in_head))
			continue;
		if (s->folds && is_blank(c->p[at]))
			secret = 1;
		else if (secret <= 0)
			secret = more_of(secret, redact_inline(c->p + at, c->kept - at));
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
			s->in_head = redact_begins_message(c->p + at, c->kept - at);
		else if (end < c->kept && is_empty(c, at, end))
			s->in_head = false;
	}
	s->mid = s->in_head && c->kept && c->p[c->kept - 1] != '\n';
	return c->kept;
}
