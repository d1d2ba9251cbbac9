/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds each '=', ':' and '>' of a text where a secret's name may end. They are frequent; nearly
 * all are ruled out by the characters before them. */
#ifndef FORMAT_REDACT_HITS_H
#define FORMAT_REDACT_HITS_H

#include "format/redact/redact_names.h"
#include "format/redact/redact_spots.h"

struct redact_hits {
	const uint8_t *p;
	size_t sz, base; /* base: start of the current block */
	uint64_t bits;	 /* one bit per '=', ':' or '>' in the block */
};

enum { HIT_BEFORE = 8 };

/*
 * Whether a secret's name may end at `i`, possibly with escapes, brackets or separators at its end.
 */
static inline bool hit_name(const uint8_t *p, size_t i, uint8_t escape)
{
	uint64_t last;

	if (i < REDACT_TAIL)
		return redact_short_marks == UINT64_MAX; /* an added name may be this short */
	if (redact_may_end(p + i, i) || redact_is_separator(p[i - 2]) ||
	    redact_is_separator(p[i - 3]))
		return true;
	if (i < HIT_BEFORE)
		return memchr(p, escape, i);
	memcpy(&last, p + i - HIT_BEFORE, HIT_BEFORE);
	return spots_of_word(last, escape);
}

/* name=" or ; name= of a multipart form, and a[b]= */
static inline bool hit_equals(const uint8_t *p, size_t sz, size_t i)
{
	if (i && (p[i - 1] == ']' || (p[i - 1] == 'e' && ((i + 1 < sz && p[i + 1] == '"') ||
							  i < 5 || p[i - 5] <= ';'))))
		return true;
	return hit_name(p, i, '%');
}

/* <name> or <name attribute="..."> */
static inline bool hit_element(const uint8_t *p, size_t i)
{
	return i >= REDACT_TAIL && (p[i - 1] == '"' || hit_name(p, i, 0));
}

/* Whether "name", "key" or "value" may end here: of a pair of a name and its value. */
static inline bool hit_pair(const uint8_t *p, size_t i)
{
	return i >= REDACT_TAIL &&
	       redact_marked(1ULL << redact_mark_of(redact_tail_of('a', 'm', 'e')) |
				     1ULL << redact_mark_of(redact_tail_of('k', 'e', 'y')) |
				     1ULL << redact_mark_of(redact_tail_of('l', 'u', 'e')),
			     p + i);
}

/* A header field, name: "name":, 'name':, \"name\":, or scheme:// */
static inline bool hit_colon(const uint8_t *p, size_t sz, size_t i)
{
	const uint8_t before = i ? p[i - 1] : 0;

	if (i + 2 < sz && p[i + 1] == '/' && p[i + 2] == '/')
		return true;
	if (before == '"' || before == '\'')
		return (i > 1 && p[i - 2] == '\\') || hit_pair(p, i - 1) ||
		       hit_name(p, i - 1, '\\');
	if (before == ' ' || before == '\t')
		return true;
	if (i < REDACT_TAIL)
		return redact_short_marks == UINT64_MAX;
	if (before == 'e' && (i < 6 || p[i - 5] <= ' ' || p[i - 6] <= ' ') && hit_pair(p, i))
		return true;
	return redact_may_end(p + i, i) || redact_is_separator(p[i - 2]) ||
	       redact_is_separator(p[i - 3]);
}

static inline bool hit_at(const uint8_t *p, size_t sz, size_t i)
{
	if (p[i] == '>')
		return hit_element(p, i);
	return p[i] == '=' ? hit_equals(p, sz, i) : hit_colon(p, sz, i);
}

static inline void hits_load(struct redact_hits *h)
{
	size_t left = h->sz - h->base, n = left < SPOTS_BLOCK ? left : SPOTS_BLOCK;

	h->bits = spots_of_names(h->p + h->base, n);
}

/* The hits of a text. */
static inline struct redact_hits redact_hits(const uint8_t *p, size_t sz)
{
	struct redact_hits h = {.p = p, .sz = sz};

	if (sz)
		hits_load(&h);
	return h;
}

/* The next hit at or after `at`, which must not decrease; else the end of the text. */
static inline size_t redact_hits_next(struct redact_hits *h, size_t at)
{
	while (h->base < h->sz) {
		for (; h->bits; h->bits &= h->bits - 1) {
			size_t i = h->base + __builtin_ctzll(h->bits);

			if (i >= at && hit_at(h->p, h->sz, i))
				return i;
		}
		h->base += SPOTS_BLOCK;
		if (h->base < (at & ~(size_t)(SPOTS_BLOCK - 1)))
			h->base = at & ~(size_t)(SPOTS_BLOCK - 1);
		if (h->base < h->sz)
			hits_load(h);
	}
	return h->sz;
}

/* The next hit, which stays the next one. */
static inline size_t redact_hits_first(struct redact_hits *h)
{
	return redact_hits_next(h, 0);
}

#endif
