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

bool patterns_match(const char *list, struct span s)
{
	char text[MAX_TEXT], pattern[MAX_TEXT];

	if (!list)
		return true;
	copy(text, s);
	for (size_t len; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		copy(pattern, (struct span){list, len});
		if (!fnmatch(pattern, text, FNM_CASEFOLD) || is_class(pattern, text))
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
