/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/l7/engine/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_SZ = 960 }; /* with its header a malloc size class */

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, sz;
	char text[];
};

static size_t room(const struct arena *a)
{
	return a->chunks ? a->chunks->sz - a->chunks->used : 0;
}

char *arena_add(struct arena *a, size_t sz)
{
	struct arena_chunk *chunk = a->chunks;

	if (sz > room(a)) {
		size_t chunk_sz = sz > CHUNK_SZ ? sz : CHUNK_SZ;

		chunk = malloc(sizeof(*chunk) + chunk_sz);
		if (!chunk)
			return NULL;
		chunk->next = a->chunks;
		chunk->used = 0;
		chunk->sz = chunk_sz;
		a->chunks = chunk;
	}
	chunk->used += sz;
	return chunk->text + chunk->used - sz;
}

void arena_reset(struct arena *a)
{
	while (a->chunks && (a->chunks->next || a->chunks->sz > CHUNK_SZ)) {
		struct arena_chunk *next = a->chunks->next;

		free(a->chunks);
		a->chunks = next;
	}
	if (a->chunks)
		a->chunks->used = 0;
}

void arena_fini(struct arena *a)
{
	arena_reset(a);
	free(a->chunks);
	a->chunks = NULL;
}

struct span l7_text(struct l7_parser *parser, const char *fmt, ...)
{
	size_t left = room(parser->arena);
	char *text = left ? parser->arena->chunks->text + parser->arena->chunks->used : NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, left, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < left) {
		parser->arena->chunks->used += n + 1;
		return (struct span){text, n};
	}
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
