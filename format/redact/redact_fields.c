/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the start of secret values. */
#include <strings.h>

#include "format/redact/redact_conn.h"
#include "format/redact/redact_hits.h"

enum { NAME_SZ = CARRY_MAX };

/* ---- names ---- */

static unsigned hex(uint8_t ch)
{
	return ch <= '9' ? ch - '0' : (ch | 32) - 'a' + 10;
}

static bool is_hex(const uint8_t *p, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (!((p[i] >= '0' && p[i] <= '9') || ((p[i] | 32) >= 'a' && (p[i] | 32) <= 'f')))
			return false;
	return true;
}

/* Whether the name is a secret's, after removing escapes (%41, \u0041) and brackets (a[b], a.b). */
static bool is_secret(const uint8_t *p, size_t sz, uint8_t escape, unsigned where)
{
	size_t n = 0, skip = escape == '%' ? 1 : 2, digits = escape == '%' ? 2 : 4, begin = 0;
	char name[NAME_SZ];

	for (size_t i = 0; i < sz && n < sizeof(name); i++) {
		if (p[i] == escape && i + skip + digits <= sz && is_hex(p + i + skip, digits)) {
			i += skip + digits - 1;
			name[n++] = hex(p[i - 1]) << 4 | hex(p[i]);
		} else {
			name[n++] = p[i];
		}
	}
	if (n && name[n - 1] == ']')
		n--;
	for (size_t i = 0; i < n; i++)
		if (name[i] == '[' || name[i] == '.' || name[i] == '/')
			begin = i + 1;
	return (redact_name_where(name + begin, n - begin) | redact_name_where(name, n)) & where;
}

/* ---- values that may start at a hit ---- */

/* Characters that end a token: they cannot be part of a name. */
static const uint8_t ends[256] = {
	[0 ... ' '] = 1, ['&'] = 1, ['?'] = 1, [';'] = 1, [','] = 1,
	['{'] = 1,	 ['}'] = 1, ['<'] = 1, ['>'] = 1, ['('] = 1,
	[')'] = 1,	 ['|'] = 1, ['*'] = 1, ['#'] = 1, [0x7f ... 0xff] = 1,
};

static inline bool ends_token(uint8_t ch)
{
	return ends[ch];
}

static bool is_name_char(uint8_t ch)
{
	return !ends_token(ch) && ch != '"' && ch != '\'' && ch != '=' && ch != ':' && ch != '/' &&
	       ch != '\\';
}

/* name="password" of a multipart form, at its end of line. */
static bool begins_part(const struct redact_call *c, size_t at)
{
	size_t from = at + 2, to = from;

	if (at < 4 || memcmp(c->p + at - 4, "name", 4) || c->p[at + 1] != '"')
		return false;
	if (at > 4 && c->p[at - 5] != ' ' && c->p[at - 5] != ';')
		return false;
	while (to < c->kept && c->p[to] != '"' && to - from < NAME_SZ)
		to++;
	if (to + 1 >= c->kept || c->p[to] != '"' || (c->p[to + 1] != '\r' && c->p[to + 1] != '\n'))
		return false;
	return is_secret(c->p + from, to - from, '%', REDACT_IN_QUERY | REDACT_IN_VALUE);
}

/* Whether the line contains only form fields before it: no URL, no other text. */
static bool is_form(const struct redact_field *f, const struct redact_call *c, size_t at)
{
	while (at && c->p[at - 1] != '\n')
		if (c->p[--at] <= ' ' || strchr("\"'<>?/:", c->p[at]))
			return false;
	return at || !f->head;
}

/* Whether it is inside single quotes, as in SQL and shells. */
static bool is_quoted(const struct redact_call *c, size_t at)
{
	bool quoted = false;

	while (at && c->p[at - 1] != '\n')
		quoted ^= c->p[--at] == '\'';
	return quoted;
}

static size_t at_equals(struct redact_field *f, const struct redact_call *c, size_t at)
{
	size_t from = at;

	if (at && c->p[at - 1] == 'e' && at + 2 < c->kept && begins_part(c, at)) {
		f->kind = FIELD_PART_HEAD;
		f->line = 0;
		return at + 1;
	}
	while (from && at - from < NAME_SZ && is_name_char(c->p[from - 1]))
		from--;
	if (!is_secret(c->p + from, at - from, '%', REDACT_IN_QUERY))
		return at;
	f->kind = FIELD_EQUALS;
	f->level = 0;
	f->form = is_form(f, c, from);
	f->quote = is_quoted(c, from) ? '\'' : 0;
	return at + 1;
}

/* "name": or, within a string, \"name\": */
static size_t at_colon(struct redact_field *f, const struct redact_call *c, size_t at)
{
	size_t end = at, from;

	while (end && (c->p[end - 1] == ' ' || c->p[end - 1] == '\t'))
		end--;
	if (!end || c->p[end - 1] != '"')
		return at;
	for (end--, f->level = 0; end && c->p[end - 1] == '\\' && f->level < NAME_SZ; end--)
		f->level++;
	for (from = end; from && end - from < NAME_SZ && c->p[from - 1] != '"';)
		from--;
	if (!is_secret(c->p + from, end - from, '\\', REDACT_IN_VALUE))
		return at;
	f->kind = FIELD_COLON;
	return at + 1;
}

/* Finds the password of scheme://user:password@host, or the rest of the call when it may be one. */
static size_t at_authority(struct redact_field *f, struct redact_call *c, size_t at)
{
	size_t i = at + 3, colon = 0, last = 0;

	for (; i < c->kept && c->p[i] > ' ' && !strchr("/?#\"<>", c->p[i]); i++) {
		if (c->p[i] == ':' && !colon)
			colon = i + 1;
		if (c->p[i] == '@')
			last = i;
	}
	if (i == c->kept && colon) {
		f->kind = FIELD_USERINFO;
		last = last > colon ? last : i;
	}
	if (i == c->kept && !colon && i - at > CARRY_MAX / 2)
		f->kind = FIELD_USER;
	if (colon && last > colon)
		redact_mask(c, colon, last, '*');
	return last > at ? last : f->kind ? i : at;
}

/* Returns the start of the value, or the position of the hit. */
static inline size_t look_at(struct redact_field *f, struct redact_call *c, size_t at)
{
	if (c->p[at] == '=')
		return at_equals(f, c, at);
	if (at + 2 < c->kept && c->p[at + 1] == '/' && c->p[at + 2] == '/')
		return at_authority(f, c, at);
	return at && (c->p[at - 1] == '"' || c->p[at - 1] == ' ') ? at_colon(f, c, at) : at;
}

/* ---- the scan ---- */

static size_t go_on(struct redact_field *f, struct redact_call *c, size_t at)
{
	while (at < c->kept && f->kind != FIELD_NONE) {
		redact_put(c, at, redact_field_byte(f, c->p[at]));
		at++;
	}
	return at;
}

/* Start of a name that may continue after the call; for a long token, only its last bytes. */
static size_t unfinished(const struct redact_call *c, size_t from)
{
	size_t at = c->kept;

	if (c->kept < c->len)
		return at;
	while (at > from && (c->p[at - 1] == ' ' || c->p[at - 1] == '\t') &&
	       c->kept - at < CARRY_MAX)
		at--;
	/* There may be blanks between "name" and colon. */
	if (at < c->kept && (at == from || c->p[at - 1] != '"'))
		return c->kept;
	while (at > from && c->kept - at < CARRY_MAX && !ends_token(c->p[at - 1]))
		at--;
	return at;
}

bool redact_fields_go_on(const uint8_t *carry, size_t carry_sz, const struct redact_call *c)
{
	size_t i = 0, most = c->kept < NAME_SZ ? c->kept : NAME_SZ;

	if (memmem(carry, carry_sz, "://", 3) || strchr(":/\" ", carry[carry_sz - 1]))
		return true;
	while (i < most && is_name_char(c->p[i]))
		i++;
	return i == most || (!ends_token(c->p[i]) && c->p[i] != '/');
}

size_t redact_fields(struct redact_field *f, struct redact_call *c, size_t hit)
{
	size_t at = f->kind ? go_on(f, c, 0) : 0, from = at;
	struct redact_hits hits;

	if (hit < c->kept) {
		hits = redact_hits(c->p, c->kept, hit > at ? hit : at);
		while ((hit = redact_hits_next(&hits, at)) < c->kept) {
			size_t value = look_at(f, c, hit);

			if (f->kind)
				from = value = go_on(f, c, value);
			at = value > hit ? value : hit + 1;
			/* after masking, p is a copy */
			hits.p = c->p;
		}
	}
	return f->kind ? c->kept : unfinished(c, from);
}
