/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a function's name: the short form is neither empty nor longer, and its brackets are
 * matched where those of the name were. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/name_short.h"

enum { DEPTH_MAX = 4096 };

/* Taking every byte for what it looks like, so of a name without operators and arrows. */
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

/* Escapes of Rust's old mangling may stand for any bracket. */
static bool is_plain(struct span s)
{
	return !memchr(s.p, '$', s.len) && !memchr(s.p, '-', s.len) &&
	       !memmem(s.p, s.len, "operator", 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct strbuf b = {0};
	char *copy = malloc(sz ? sz : 1); /* its own size, so that nothing is read behind it */
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
