/* SPDX-License-Identifier: BSD-2-Clause */
/* Iterates over the occurrences of a character in a text, 64 bytes at a time. Lines and bulk
 * strings are short; one memchr() call for each would cost more than all other processing. */
#ifndef FORMAT_REDACT_SPOTS_H
#define FORMAT_REDACT_SPOTS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { SPOTS_BLOCK = 64 };

struct redact_spots {
	const uint8_t *p;
	size_t sz, base; /* base: start of the current block */
	uint64_t bits;	 /* one bit per byte of the block */
	uint8_t what;
};

/* Bit mask of the bytes equal to `ch` in an 8-byte word; the lowest bit is the first byte. */
static inline uint64_t spots_of_word(uint64_t word, uint8_t ch)
{
	const uint64_t ones = 0x0101010101010101, low = ones * 0x7f;
	uint64_t x = word ^ ones * ch, zero = ~(((x & low) + low) | x | low);

	return zero * 0x0002040810204081 >> 56;
}

static inline uint64_t spots_of_8(const uint8_t *p, uint8_t ch)
{
	uint64_t word;

	memcpy(&word, p, 8);
	return spots_of_word(word, ch);
}

static inline uint64_t spots_of_16(const uint8_t *p, uint8_t ch)
{
#ifdef __SSE2__
	__m128i bytes = _mm_loadu_si128((const __m128i *)p);

	return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)ch)));
#else
	return spots_of_8(p, ch) | spots_of_8(p + 8, ch) << 8;
#endif
}

/* Bit mask for up to 64 bytes; may examine the last ones twice. */
static inline uint64_t spots_of(const uint8_t *p, size_t sz, uint8_t ch)
{
	uint64_t bits = 0;
	size_t i = 0;

	if (sz == SPOTS_BLOCK)
		return spots_of_16(p, ch) | spots_of_16(p + 16, ch) << 16 |
		       spots_of_16(p + 32, ch) << 32 | spots_of_16(p + 48, ch) << 48;
	if (sz >= 16) {
		for (; i + 16 < sz; i += 16)
			bits |= spots_of_16(p + i, ch) << i;
		return bits | spots_of_16(p + sz - 16, ch) << (sz - 16);
	}
	if (sz >= 8)
		return spots_of_8(p, ch) | spots_of_8(p + sz - 8, ch) << (sz - 8);
	for (; i < sz; i++)
		bits |= (uint64_t)(p[i] == ch) << i;
	return bits;
}

/* As spots_of_16() and spots_of(), for '=', ':' and '>'. */
static inline uint64_t spots_of_names_16(const uint8_t *p)
{
#ifdef __SSE2__
	__m128i bytes = _mm_loadu_si128((const __m128i *)p);
	__m128i equals = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('='));
	__m128i colons = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(':'));
	__m128i tags = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('>'));

	return (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(equals, colons), tags));
#else
	return spots_of_16(p, '=') | spots_of_16(p, ':') | spots_of_16(p, '>');
#endif
}

static inline uint64_t spots_of_names(const uint8_t *p, size_t sz)
{
	uint64_t bits = 0;
	size_t i = 0;

	if (sz == SPOTS_BLOCK)
		return spots_of_names_16(p) | spots_of_names_16(p + 16) << 16 |
		       spots_of_names_16(p + 32) << 32 | spots_of_names_16(p + 48) << 48;
	if (sz >= 16) {
		for (; i + 16 < sz; i += 16)
			bits |= spots_of_names_16(p + i) << i;
		return bits | spots_of_names_16(p + sz - 16) << (sz - 16);
	}
	for (; i < sz; i++)
		bits |= (uint64_t)(p[i] == '=' || p[i] == ':' || p[i] == '>') << i;
	return bits;
}

static inline void spots_load(struct redact_spots *s)
{
	size_t left = s->sz - s->base;

	s->bits = spots_of(s->p + s->base, left < SPOTS_BLOCK ? left : SPOTS_BLOCK, s->what);
}

static inline struct redact_spots redact_spots(const uint8_t *p, size_t sz, uint8_t what)
{
	struct redact_spots s = {.p = p, .sz = sz, .what = what};

	spots_load(&s);
	return s;
}

/* Moves to the next block with an occurrence; memchr() skips empty blocks at more than twice the
 * speed. */
static inline bool spots_load_next(struct redact_spots *s)
{
	const uint8_t *next;

	if (s->sz - s->base <= SPOTS_BLOCK)
		return false;
	s->base += SPOTS_BLOCK;
	spots_load(s);
	if (s->bits)
		return true;
	next = memchr(s->p + s->base, s->what, s->sz - s->base);
	s->base = next ? s->base + ((next - s->p - s->base) & ~(size_t)(SPOTS_BLOCK - 1)) : s->sz;
	if (next)
		spots_load(s);
	return next;
}

/* The occurrence after the last one found, else the end of the text. */
static inline size_t redact_spots_after(struct redact_spots *s)
{
	s->bits &= s->bits - 1;
	if (s->bits || spots_load_next(s))
		return s->base + __builtin_ctzll(s->bits);
	return s->sz;
}

/* The next occurrence at or after `at`, else the end of the text; `at` must not decrease. */
static inline size_t redact_spots_next(struct redact_spots *s, size_t at)
{
	do {
		for (; s->bits; s->bits &= s->bits - 1) {
			size_t spot = s->base + __builtin_ctzll(s->bits);

			if (spot >= at)
				return spot;
		}
	} while (spots_load_next(s));
	return s->sz;
}

#endif
