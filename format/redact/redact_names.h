/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which names are those of secrets: the table redact_names.def, and what --redact-names adds. Names
 * are compared in any case, without '-' and '_': access_token, Access-Token, accessToken. The added
 * ones belong to the process, as its environment does: they are loaded before anything is masked.
 */
#ifndef FORMAT_REDACT_NAMES_H
#define FORMAT_REDACT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Where a name is one of a secret. */
enum redact_where {
	REDACT_IN_HEADER = 1, /* header fields and metadata */
	REDACT_IN_QUERY = 2,  /* parameters of queries and forms */
	REDACT_IN_VALUE = 4,  /* fields of JSON, properties, settings, options */
};

/* Bits of enum redact_where; 0: of none. */
unsigned redact_name_where(const char *name, size_t len);
bool redact_name_is_secret(const char *name, size_t len); /* of a field, property or setting */

/* Adds the names and patterns (with '*') of a file, one a line, '#' begins a comment. 0, or
 * negative errno with `why` filled, "FILE:LINE: ..." */
struct option_def;
/* The option: a file that cannot be read, or a line that is no name, is one line of error. */
int option_set_redact_names(void *ctx, const struct option_def *def, const char *arg);
int redact_names_load(const char *path, char *why, size_t why_sz);
size_t redact_names_added(void);

/* ---- for scans: may a name end so? ---- */

enum { REDACT_TAIL = 3, REDACT_LONG = 5 }; /* characters */

/* A bit for each mark that names have: of their last three characters and, where these are not all
 * but one, of the three that begin two before. */
extern uint64_t redact_short_marks, redact_marks, redact_middle_marks;

/* A name's last characters. Letters become small ones, some other characters become others. */
#define redact_tail_of(a, b, c) (((a) | (b) << 8 | (c) << 16) | 0x202020)
/* Of 64; the factor is one with which few usual names have that of a secret's. */
#define redact_mark_of(tail) ((tail)*0x3ba667d3u >> 26)

static inline uint32_t redact_tail(const void *end)
{
	const uint8_t *p = end;

	return redact_tail_of(p[-3], p[-2], p[-1]);
}

static inline bool redact_marked(uint64_t marks, const void *end)
{
	return marks >> redact_mark_of(redact_tail(end)) & 1;
}

static inline bool redact_is_separator(uint8_t ch)
{
	return ch == '-' || ch == '_';
}

/* Of at least REDACT_TAIL characters before `end`. */
static inline bool redact_may_end(const void *end, size_t sz)
{
	const uint8_t *p = end;

	if (redact_marked(redact_short_marks, p))
		return true;
	if (sz < REDACT_LONG || p[-4] <= ' ' || p[-5] <= ' ' || !redact_marked(redact_marks, p))
		return false;
	return redact_is_separator(p[-4]) || redact_is_separator(p[-5]) ||
	       redact_marked(redact_middle_marks, p - REDACT_LONG + REDACT_TAIL);
}

#endif
