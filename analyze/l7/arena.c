/* SPDX-License-Identifier: BSD-2-Clause */
#include "arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_chunk {
	struct arena_chunk *next;
	char text[];
};

char *arena_add(struct arena *a, size_t sz)
{
	struct arena_chunk *chunk = malloc(sizeof(*chunk) + sz);

	if (!chunk)
		return NULL;
	chunk->next = a->chunks;
	a->chunks = chunk;
	return chunk->text;
}

void arena_reset(struct arena *a)
{
	while (a->chunks) {
		struct arena_chunk *next = a->chunks->next;

		free(a->chunks);
		a->chunks = next;
	}
}

struct span l7_text(struct l7_parser *parser, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	text = n >= 0 ? arena_add(parser->arena, n + 1) : NULL;
	if (!text)
		return (struct span){"", 0};
	va_start(ap, fmt);
	vsnprintf(text, n + 1, fmt, ap);
	va_end(ap);
	return (struct span){text, n};
}

struct span l7_keep(struct l7_parser *parser, struct span s)
{
	char *text = s.len ? arena_add(parser->arena, s.len + 1) : NULL;

	if (!text)
		return (struct span){"", 0};
	memcpy(text, s.p, s.len);
	text[s.len] = 0;
	return (struct span){text, s.len};
}
