/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds statements that contain a secret: CREATE USER ... IDENTIFIED BY, ALTER ROLE ... PASSWORD,
 * CHANGE MASTER TO MASTER_PASSWORD, CREATE SUBSCRIPTION ... CONNECTION 'password=...', dblink(),
 * OPTIONS (password ...), crypt(). There is no common grammar, but each has a characteristic word.
 * All literals after such a word are masked to the end of the statement. The words may also be
 * inside a string, the rest of which is then masked.
 *
 * Hardly any statement has such a word. In a complete statement, two letters of each word are
 * searched, 16 bytes at a time.
 */
#include <ctype.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "format/redact/redact_literal.h"

/* Words in lower case, at most 8 letters, and the offset of the pair of letters to search for. Each
 * pair is one of PAIRS, except for the last ones, which are for Kafka's settings. */
#define WORDS(X)                                                                                   \
	X("passw", 2)                                                                              \
	X("passphr", 2)                                                                            \
	X("pwd", 1)                                                                                \
	X("identifi", 6)                                                                           \
	X("secret", 2)                                                                             \
	X("crypt", 0)                                                                              \
	X("credenti", 0)                                                                           \
	X("ystore.k", 2)                                                                           \
	X("jaas.con", 2)
#define PAIRS(X) X('s', 's') X('w', 'd') X('f', 'i') X('c', 'r') X(':', '/')

enum { BLOCK = 16, WORD_MAX = 8 };

static const struct {
	char text[WORD_MAX + 1];
	uint8_t sz, pair;
} words[] = {
#define X(text, pair) {text, sizeof(text) - 1, pair},
	WORDS(X)
#undef X
};
enum { WORD_CNT = sizeof(words) / sizeof(words[0]) };

static bool is_word(uint8_t ch)
{
	return isalnum(ch) || ch == '_' || ch == '$' || ch >= 0x80;
}

/* Whether the character ends a URL's host. */
static bool ends_host(uint8_t ch)
{
	return ch <= ' ' || strchr("/?#'\"`\\,;)", ch);
}

/* ---- through calls ---- */

/* `recent`: the last characters, the latest in the lowest byte. */
static bool is_name(uint64_t recent)
{
	for (unsigned i = 0; i < WORD_CNT; i++) {
		unsigned at = words[i].sz;
		uint64_t left = recent;

		while (at && (left & 0xff) == (uint8_t)words[i].text[at - 1]) {
			left >>= 8;
			at--;
		}
		if (!at)
			return true;
	}
	return false;
}

static void look(struct redact_literal *l, uint8_t ch)
{
	l->recent = l->recent << 8 | (ch >= 'A' && ch <= 'Z' ? ch | 32 : ch);
	l->armed |= l->named && !is_word(ch);
	l->named |= is_name(l->recent);
	if (l->url && ends_host(ch))
		l->url = false;
	l->url |= (l->recent & 0xffffff) == (':' << 16 | '/' << 8 | '/');
}

uint8_t redact_secret_literal(struct redact_literal *l, enum sql_dialect dialect, uint8_t ch)
{
	uint8_t out = redact_literal(l, dialect, ch);

	if (!l->armed)
		out = l->url && !ends_host(ch) && ch != '@' ? '*' : ch;
	look(l, ch);
	return out;
}

/* ---- as a whole ---- */

static bool has_user(const uint8_t *p, size_t sz)
{
	for (size_t i = 0; i < sz && !ends_host(p[i]); i++)
		if (p[i] == '@')
			return true;
	return false;
}

/* Whether the pair at `at` belongs to a word. */
static bool is_word_at(const uint8_t *p, size_t sz, size_t at)
{
	if (p[at] == ':')
		return sz - at > 3 && p[at + 1] == '/' && p[at + 2] == '/' &&
		       has_user(p + at + 3, sz - at - 3);
	for (unsigned i = 0; i < WORD_CNT; i++) {
		size_t begin = at - words[i].pair, k = 0;

		if (at < words[i].pair || sz - begin < words[i].sz)
			continue;
		while (k < words[i].sz && (p[begin + k] | 32) == words[i].text[k])
			k++;
		if (k == words[i].sz)
			return true;
	}
	return false;
}

static bool is_pair(const uint8_t *p)
{
	uint8_t first = p[0] | 32, second = p[1] | 32;

#define X(a, b) || (first == (a) && second == ((b) | 32))
	return false PAIRS(X);
#undef X
}

#ifdef __SSE2__
static unsigned pairs_of_block(const uint8_t *p)
{
	const __m128i small = _mm_set1_epi8(32);
	__m128i first = _mm_or_si128(_mm_loadu_si128((const __m128i *)p), small);
	__m128i second = _mm_or_si128(_mm_loadu_si128((const __m128i *)(p + 1)), small);
	__m128i any = _mm_setzero_si128();

#define X(a, b)                                                                                    \
	any = _mm_or_si128(any, _mm_and_si128(_mm_cmpeq_epi8(first, _mm_set1_epi8(a)),             \
					      _mm_cmpeq_epi8(second, _mm_set1_epi8((b) | 32))));
	PAIRS(X)
#undef X
	return _mm_movemask_epi8(any);
}

static bool block_names_secret(const uint8_t *p, size_t sz, size_t at)
{
	for (unsigned bits = pairs_of_block(p + at); bits; bits &= bits - 1)
		if (is_word_at(p, sz, at + __builtin_ctz(bits)))
			return true;
	return false;
}
#endif

bool redact_names_secret(const uint8_t *p, size_t sz)
{
	size_t at = 0;

#ifdef __SSE2__
	if (sz > BLOCK) {
		for (; sz - at > BLOCK; at += BLOCK)
			if (block_names_secret(p, sz, at))
				return true;
		return block_names_secret(p, sz, sz - BLOCK - 1);
	}
#endif
	for (; at + 1 < sz; at++)
		if (is_pair(p + at) && is_word_at(p, sz, at))
			return true;
	return false;
}
