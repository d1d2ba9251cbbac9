/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a function's name: the short form must not be empty or longer than the name, and its
 * brackets must be balanced when those of the name are. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/name_short.h"

enum { DEPTH_MAX = 4096 };

/* Whether brackets are balanced; only for names without operators and arrows. */
static bool matched(struct span s)
{
	static const char open[] = "<([{", close[] = ">)]}";
	char stack[DEPTH_MAX];
	size_t depth = 0;

	for (size_t i = 0; i < s.len; i++) {
		const char *o = s.p[i] ? strchr(open, s.p[i]) : NULL;

		if (o && depth == DEPTH_MAX)
			return false;
		if (o)
			stack[depth++] = close[o - open];
		else if (s.p[i] && strchr(close, s.p[i]) && (!depth || stack[--depth] != s.p[i]))
			return false;
	}
	return !depth;
}

/* Escapes of Rust's legacy mangling may represent any bracket. */
static bool is_plain(struct span s)
{
	return !memchr(s.p, '$', s.len) && !memchr(s.p, '-', s.len) &&
	       !memmem(s.p, s.len, "operator", 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct strbuf b = {0};
	char *copy = malloc(sz ? sz : 1); /* exact size, so that reads after the end are detected */
	struct span name = {copy, sz};

	if (!copy)
		abort();
	memcpy(copy, data, sz);
	name_short(&b, name);
	if (b.failed || b.len > sz || (sz && !b.len))
		abort();
	if (sz && is_plain(name) && matched(name) && !matched((struct span){b.p, b.len}))
		abort();
	strbuf_fini(&b);
	free(copy);
	return 0;
}
