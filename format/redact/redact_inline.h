/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands in the form of a text line. */
#ifndef FORMAT_REDACT_INLINE_H
#define FORMAT_REDACT_INLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { REDACT_UNDECIDED = -1, REDACT_CARRIED = 64 };

/*
 * First four characters of lines that may be such a command, when they contain no quotes or blanks.
 */
#define REDACT_INLINE(X)                                                                           \
	X("auth")                                                                                  \
	X("hell")                                                                                  \
	X("acl ")                                                                                  \
	X("acl\t")                                                                                 \
	X("conf")                                                                                  \
	X("migr")                                                                                  \
	X("sent")                                                                                  \
	X("conn")

/* Start of the secret in a line of which sz bytes (at least 1) are available; 0: none;
 * REDACT_UNDECIDED: the line is cut before it can be decided. After "{" it is a NATS object. */
int redact_inline(const uint8_t *p, size_t sz);
/* Whether a Redis setting (in lower case) is a secret. */
bool redact_is_redis_secret(const char *name, size_t sz);

/* Set of the first letters of REDACT_INLINE. */
#define REDACT_INLINE_LETTERS                                                                      \
	(1u << ('a' & 31) | 1u << ('h' & 31) | 1u << ('c' & 31) | 1u << ('m' & 31) |               \
	 1u << ('s' & 31))

/* Whether a line, of at least four bytes, starts with a blank or quote, or has a quote after one of
 * those letters. */
static inline bool redact_is_quoted(const uint8_t *p)
{
	const uint32_t ones = 0x01010101;
	uint32_t word, one, two;

	if (*p < '*')
		return *p <= ' ' || *p == '"' || *p == '\'';
	if (!(REDACT_INLINE_LETTERS >> (*p & 31) & 1))
		return false;
	memcpy(&word, p, sizeof(word));
	one = word ^ ones * '\'';
	two = word ^ ones * '"';
	return (((one - ones) & ~one) | ((two - ones) & ~two)) & ones << 7;
}

#endif
