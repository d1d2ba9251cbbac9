/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A bounds-checked reader. A read past the end marks the cursor as cut. Reads from a cut cursor
 * return 0 or empty, so a parser needs to check `cut` only once, at the end.
 */
#ifndef ANALYZE_L7_CURSOR_H
#define ANALYZE_L7_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "format/records.h"

struct l7_cursor {
	const uint8_t *p, *end;
	bool cut; /* a read went past the end */
};

static inline struct l7_cursor l7_cursor_at(const uint8_t *p, size_t len)
{
	return (struct l7_cursor){p, p + len, false};
}

static inline struct l7_cursor l7_cursor_in(struct span s)
{
	return l7_cursor_at((const uint8_t *)s.p, s.len);
}

static inline size_t l7_left(const struct l7_cursor *c)
{
	return c->end - c->p;
}

static inline const uint8_t *l7_take(struct l7_cursor *c, uint64_t n)
{
	const uint8_t *p = c->p;

	if (c->cut || l7_left(c) < n) {
		c->cut = true;
		return NULL;
	}
	c->p += n;
	return p;
}

static inline uint64_t l7_be(struct l7_cursor *c, unsigned n)
{
	const uint8_t *p = l7_take(c, n);
	uint64_t v = 0;

	for (unsigned i = 0; p && i < n; i++)
		v = v << 8 | p[i];
	return v;
}

static inline uint64_t l7_le(struct l7_cursor *c, unsigned n)
{
	const uint8_t *p = l7_take(c, n);
	uint64_t v = 0;

	for (unsigned i = n; p && i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

/* Reads a varint: groups of seven bits, lowest first. False: it does not end within `max` bytes. */
static inline bool l7_varint(struct l7_cursor *c, unsigned max, uint64_t *v)
{
	*v = 0;
	for (unsigned i = 0; i < max; i++) {
		uint8_t b = l7_be(c, 1);

		*v |= (uint64_t)(b & 0x7f) << 7 * i;
		if (!(b & 0x80))
			return true;
	}
	return false;
}

static inline struct span l7_bytes(struct l7_cursor *c, uint64_t n)
{
	const uint8_t *p = l7_take(c, n);

	return p ? (struct span){(const char *)p, n} : (struct span){"", 0};
}

/* Reads an n-byte big-endian length, then that many bytes. */
static inline struct span l7_counted(struct l7_cursor *c, unsigned n)
{
	return l7_bytes(c, l7_be(c, n));
}

/* Reads up to a NUL and skips the NUL. */
static inline struct span l7_cstring(struct l7_cursor *c)
{
	const uint8_t *nul = c->cut || c->p == c->end ? NULL : memchr(c->p, 0, l7_left(c));
	struct span s = {"", 0};

	if (!nul) {
		c->cut = true;
		return s;
	}
	s = (struct span){(const char *)c->p, nul - c->p};
	c->p = nul + 1;
	return s;
}

#endif
