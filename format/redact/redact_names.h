/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of secrets: the table redact_names.def and the names added by --redact-names. Names are
 * compared ignoring case, '-' and '_': access_token, Access-Token, accessToken. Added names are
 * global to the process, like its environment; they are loaded before anything is masked.
 */
#ifndef FORMAT_REDACT_NAMES_H
#define FORMAT_REDACT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Contexts in which a name denotes a secret. */
enum redact_where {
	REDACT_IN_HEADER = 1, /* header fields and metadata */
	REDACT_IN_QUERY = 2,  /* parameters of queries and forms */
	REDACT_IN_VALUE = 4,  /* fields of JSON, properties, settings, options */
};

/* Returns bits of enum redact_where; 0: not a secret. */
unsigned redact_name_where(const char *name, size_t len);
bool redact_name_is_secret(const char *name, size_t len); /* as field, property or setting */

/* redact_names_load() adds the names and patterns (with '*') of a file, one per line; '#' starts a
 * comment. Returns 0, or negative errno and "FILE:LINE: ..." in `why`. */
struct option_def;
/* Handler of the option. A file that cannot be read or an invalid line is reported as one line. */
int option_set_redact_names(void *ctx, const struct option_def *def, const char *arg);
int redact_names_load(const char *path, char *why, size_t why_sz);
size_t redact_names_added(void);

/* ---- for scans: whether a name may end here ---- */

enum { REDACT_TAIL = 3, REDACT_LONG = 5 }; /* characters */

/* Bit sets of the marks (hashes) of secrets' names: of their last three characters and, where those
 * are not sufficient, of the three characters that start two before. */
extern uint64_t redact_short_marks, redact_marks, redact_middle_marks;

/* A name's last characters. Maps letters to lower case; also changes some other characters. */
#define redact_tail_of(a, b, c) (((a) | (b) << 8 | (c) << 16) | 0x202020)
/* Hash to 0..63. The factor was chosen so that few common names collide with those of secrets. */
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

/* Whether a secret's name may end at `end`, with sz >= REDACT_TAIL characters before it. */
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
