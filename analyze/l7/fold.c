/* SPDX-License-Identifier: BSD-2-Clause */
/* Names without what varies: path templates and key patterns; and small text helpers of the
 * parsers. */
#include <ctype.h>
#include <string.h>

#include "../../format/text.h"
#include "l7.h"

/* A token this long with digits in it is an identifier, not a word. */
enum { TOKEN_MIN = 16, HEX_MIN = 8 };

static bool is_separator(unsigned char c)
{
	static const bool separators[256] = {
		['/'] = true, [':'] = true, ['.'] = true, ['|'] = true, ['-'] = true, ['_'] = true,
		[','] = true, [';'] = true, ['='] = true, ['@'] = true, ['&'] = true, ['{'] = true,
		['}'] = true, ['['] = true, [']'] = true, ['('] = true, [')'] = true, ['#'] = true,
		['~'] = true, [' '] = true, [0] = true,
	};

	return separators[c];
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

/* What stands for a segment; NULL: the segment itself. */
static const char *stand_in(const char *p, size_t len)
{
	size_t digits = 0, hex = 0;

	for (size_t i = 0; i < len; i++) {
		digits += !!isdigit((unsigned char)p[i]);
		hex += !!isxdigit((unsigned char)p[i]);
	}
	if (!digits)
		return NULL;
	if (digits == len)
		return "{n}";
	if ((hex == len && len >= HEX_MIN) || len >= TOKEN_MIN)
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
		const char *other;
		size_t n = 0;

		if (is_uuid(s.p + i, s.len - i)) {
			put(dst, dst_sz, &at, "{uuid}", 6);
			i += 36;
			continue;
		}
		while (i + n < s.len && !is_separator(s.p[i + n]))
			n++;
		other = stand_in(s.p + i, n);
		put(dst, dst_sz, &at, other ? other : s.p + i, other ? strlen(other) : n);
		i += n;
		if (i < s.len)
			put(dst, dst_sz, &at, s.p + i++, 1);
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
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] < 0x20 || s.p[i] > 0x7e || s.p[i] == '"' || s.p[i] == '\\' ||
		    s.p[i] == '<')
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
