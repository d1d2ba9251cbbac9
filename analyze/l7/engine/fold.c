/* SPDX-License-Identifier: BSD-2-Clause */
/* Removes the variable parts of names (path templates, key patterns); small text helpers for
 * parsers. */
#include <ctype.h>
#include <string.h>

#include "format/text.h"
#include "analyze/l7/engine/l7.h"

/* A token of at least this length with digits in it is an identifier, not a word. */
enum { TOKEN_MIN = 16, HEX_MIN = 8 };

enum { SEPARATOR = 1, DIGIT = 2, HEX = 4 };

static const uint8_t kinds[256] = {
	['/'] = SEPARATOR, [':'] = SEPARATOR,		['.'] = SEPARATOR,   ['|'] = SEPARATOR,
	['-'] = SEPARATOR, ['_'] = SEPARATOR,		[','] = SEPARATOR,   [';'] = SEPARATOR,
	['='] = SEPARATOR, ['@'] = SEPARATOR,		['&'] = SEPARATOR,   ['{'] = SEPARATOR,
	['}'] = SEPARATOR, ['['] = SEPARATOR,		[']'] = SEPARATOR,   ['('] = SEPARATOR,
	[')'] = SEPARATOR, ['#'] = SEPARATOR,		['~'] = SEPARATOR,   [' '] = SEPARATOR,
	[0] = SEPARATOR,   ['0' ... '9'] = DIGIT | HEX, ['a' ... 'f'] = HEX, ['A' ... 'F'] = HEX,
};

static uint8_t kind_of(char c)
{
	return kinds[(unsigned char)c];
}

/* 8-4-4-4-12 hexadecimal digits (RFC 9562). */
static bool is_uuid(const char *p, size_t len)
{
	static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	if (len < sizeof(shape) - 1)
		return false;
	for (size_t i = 0; i < sizeof(shape) - 1; i++)
		if (shape[i] == '-' ? p[i] != '-' : !isxdigit((unsigned char)p[i]))
			return false;
	return len == sizeof(shape) - 1 || !isalnum((unsigned char)p[sizeof(shape) - 1]);
}

/* A segment up to a separator. */
struct word {
	size_t len, digits, hex;
};

static struct word word_at(const char *p, size_t left)
{
	struct word s = {0};
	uint8_t kind;

	for (; s.len < left && (kind = kind_of(p[s.len])) != SEPARATOR; s.len++) {
		s.digits += kind / DIGIT % 2;
		s.hex += kind / HEX;
	}
	return s;
}

/* The placeholder of a segment. NULL: the segment is used as it is. */
static const char *stand_in(const struct word *s)
{
	if (!s->digits)
		return NULL;
	if (s->digits == s->len)
		return "{n}";
	if ((s->hex == s->len && s->len >= HEX_MIN) || s->len >= TOKEN_MIN)
		return "{id}";
	return NULL;
}

static void put(char *dst, size_t dst_sz, size_t *at, const char *p, size_t len)
{
	if (len > dst_sz - *at)
		len = dst_sz - *at;
	memcpy(dst + *at, p, len);
	*at += len;
}

struct span l7_fold(struct span s, char *dst, size_t dst_sz)
{
	size_t at = 0, i = 0;

	while (i < s.len) {
		struct word next;
		const char *other;

		if (is_uuid(s.p + i, s.len - i)) {
			put(dst, dst_sz, &at, "{uuid}", 6);
			i += 36;
			continue;
		}
		next = word_at(s.p + i, s.len - i);
		other = stand_in(&next);
		put(dst, dst_sz, &at, other ? other : s.p + i, other ? strlen(other) : next.len);
		i += next.len;
		if (i < s.len && at < dst_sz)
			dst[at++] = s.p[i];
		i++;
	}
	return (struct span){dst, at};
}

struct span l7_upper(struct span s, char *dst, size_t dst_sz)
{
	size_t n = s.len < dst_sz ? s.len : dst_sz;

	for (size_t i = 0; i < n; i++)
		dst[i] = toupper((unsigned char)s.p[i]);
	return (struct span){dst, n};
}

static bool is_plain(struct span s)
{
	static const bool plain[256] = {
		[' ' ... '!'] = true,
		['#' ... ';'] = true,
		['=' ... '['] = true,
		[']' ... '~'] = true,
	};

	for (size_t i = 0; i < s.len; i++)
		if (!plain[(unsigned char)s.p[i]])
			return false;
	return true;
}

struct span l7_json(struct l7_parser *parser, struct span s, size_t max)
{
	struct strbuf b = {0};
	struct span text;

	if (s.len > max)
		s.len = max;
	if (is_plain(s))
		return l7_keep(parser, s);
	strbuf_escape(&b, ESCAPE_JSON, s);
	text = l7_keep(parser, (struct span){b.p, b.len});
	strbuf_fini(&b);
	return text;
}
