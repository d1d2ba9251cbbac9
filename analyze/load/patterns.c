/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/patterns.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

enum { MAX_TEXT = 1024 };

static void copy(char *to, struct span s)
{
	size_t len = s.p ? strnlen(s.p, s.len < MAX_TEXT - 1 ? s.len : MAX_TEXT - 1) : 0;

	if (len)
		memcpy(to, s.p, len);
	to[len] = 0;
}

/* "5xx" matches "503" */
static bool is_class(const char *pattern, const char *text)
{
	return strlen(pattern) == 3 && isdigit((unsigned char)*pattern) &&
	       !strcasecmp(pattern + 1, "xx") && *text == *pattern && strlen(text) == 3;
}

/* The placeholders of folded names also match what they stand for. */
static bool matches_unfolded(const char *pattern, const char *text)
{
	static const struct {
		const char *holder, *glob;
	} holders[] = {{"{n}", "@({n}|+([0-9]))"}, {"{id}", "@({id}|+([[:alnum:]]))"}};
	char glob[6 * MAX_TEXT]; /* the longer glob is 5.5 times as long as its holder */
	size_t len = 0;
	bool any = false;

	while (*pattern) {
		size_t i = 0;

		/* what would be an operator here was none before */
		if (strchr("?*+@!", *pattern) && pattern[1] == '(')
			return false;
		while (i < 2 && strncasecmp(pattern, holders[i].holder, strlen(holders[i].holder)))
			i++;
		if (i == 2) {
			glob[len++] = *pattern++;
			continue;
		}
		any = true;
		memcpy(glob + len, holders[i].glob, strlen(holders[i].glob));
		len += strlen(holders[i].glob);
		pattern += strlen(holders[i].holder);
		/* no folded name goes on like this, and matching it could take for ever */
		if (isalnum((unsigned char)*pattern) || *pattern == '{')
			return false;
	}
	glob[len] = 0;
	return any && !fnmatch(glob, text, FNM_CASEFOLD | FNM_EXTMATCH);
}

bool patterns_match(const char *list, struct span s)
{
	char text[MAX_TEXT], pattern[MAX_TEXT];

	if (!list)
		return true;
	copy(text, s);
	for (size_t len; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		copy(pattern, (struct span){list, len});
		if (!fnmatch(pattern, text, FNM_CASEFOLD) || is_class(pattern, text) ||
		    matches_unfolded(pattern, text))
			return true;
	}
	return false;
}

bool patterns_match_name(const char *list, struct span s)
{
	const char *slash = s.p ? memrchr(s.p, '/', s.len) : NULL;

	return patterns_match(list, s) ||
	       (slash && patterns_match(list, (struct span){slash + 1, s.p + s.len - slash - 1}));
}
