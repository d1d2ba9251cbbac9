/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/redact/redact_names.h"
#include "format/option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	LOOKED_AT = 96,	  /* last characters compared of a name, without '-' and '_' */
	ADDED_MAX = 1000, /* names */
	PATTERN_MAX = 64, /* characters of one */
};

#define H REDACT_IN_HEADER
#define Q REDACT_IN_QUERY
#define V REDACT_IN_VALUE
#define ANY (H | Q | V)
#define TAIL(text)                                                                                 \
	redact_tail_of(text[sizeof(text) - 4], text[sizeof(text) - 3], text[sizeof(text) - 2])

static const struct {
	const char *text; /* text after its '*' */
	uint8_t len, any_start, where;
	char first; /* character before the '*' */
} known[] = {
#define AFTER_STAR(text) (text[0] == '*' ? 1 : text[1] == '*' ? 2 : 0)
#define SECRET_NAME(text, where)                                                                   \
	{&text[AFTER_STAR(text)], sizeof(text) - 1 - AFTER_STAR(text), AFTER_STAR(text) != 0,      \
	 where, AFTER_STAR(text) == 2 ? text[0] : 0},
#include "format/redact/redact_names.def"
#undef SECRET_NAME
};

/* The last characters of each name, contiguous: they suffice to rule out most names. */
static const uint32_t tails[] = {
#define SECRET_NAME(text, where) TAIL(text),
#include "format/redact/redact_names.def"
#undef SECRET_NAME
};

/* Exceptions need no marks, and names with a separator before their end no second one. */
#define IS_LONG(text) (sizeof(text) - 1 - (text[0] == '*') >= REDACT_LONG)
#define MARKS(where) (uint64_t)((where) != 0)
#define MIDDLE(text)                                                                               \
	redact_tail_of(text[(sizeof(text) - 6) % sizeof(text)],                                    \
		       text[(sizeof(text) - 5) % sizeof(text)], text[sizeof(text) - 4])

uint64_t redact_short_marks = 0
#define SECRET_NAME(text, where) | (MARKS(where) & !IS_LONG(text)) << redact_mark_of(TAIL(text))
#include "format/redact/redact_names.def"
#undef SECRET_NAME
	;
uint64_t redact_marks = 0
#define SECRET_NAME(text, where) | (MARKS(where) & IS_LONG(text)) << redact_mark_of(TAIL(text))
#include "format/redact/redact_names.def"
#undef SECRET_NAME
	;
uint64_t redact_middle_marks = 0
#define SECRET_NAME(text, where)                                                                   \
	| (MARKS(where) & IS_LONG(text) & (text[1] != '*')) << redact_mark_of(MIDDLE(text))
#include "format/redact/redact_names.def"
#undef SECRET_NAME
	;

static struct {
	char *v[ADDED_MAX];
	size_t cnt;
} added;

static size_t plain(char *to, const char *name, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		if (name[i] != '-' && name[i] != '_')
			to[n++] = name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 32 : name[i];
	return n;
}

/* Matches a pattern, where '*' is any characters, up to the end of the name. */
static bool matches(const char *pattern, const char *name, const char *end)
{
	const char *star = NULL, *retry = NULL;

	while (name < end) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = name;
		} else if (*pattern && *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

unsigned redact_name_where(const char *name, size_t len)
{
	char p[LOOKED_AT];
	unsigned where = 0;
	size_t n;

	if (len > LOOKED_AT) {
		name += len - LOOKED_AT;
		len = LOOKED_AT;
	}
	n = plain(p, name, len);
	for (size_t i = 0; i < added.cnt; i++)
		if (matches(added.v[i], p, p + n))
			return ANY;
	if (n < REDACT_TAIL || !redact_marked(redact_short_marks | redact_marks, p + n))
		return 0;
	for (size_t i = 0, tail = redact_tail(p + n); i < sizeof(tails) / sizeof(tails[0]); i++) {
		if (tails[i] != tail || known[i].len + (known[i].first ? 1u : 0) > n ||
		    (known[i].len < n && !known[i].any_start))
			continue;
		if (memcmp(p + n - known[i].len, known[i].text, known[i].len) ||
		    (known[i].first && (known[i].first != *p || n == len ||
					!redact_is_separator(name[len - known[i].len - 1]))))
			continue;
		if (!known[i].where)
			return 0;
		where |= known[i].where;
	}
	return where;
}

bool redact_name_is_secret(const char *name, size_t len)
{
	return redact_name_where(name, len) & REDACT_IN_VALUE;
}

/* ---- --redact-names ---- */

static uint64_t mark(const char *end)
{
	return 1ULL << redact_mark_of(redact_tail(end));
}

static void add_marks(const char *pattern, size_t n)
{
	size_t known_end = n;

	while (known_end && pattern[known_end - 1] != '*' && n - known_end < REDACT_LONG)
		known_end--;
	if (n - known_end >= REDACT_LONG) {
		redact_marks |= mark(pattern + n);
		redact_middle_marks |= mark(pattern + n - REDACT_LONG + REDACT_TAIL);
	} else if (n - known_end >= REDACT_TAIL) {
		redact_short_marks |= mark(pattern + n);
	} else {
		redact_short_marks = UINT64_MAX; /* its end is a wildcard or too short for a mark */
	}
}

/* A line without its comment and the blanks around it. */
static const char *add(char *line)
{
	char pattern[PATTERN_MAX + 1];
	size_t n;

	line[strcspn(line, "#\r\n")] = 0;
	line += strspn(line, " \t");
	n = strlen(line);
	while (n && (line[n - 1] == ' ' || line[n - 1] == '\t'))
		n--;
	if (!n)
		return NULL;
	if (n > PATTERN_MAX)
		return "a name is too long";
	for (size_t i = 0; i < n; i++)
		if (line[i] <= ' ' || line[i] > '~' || strchr("=:;,&?\"'\\%[]{}", line[i]))
			return "not a name";
	n = plain(pattern, line, n);
	pattern[n] = 0;
	if (strspn(pattern, "*") == n)
		return "matches every name";
	if (added.cnt == ADDED_MAX)
		return "too many names";
	added.v[added.cnt] = strdup(pattern);
	if (!added.v[added.cnt])
		return "out of memory";
	added.cnt++;
	add_marks(pattern, n);
	return NULL;
}

int redact_names_load(const char *path, char *why, size_t why_sz)
{
	char line[1024];
	const char *bad = NULL;
	FILE *f = fopen(path, "re");
	int number = 0;

	if (!f) {
		snprintf(why, why_sz, "cannot open '%s': %s", path, strerror(errno));
		return -EINVAL;
	}
	while (!bad && fgets(line, sizeof(line), f)) {
		number++;
		bad = !strchr(line, '\n') && !feof(f) ? "a line is too long" : add(line);
	}
	if (bad)
		snprintf(why, why_sz, "%s:%d: %s", path, number, bad);
	else if (ferror(f))
		snprintf(why, why_sz, "cannot read '%s': %s", path, strerror(errno));
	bad = bad || ferror(f) ? why : NULL;
	fclose(f);
	return bad ? -EINVAL : 0;
}

size_t redact_names_added(void)
{
	return added.cnt;
}

int option_set_redact_names(void *ctx, const struct option_def *def, const char *arg)
{
	char why[512];

	(void)ctx;
	return redact_names_load(arg, why, sizeof(why)) ? option_error(def, "%s", why) : 0;
}
