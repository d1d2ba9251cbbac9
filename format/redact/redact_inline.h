/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands that are a line of text. */
#ifndef FORMAT_REDACT_INLINE_H
#define FORMAT_REDACT_INLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { REDACT_UNDECIDED = -1, REDACT_CARRIED = 64 };

/* A line's first four characters by which it may be one, where neither quotes nor blanks do. */
#define REDACT_INLINE(X)                                                                           \
	X("auth")                                                                                  \
	X("hell")                                                                                  \
	X("acl ")                                                                                  \
	X("acl\t")                                                                                 \
	X("conf")                                                                                  \
	X("migr")                                                                                  \
	X("sent")                                                                                  \
	X("conn")

/* Where what is secret begins in the line of which sz bytes are here, at least 1; 0: nowhere;
 * REDACT_UNDECIDED: it is cut before it can tell. Behind "{" it is NATS' object. */
int redact_inline(const uint8_t *p, size_t sz);
/* Is a setting of Redis, in small letters, one? */
bool redact_is_redis_secret(const char *name, size_t sz);

/* The first letters of these, as bits. */
#define REDACT_INLINE_LETTERS                                                                      \
	(1u << ('a' & 31) | 1u << ('h' & 31) | 1u << ('c' & 31) | 1u << ('m' & 31) |               \
	 1u << ('s' & 31))

/* Of four bytes at least: a blank or quote in front, or a quote behind such a letter? */
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
