/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the start of secret values. */
#include <strings.h>

#include "format/redact/redact_conn.h"
#include "format/redact/redact_hits.h"

enum { NAME_SZ = CARRY_MAX, ELEMENT_SZ = 4 * NAME_SZ };

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
	return (redact_name_where(name + begin, n - begin) |
		(begin ? redact_name_where(name, n) : 0)) &
	       where;
}

/* ---- values that may start at a hit ---- */

/* 1: ends a token, and cannot be part of a name; 2: only the latter. */
static const uint8_t ends[256] = {
	[0 ... ' '] = 1, ['&'] = 1,  ['?'] = 1,		  ['#'] = 1,  [';'] = 1, [','] = 1,
	['{'] = 1,	 ['}'] = 1,  ['<'] = 1,		  ['>'] = 1,  ['('] = 1, [')'] = 1,
	['|'] = 1,	 ['*'] = 1,  ['"'] = 2,		  ['\''] = 2, ['='] = 2, [':'] = 2,
	['/'] = 2,	 ['\\'] = 2, [0x7f ... 0xff] = 1,
};

static inline bool ends_token(uint8_t ch)
{
	return ends[ch] == 1;
}

static inline bool is_name_char(uint8_t ch)
{
	return !ends[ch];
}

/* name="password" or ; name=password of a multipart form, at its end of line. */
static bool begins_part(const struct redact_call *c, size_t at)
{
	const uint8_t *p = c->p;
	bool quoted = p[at + 1] == '"';
	size_t from = at + 1 + quoted, to = from;

	if (at < 4 || memcmp(p + at - 4, "name", 4))
		return false;
	if (at > 4 && p[at - 5] != ' ' && p[at - 5] != ';')
		return false;
	/* Others have names without quotes, too. */
	if (!quoted && (at < 6 || p[at - 5] != ' ' || p[at - 6] != ';') &&
	    (at < 5 || p[at - 5] != ';'))
		return false;
	while (to < c->kept && to - from < NAME_SZ && (quoted ? p[to] != '"' : is_name_char(p[to])))
		to++;
	if (!is_secret(p + from, to - from, '%', REDACT_IN_QUERY | REDACT_IN_VALUE))
		return false;
	if (quoted && to < c->kept && p[to++] != '"')
		return false;
	return to < c->kept && (p[to] == '\r' || p[to] == '\n');
}

/* Whether the line contains only form fields before it: no URL, no other text. */
static bool is_form(const struct redact_field *f, const struct redact_call *c, size_t at)
{
	while (at && c->p[at - 1] != '\n')
		if (c->p[--at] <= ' ' || strchr("\"'<>?/:", c->p[at]))
			return false;
	return (at && !c->whole) || !f->head;
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

/* ---- pairs of a name and its value: {"name": "token", "value": "X"} ---- */

enum { PAIR_SZ = 256, MEMBERS_MAX = 4 };

struct quoted {
	uint8_t quote, level; /* backslashes before the quote, when the JSON is inside a string */
};

/* Whether a name is `what` or ends with it: ParameterKey. */
static bool ends_with(const uint8_t *p, size_t sz, const char *what)
{
	size_t n = strlen(what);

	return sz >= n && !strncasecmp((const char *)p + sz - n, what, n);
}

static bool is_pair_name(const uint8_t *p, size_t sz)
{
	return ends_with(p, sz, "name") || ends_with(p, sz, "key");
}

/* The usual ones, quickly. */
static bool is_member(const uint8_t *p, size_t sz)
{
	return !redact_names_added() &&
	       ((sz == 3 && !memcmp(p, "key", 3)) || (sz == 4 && !memcmp(p, "name", 4)) ||
		(sz == 5 && !memcmp(p, "value", 5)));
}

static size_t skip_space(const struct redact_call *c, size_t at)
{
	while (at < c->kept && (c->p[at] == ' ' || (c->p[at] >= '\t' && c->p[at] <= '\r')))
		at++;
	return at;
}

/* End of a quoted string whose quote is expected at `at`, and where its text is; 0: there is none,
 * or its end is not within the call. */
static size_t read_string(const struct redact_call *c, struct quoted q, size_t at, size_t *from,
			  size_t *to)
{
	size_t most = c->kept - at < PAIR_SZ ? c->kept : at + PAIR_SZ, slashes = 0;

	if (at + q.level >= c->kept || c->p[at + q.level] != q.quote)
		return 0;
	*from = at + q.level + 1;
	for (size_t i = *from; i < most; i++) {
		if (c->p[i] == '\\') {
			slashes++;
		} else if (c->p[i] == q.quote && slashes <= q.level) {
			*to = i - slashes;
			return i + 1;
		} else {
			slashes = 0;
		}
	}
	return 0;
}

/* End of a string, number or word; 0: as above. */
static size_t read_value(const struct redact_call *c, struct quoted q, size_t at, size_t *from,
			 size_t *to)
{
	size_t end = read_string(c, q, at, from, to);

	if (end)
		return end;
	for (*from = at; at < c->kept && is_name_char(c->p[at]);)
		at++;
	*to = at;
	return at > *from && at < c->kept ? at : 0;
}

static bool is_name_of_secret(const struct redact_call *c, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (!is_name_char(c->p[i]) && c->p[i] != '/')
			return false;
	return is_secret(c->p + from, to - from, '\\', REDACT_IN_VALUE);
}

/* Whether one of the next members, after the value at `at`, is a secret's name. */
static bool name_follows(const struct redact_call *c, struct quoted q, size_t at)
{
	size_t from, to, name, name_end;

	at = read_value(c, q, skip_space(c, at), &from, &to);
	for (int i = 0; at && i < MEMBERS_MAX; i++) {
		at = skip_space(c, at);
		if (at == c->kept || c->p[at] != ',')
			return false;
		at = read_string(c, q, skip_space(c, at + 1), &name, &name_end);
		at = at ? skip_space(c, at) : c->kept;
		if (at == c->kept || c->p[at] != ':')
			return false;
		at = read_value(c, q, skip_space(c, at + 1), &from, &to);
		if (at && is_pair_name(c->p + name, name_end - name))
			return is_name_of_secret(c, from, to);
	}
	return false;
}

static bool goes_on_within(const struct redact_field *f, const struct redact_call *c, size_t to)
{
	return to <= f->pair_at || f->pair == ':' ||
	       !memchr(c->p + f->pair_at, '}', to - f->pair_at);
}

/* Notes a name, or whether a value belongs to a secret's. */
static size_t at_member(struct redact_field *f, const struct redact_call *c, struct quoted q,
			size_t at, size_t name, size_t sz)
{
	size_t from, to;

	if (is_pair_name(c->p + name, sz)) {
		f->pair = 0;
		if (read_string(c, q, skip_space(c, at + 1), &from, &to) &&
		    is_name_of_secret(c, from, to)) {
			f->pair = q.quote;
			f->pair_at = to;
		}
		return at;
	}
	if (!ends_with(c->p + name, sz, "value") ||
	    !((f->pair == q.quote && goes_on_within(f, c, at)) || name_follows(c, q, at + 1)))
		return at;
	f->pair = 0;
	f->kind = FIELD_COLON;
	return at + 1;
}

/* The same in YAML: lines with name: and value: */
static size_t at_line(struct redact_field *f, const struct redact_call *c, size_t at)
{
	size_t from = at + 1, to, name = at;

	if (c->p[at - 1] != 'e')
		return at;
	while (name && at - name < NAME_SZ && is_name_char(c->p[name - 1]))
		name--;
	if (at - name == 5 && !memcmp(c->p + name, "value", 5) && f->pair == ':') {
		f->pair = 0;
		f->kind = FIELD_REST;
		f->line = 1;
		f->level = 0;
		return from;
	}
	if (at - name != 4 || memcmp(c->p + name, "name", 4))
		return at;
	while (from < c->kept && strchr(" \"'", c->p[from]) && c->p[from])
		from++;
	for (to = from; to < c->kept && is_name_char(c->p[to]);)
		to++;
	f->pair = to < c->kept && strchr("\"'\r\n", c->p[to]) && is_name_of_secret(c, from, to)
			  ? ':'
			  : 0;
	f->pair_at = to;
	return at;
}

/* name: and a quoted string */
static size_t at_bare(struct redact_field *f, const struct redact_call *c, size_t at)
{
	size_t from = at, value = at + 1;

	if (at < REDACT_TAIL)
		return at;
	if (!redact_may_end(c->p + at, at))
		return at_line(f, c, at);
	while (value < c->kept && (c->p[value] == ' ' || c->p[value] == '\t'))
		value++;
	if (value < c->kept && !strchr("\"'\\", c->p[value]))
		return at_line(f, c, at);
	while (from && at - from < NAME_SZ && is_name_char(c->p[from - 1]))
		from--;
	if (!is_secret(c->p + from, at - from, '\\', REDACT_IN_VALUE))
		return at_line(f, c, at);
	f->kind = FIELD_BARE;
	f->level = 0;
	return at + 1;
}

/* "name": or, within a string, \"name\": */
static size_t at_colon(struct redact_field *f, const struct redact_call *c, size_t at)
{
	size_t end = at, from;
	struct quoted q = {0};

	while (end && (c->p[end - 1] == ' ' || c->p[end - 1] == '\t'))
		end--;
	if (!end || (c->p[end - 1] != '"' && c->p[end - 1] != '\''))
		return end == at ? at_bare(f, c, at) : at;
	q.quote = c->p[end - 1];
	for (end--; end && c->p[end - 1] == '\\' && q.level < NAME_SZ; end--)
		q.level++;
	for (from = end; from && end - from < NAME_SZ && c->p[from - 1] != q.quote;)
		from--;
	f->level = q.level;
	if (is_member(c->p + from, end - from) ||
	    !is_secret(c->p + from, end - from, '\\', REDACT_IN_VALUE))
		return at_member(f, c, q, at, from, end - from);
	f->kind = FIELD_COLON;
	return at + 1;
}

/* <name> and <ns:name attribute="..."> */
static size_t at_element(struct redact_field *f, const struct redact_call *c, size_t at)
{
	size_t from = at, to;

	while (from && at - from < ELEMENT_SZ && c->p[from - 1] >= ' ' && c->p[from - 1] != '<')
		from--;
	if (!from || c->p[from - 1] != '<')
		return at;
	for (to = from; to < at && is_name_char(c->p[to]);)
		if (c->p[++to] == ':')
			from = ++to;
	if ((to < at && c->p[to] != ' ') || !is_secret(c->p + from, to - from, 0, REDACT_IN_VALUE))
		return at;
	f->kind = FIELD_ELEMENT;
	f->line = 0;
	f->quoted = false;
	return at + 1;
}

/* Whether "://" is that of http or https. */
static bool is_http(const struct redact_call *c, size_t at)
{
	at -= at && (c->p[at - 1] | 32) == 's';
	return at >= 4 && !strncasecmp((const char *)c->p + at - 4, "http", 4);
}

/* Whether only digits follow, up to the end. */
static bool is_port(const struct redact_call *c, size_t at)
{
	while (at < c->kept && c->p[at] >= '0' && c->p[at] <= '9')
		at++;
	return at == c->kept;
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
	if (i == c->kept && colon && !(c->whole && is_port(c, colon))) {
		f->kind = FIELD_USERINFO;
		last = last > colon ? last : i;
	}
	if (i == c->kept && !colon && i - at > CARRY_MAX / 2)
		f->kind = FIELD_USER;
	if (colon ? last > colon : last && is_http(c, at))
		redact_mask(c, colon ? colon : at + 3, last, '*');
	return last > at ? last : f->kind ? i : at;
}

/* Returns the start of the value, or the position of the hit. */
static inline size_t look_at(struct redact_field *f, struct redact_call *c, size_t at)
{
	if (c->p[at] == '=')
		return at_equals(f, c, at);
	if (at + 2 < c->kept && c->p[at + 1] == '/' && c->p[at + 2] == '/')
		return at_authority(f, c, at);
	return c->p[at] == '>' ? at_element(f, c, at) : at_colon(f, c, at);
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

/* Start of a tag at the end of the call that may be a secret element's, else the end. */
static size_t unfinished_tag(const struct redact_call *c, size_t from)
{
	size_t most = c->kept - from < CARRY_MAX ? c->kept - from : CARRY_MAX;
	const uint8_t *tag = memrchr(c->p + c->kept - most, '<', most);
	size_t at = tag ? (size_t)(tag - c->p) : c->kept;

	return at + 1 < c->kept && (!is_name_char(c->p[at + 1]) || memchr(tag, '>', c->kept - at))
		       ? c->kept
		       : at;
}

/* Start of the token before `at`, with the name and colon before it, or with "; ". */
static size_t token_start(const struct redact_call *c, size_t from, size_t at)
{
	size_t least = c->kept - from < CARRY_MAX ? from : c->kept - CARRY_MAX, blank = at;

	for (;;) {
		for (at = blank; at > least && !ends_token(c->p[at - 1]);)
			at--;
		for (blank = at;
		     blank > least && (c->p[blank - 1] == ' ' || c->p[blank - 1] == '\t');)
			blank--;
		if (blank == at || blank == least || (c->p[blank - 1] != ':' && c->p[at] != ':'))
			break;
	}
	return blank > least && c->p[blank - 1] == ';' ? blank - 1 : at;
}

/* Start of a name that may continue after the call; for a long token, only its last bytes. */
static size_t unfinished(const struct redact_call *c, size_t from)
{
	size_t at = c->kept, tag;

	if (c->kept < c->len)
		return at;
	tag = unfinished_tag(c, from);
	while (at > from && (c->p[at - 1] == ' ' || c->p[at - 1] == '\t') &&
	       c->kept - at < CARRY_MAX)
		at--;
	/* There may be blanks between "name" and colon, and before the name that is a value. */
	if (at < c->kept && (at == from || !strchr("\":;", c->p[at - 1])))
		at = c->kept;
	else
		at = token_start(c, from, at);
	return tag < at ? tag : at;
}

bool redact_fields_go_on(const uint8_t *carry, size_t carry_sz, const struct redact_call *c)
{
	size_t i = 0, most = c->kept < NAME_SZ ? c->kept : NAME_SZ;

	if (memmem(carry, carry_sz, "://", 3) || memchr(carry, '<', carry_sz) ||
	    memmem(carry, carry_sz, "name", 4) || strchr(":;/\" ", carry[carry_sz - 1]))
		return true;
	while (i < most && is_name_char(c->p[i]))
		i++;
	return i == most || (!ends_token(c->p[i]) && c->p[i] != '/');
}

size_t redact_fields(struct redact_field *f, struct redact_call *c, struct redact_hits hits)
{
	size_t at = f->kind ? go_on(f, c, 0) : 0, from = at, hit;

	while ((hit = redact_hits_next(&hits, at)) < c->kept) {
		size_t value = look_at(f, c, hit);

		if (f->kind)
			from = value = go_on(f, c, value);
		at = value > hit ? value : hit + 1;
		/* after masking, p is a copy */
		hits.p = c->p;
	}
	if (f->pair && !goes_on_within(f, c, c->kept))
		f->pair = 0;
	f->pair_at = 0;
	return f->kind ? c->kept : unfinished(c, from);
}
