/* SPDX-License-Identifier: BSD-2-Clause */
/* A growing byte buffer for writing, and bounds-checked reading of untrusted bytes. Integers are
 * little-endian LEB128 varints. */
#ifndef FORMAT_BYTES_H
#define FORMAT_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { VARINT_MAX = 10 };

/* A growing buffer. `failed` (out of memory) is sticky. */
struct bytes {
	uint8_t *p;
	size_t len, cap;
	bool failed;
};

/* Room for `more` bytes at p + len, or NULL. */
static inline uint8_t *bytes_room(struct bytes *b, size_t more)
{
	size_t need, cap;
	uint8_t *p;

	if (b->failed || __builtin_add_overflow(b->len, more, &need)) {
		b->failed = true;
		return NULL;
	}
	if (need <= b->cap)
		return b->p + b->len;
	cap = need < 4096 ? 4096 : b->cap ? need + need / 2 : need;
	p = realloc(b->p, cap);
	if (!p) {
		b->failed = true;
		return NULL;
	}
	b->p = p;
	b->cap = cap;
	return b->p + b->len;
}

static inline void bytes_add(struct bytes *b, const void *p, size_t len)
{
	uint8_t *to = bytes_room(b, len);

	if (to && len) {
		memcpy(to, p, len);
		b->len += len;
	}
}

static inline void bytes_fini(struct bytes *b)
{
	free(b->p);
	*b = (struct bytes){0};
}

/* The caller has made room for VARINT_MAX bytes. */
static inline uint8_t *varint_put(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)v | 0x80;
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

static inline void bytes_varint(struct bytes *b, uint64_t v)
{
	uint8_t *p = bytes_room(b, VARINT_MAX);

	if (p)
		b->len = varint_put(p, v) - b->p;
}

static inline uint64_t zigzag(uint64_t step)
{
	return step << 1 ^ (uint64_t)((int64_t)step >> 63);
}

static inline uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

/* Untrusted bytes. A read past the end sets `bad`; all further reads return zeros. */
struct view {
	const uint8_t *p, *end;
	bool bad;
};

static inline size_t view_left(const struct view *v)
{
	return v->end - v->p;
}

static inline uint64_t view_varint_slow(struct view *v)
{
	uint64_t r = 0;

	for (unsigned shift = 0; v->p < v->end && shift < 64; shift += 7) {
		uint64_t byte = *v->p++;

		if (shift == 63 && byte > 1)
			break; /* more than 64 bits */
		r |= (byte & 0x7f) << shift;
		if (byte < 0x80)
			return r;
	}
	v->bad = true;
	v->p = v->end;
	return 0;
}

static inline uint64_t view_varint(struct view *v)
{
	if (v->p < v->end && *v->p < 0x80)
		return *v->p++;
	return view_varint_slow(v);
}

/* The next len bytes, or NULL. */
static inline const uint8_t *view_take(struct view *v, uint64_t len)
{
	const uint8_t *p = v->p;

	if (v->bad || len > view_left(v)) {
		v->bad = true;
		v->p = v->end;
		return NULL;
	}
	v->p += len;
	return p;
}

static inline void le_put(uint8_t *p, uint64_t v, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		p[i] = v >> (8 * i);
}

static inline uint64_t le_get(const uint8_t *p, unsigned width)
{
	uint64_t v = 0;

#pragma GCC unroll 8 /* compiles to one load when width is constant */
	for (unsigned i = 0; i < width; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

static inline uint64_t be_get(const uint8_t *p, unsigned width)
{
	uint64_t v = 0;

#pragma GCC unroll 8
	for (unsigned i = 0; i < width; i++)
		v = v << 8 | p[i];
	return v;
}

#endif
