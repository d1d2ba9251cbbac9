/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading little-endian data from untrusted files. Every getter checks bounds: past the end it
 * returns zero, sets `bad` and moves to the end. Loops over a cursor therefore terminate, and
 * callers check once.
 */
#ifndef FORMAT_BYTES_H
#define FORMAT_BYTES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A borrowed part of a file. */
struct bytes {
	const uint8_t *p;
	uint64_t len;
};

struct cursor {
	const uint8_t *p, *end;
	bool bad;
};

static inline struct bytes bytes_sub(struct bytes b, uint64_t off, uint64_t len)
{
	if (!b.p || off > b.len || len > b.len - off)
		return (struct bytes){0};
	return (struct bytes){b.p + off, len};
}

/* A cursor from `off` to the end; empty and bad when the offset is out of bounds. */
static inline struct cursor cursor_at(struct bytes b, uint64_t off)
{
	static const uint8_t none[1];

	if (!b.p || off > b.len)
		return (struct cursor){none, none, true};
	return (struct cursor){b.p + off, b.p + b.len, false};
}

static inline uint64_t cursor_left(const struct cursor *c)
{
	return (uint64_t)(c->end - c->p);
}

static inline void cursor_fail(struct cursor *c)
{
	c->bad = true;
	c->p = c->end;
}

static inline void cursor_skip(struct cursor *c, uint64_t n)
{
	if (n > cursor_left(c))
		cursor_fail(c);
	else
		c->p += n;
}

#define CURSOR_GETTER(name, type)                                                                  \
	static inline type cursor_##name(struct cursor *c)                                         \
	{                                                                                          \
		type v = 0;                                                                        \
		if (cursor_left(c) < sizeof(v)) {                                                  \
			cursor_fail(c);                                                            \
			return 0;                                                                  \
		}                                                                                  \
		memcpy(&v, c->p, sizeof(v));                                                       \
		c->p += sizeof(v);                                                                 \
		return v;                                                                          \
	}
CURSOR_GETTER(u8, uint8_t)
CURSOR_GETTER(u16, uint16_t)
CURSOR_GETTER(u32, uint32_t)
CURSOR_GETTER(u64, uint64_t)
#undef CURSOR_GETTER

/* 1, 2, 3, 4 or 8 bytes; anything else is bad. */
static inline uint64_t cursor_uint(struct cursor *c, unsigned sz)
{
	uint64_t v;

	switch (sz) {
	case 1:
		return cursor_u8(c);
	case 2:
		return cursor_u16(c);
	case 3:
		v = cursor_u16(c);
		return v | (uint64_t)cursor_u8(c) << 16;
	case 4:
		return cursor_u32(c);
	case 8:
		return cursor_u64(c);
	default:
		cursor_fail(c);
		return 0;
	}
}

static inline uint64_t cursor_uleb(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; c->p < c->end; shift += 7) {
		uint8_t b = *c->p++;

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	c->bad = true;
	return 0;
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; c->p < c->end;) {
		uint8_t b = *c->p++;

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
		if (!(b & 0x80)) {
			if (shift < 64 && (b & 0x40))
				v |= ~UINT64_C(0) << shift;
			return (int64_t)v;
		}
	}
	c->bad = true;
	return 0;
}

/* Reads a NUL-terminated string; NULL when it does not end within the bounds. */
static inline const char *cursor_str(struct cursor *c)
{
	const uint8_t *start = c->p;
	const uint8_t *nul = c->p < c->end ? memchr(c->p, 0, cursor_left(c)) : NULL;

	if (!nul) {
		cursor_fail(c);
		return NULL;
	}
	c->p = nul + 1;
	return (const char *)start;
}

/* A string table up to its last NUL, so that every string in it is terminated. */
static inline struct bytes bytes_strings(struct bytes b)
{
	const uint8_t *nul = b.len ? memrchr(b.p, 0, b.len) : NULL;

	return nul ? (struct bytes){b.p, (uint64_t)(nul - b.p) + 1} : (struct bytes){0};
}

/* A string of the result of bytes_strings(). Constant time, whatever its length: many strings may
 * overlap. */
static inline const char *bytes_str(struct bytes strings, uint64_t off)
{
	return off < strings.len ? (const char *)strings.p + off : NULL;
}

/* Grows an array to at least `need` elements of `sz` bytes; 0 or -ENOMEM. */
static inline int grow(void *array_p, size_t *cap, size_t need, size_t sz)
{
	size_t n = *cap ? *cap : 16;
	void *p;

	if (need <= *cap)
		return 0;
	while (n < need)
		n += n / 2;
	p = reallocarray(*(void **)array_p, n, sz);
	if (!p)
		return -ENOMEM;
	*(void **)array_p = p;
	*cap = n;
	return 0;
}

#endif
