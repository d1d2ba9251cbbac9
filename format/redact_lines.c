/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines whose rest is secret: header fields by their names (RFC 9110), folded ones too (RFC 9112
 * 5.2), and Redis' inline commands. */
#include <ctype.h>

#include "redact_impl.h"

/* In lower case; a space stands for any number of spaces and tabs. */
static const char *const beginnings[] = {
	"authorization:",
	"proxy-authorization:",
	"cookie:",
	"set-cookie:",
	"x-api-key:",
	"x-auth-token:",
	"auth ",
	"hello 2 auth ",
	"hello 3 auth ",
	"acl setuser ",
	"config set requirepass ",
	"config set masterauth ",
	"connect {", /* NATS: password, token, jwt, signature */
};

enum { UNDECIDED = -1 };

static bool is_blank(uint8_t ch)
{
	return ch == ' ' || ch == '\t';
}

/* Where the secret begins in a line, 0: nowhere. UNDECIDED: the line is cut before it can tell. */
static int match(const char *w, const uint8_t *p, size_t sz)
{
	size_t i = 0;

	for (; *w; w++) {
		if (i == sz)
			return UNDECIDED;
		if (*w != ' ') {
			if (tolower(p[i++]) != *w)
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

static int secret_at(const uint8_t *p, size_t sz)
{
	bool undecided = false;

	if (!sz || !strchr("acphsxACPHSX", *p) || !*p)
		return 0;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		int at = (*p | 32) == *beginnings[i] ? match(beginnings[i], p, sz) : 0;

		if (at > 0)
			return at;
		undecided |= at == UNDECIDED;
	}
	/* A token that could not be carried is none that matters. */
	return undecided && sz <= CARRY_MAX ? UNDECIDED : 0;
}

static bool begins_message(const uint8_t *p, size_t sz)
{
	static const char *const starts[] = {"GET ",	 "POST ",  "PUT ",     "HEAD ",	 "DELETE ",
					     "OPTIONS ", "PATCH ", "CONNECT ", "TRACE ", "HTTP/1."};

	if (!sz || !strchr("GPHDOCT", *p) || !*p)
		return false;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (sz >= strlen(starts[i]) && !memcmp(p, starts[i], strlen(starts[i])))
			return true;
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

/* The part of a line that earlier calls began; returns where the next line begins. */
static size_t rest_of_line(struct redact_text *s, struct redact_call *c)
{
	const uint8_t *nl;
	size_t end;

	if (s->masking) {
		end = mask_rest(s, c, 0);
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

size_t redact_lines(struct redact_text *s, struct redact_call *c)
{
	size_t at = rest_of_line(s, c);

	while (at < c->kept) {
		const uint8_t *p = c->p + at, *nl;
		int secret = s->folds && is_blank(*p) ? 1 : secret_at(p, c->kept - at);

		s->folds = false;
		if (secret == UNDECIDED)
			return at;
		if (secret) {
			at = mask_rest(s, c, at + secret);
			if (at < c->kept && c->p[at] == '\n')
				at++;
			else if (at < c->kept)
				secret = 0; /* a control character: on with the line */
			if (secret)
				continue;
			p = c->p + at;
		}
		nl = memchr(p, '\n', c->kept - at);
		if (!s->in_head)
			s->in_head = begins_message(p, c->kept - at);
		else if (*p == '\n' || (*p == '\r' && at + 1 < c->kept && p[1] == '\n'))
			s->in_head = false;
		if (!nl)
			break;
		at = nl + 1 - c->p;
	}
	return c->kept;
}
