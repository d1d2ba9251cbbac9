/* SPDX-License-Identifier: BSD-2-Clause */
/* Masks the rest of lines: header fields by their names (RFC 9110; redact_names.def), including
 * folded ones (RFC 9112 5.2), and inline commands of Redis. */
#include "format/redact/redact_conn.h"
#include "format/redact/redact_hits.h"
#include "format/redact/redact_inline.h"

/* Words that start a message. */
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

/* First characters of a line. Maps letters to lower case; also changes some other characters. */
static inline uint32_t start_of(const void *p)
{
	uint32_t word;

	memcpy(&word, p, SOON_SZ);
	return word | 0x20202020;
}

/* Hash of a line's start, 0..63. The factor was chosen so that few common header fields or commands
 * collide with those of a secret or of a message. */
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

/*
 * Masks the rest of a line and returns its end, the newline. Header fields and commands contain no
 * control characters: outside of a head, one ends the secret, because the line is not a field or
 * command.
 */
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

/* Masks what follows the first `secret` bytes of a line; returns its end. */
static size_t mask_line(struct redact_text *s, struct redact_call *c, size_t at, size_t secret)
{
	bool nats = secret > SOON_SZ && (c->p[at + SOON_SZ - 1] | 32) == 'n';

	at += secret;
	return nats && c->p[at - 1] == '{' ? redact_nats(&s->json, c, at) : mask_rest(s, c, at);
}

/* Continues a line from earlier calls; returns the start of the next line. */
static size_t rest_of_line(struct redact_text *s, struct redact_call *c)
{
	const uint8_t *nl;
	size_t end;

	if (s->masking || s->json.inside) {
		end = s->masking ? mask_rest(s, c, 0) : redact_nats(&s->json, c, 0);
		return end < c->kept && c->p[end] == '\n' ? end + 1 : end;
	}
	/* The missing bytes may contain the start of a secret, unless a message starts here. */
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

/* Whether a line, up to `end`, is empty. */
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

/* Whether a line, up to its colon, is a secret's name. Ignores blanks around it, which are an error
 * that servers accept. */
static bool is_secret_name(const uint8_t *p, size_t at, size_t colon)
{
	size_t begin;

	while (colon > at && is_blank(p[colon - 1]))
		colon--;
	begin = blanks(p, at, colon);
	/* Other tokens may precede it; comparing the end is sufficient. */
	for (size_t i = begin; i < colon; i++)
		if (!is_token(p[i]))
			return false;
	return redact_name_where((const char *)p + begin, colon - begin) & REDACT_IN_HEADER;
}

/* As is_secret_name(), for a line that is cut before its colon: whether it may become one. */
static bool may_be_name(const struct redact_call *c, size_t at, bool in_head)
{
	/* The end of a long one is sufficient. */
	if (c->kept - at > CARRY_MAX && !in_head)
		return false;
	if (c->kept - at > CARRY_MAX)
		at = c->kept - CARRY_MAX;
	/* or the first line of a response */
	if (!memcmp(c->p + at, "HTTP/1.", c->kept - at < 7 ? c->kept - at : 7))
		return c->kept - at < 7;
	at = blanks(c->p, at, c->kept);
	for (size_t i = at; i < c->kept; i++)
		if (!is_token(c->p[i]) && !is_blank(c->p[i]))
			return c->p[i] == '\r' && i == at; /* or the end of the head */
	return true;
}

/* Start of a field's secret value in the line up to `end`; 0: none; UNDECIDED. *hit: next hit of
 * the call. */
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

/* Whether a line with this start may contain a secret, start a message or, when empty, end its
 * head. Rules out nearly all other lines. */
static inline bool is_of_note(const uint8_t *p, size_t sz, bool in_head)
{
	if (sz < SOON_SZ || redact_is_quoted(p))
		return true;
	return is_marked(p, in_head ? SECRETS : SECRETS | MESSAGES);
}

/* Combines two results for a line. */
static int more_of(int a, int b)
{
	return a > 0 || (a && b <= 0) ? a : b;
}

/* Whether this is a field or its rest: text up to a newline, followed by another field, the end of
 * the head, or nothing. */
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

size_t redact_lines(struct redact_text *s, struct redact_call *c, struct redact_hits hits)
{
	struct redact_spots newlines = redact_spots(c->p, c->kept, '\n');
	size_t hit = redact_hits_first(&hits);
	size_t at = s->masking || s->gap || s->json.inside ? rest_of_line(s, c) : 0;
	size_t end = redact_spots_next(&newlines, at);

	/* A field that is already known. */
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
			/* a control character: continue with the line */
		}
		if (!s->in_head)
			s->in_head = redact_begins_message(c->p + at, c->kept - at);
		else if (end < c->kept && is_empty(c, at, end))
			s->in_head = false;
	}
	s->mid = s->in_head && c->kept && c->p[c->kept - 1] != '\n';
	return c->kept;
}
