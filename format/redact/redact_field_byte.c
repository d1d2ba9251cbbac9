/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes a secret value byte by byte; its end depends on its kind. */
#include <string.h>

#include "format/redact/redact_fields.h"

static bool is_one_of(uint8_t ch, const char *set)
{
	return ch && strchr(set, ch);
}

static bool is_space(uint8_t ch)
{
	return is_one_of(ch, " \t\r\n");
}

static uint8_t done(struct redact_field *f, uint8_t ch)
{
	f->kind = FIELD_NONE;
	return ch;
}

static uint8_t until(struct redact_field *f, uint8_t ch, bool end)
{
	return end ? done(f, ch) : '*';
}

/* Whether a quote ends the string. */
static bool is_closing(const struct redact_field *f)
{
	return f->level ? f->slashes <= f->level : f->slashes % 2 == 0;
}

static bool count_slash(struct redact_field *f, uint8_t ch)
{
	if (ch == '\\')
		f->slashes += f->slashes < UINT8_MAX - 1 ? 1 : -1;
	return ch == '\\';
}

static uint8_t in_string(struct redact_field *f, uint8_t ch)
{
	bool closing = ch == f->quote && is_closing(f);

	if (closing || (ch < ' ' && !is_space(ch)))
		return done(f, ch);
	if (!count_slash(f, ch))
		f->slashes = 0;
	return '*';
}

static uint8_t begin_string(struct redact_field *f, uint8_t ch)
{
	f->kind = FIELD_STRING;
	f->quote = ch;
	f->slashes = 0;
	return ch;
}

static uint8_t behind_colon(struct redact_field *f, uint8_t ch)
{
	if (is_space(ch) || (f->level && ch == '\\'))
		return ch;
	if (ch == '"' || ch == '\'')
		return begin_string(f, ch);
	if (ch == '{' || ch == '[') {
		f->kind = FIELD_NEST;
		f->depth = 1;
		f->quoted = false;
		f->slashes = 0;
		return ch;
	}
	/* true, false, null */
	if (ch < ' ' || is_one_of(ch, "tfn,}]"))
		return done(f, ch);
	f->kind = FIELD_SCALAR;
	return '*';
}

/* Only a string is certainly a value: other text has names before a colon, too. */
static uint8_t behind_bare(struct redact_field *f, uint8_t ch)
{
	if (ch == '"' || ch == '\'')
		return begin_string(f, ch);
	if (ch == '\\' && f->level < UINT8_MAX)
		f->level++;
	else if (ch != ' ' && ch != '\t')
		f->kind = FIELD_NONE;
	return ch;
}

/* The value of a line of YAML. */
static uint8_t behind_value(struct redact_field *f, uint8_t ch)
{
	if (f->line && ch == ' ')
		return ch;
	if (f->line && (ch == '"' || ch == '\''))
		return begin_string(f, ch);
	f->line = 0;
	return until(f, ch, ch < ' ' && ch != '\t');
}

/* Up to the end tag, elements and CDATA within included; blank lines may precede the value. */
static uint8_t in_element(struct redact_field *f, uint8_t ch)
{
	bool ends = f->line && ch == '/';

	f->line = ch == '<';
	if (ends || (ch < ' ' && (!is_space(ch) || f->quoted)))
		return done(f, ch);
	f->quoted |= !is_space(ch);
	return ch == '<' || !f->quoted ? ch : '*';
}

/* Masks strings, names and numbers in an object or array. Nesting beyond the maximum depth does not
 * end it. */
static uint8_t in_nest(struct redact_field *f, uint8_t ch)
{
	if (ch < ' ' && !is_space(ch))
		return done(f, ch);
	if (count_slash(f, ch))
		return f->quoted ? '*' : ch;
	if (ch == '"' && (!f->quoted || is_closing(f)))
		f->quoted = !f->quoted;
	else if (f->quoted)
		ch = '*';
	else if (ch == '{' || ch == '[')
		f->depth += f->depth < UINT16_MAX;
	else if ((ch == '}' || ch == ']') && f->depth < UINT16_MAX && !--f->depth)
		f->kind = FIELD_NONE;
	else if (!is_space(ch) && !is_one_of(ch, ":,}]"))
		ch = '*';
	f->slashes = 0;
	return ch;
}

/* The head of a part ends with an empty line; when it is not a valid head, there is no part. */
static uint8_t in_part_head(struct redact_field *f, uint8_t ch)
{
	if (ch == '\r')
		return ch;
	if (ch == '\n') {
		f->kind = f->line ? FIELD_PART : FIELD_PART_HEAD;
		f->line = 1;
		return ch;
	}
	if (f->line == 2 || (f->line && (ch == '<' || ch == '-')))
		return done(f, ch);
	f->line = 0;
	return ch;
}

/* Masks up to the boundary, a line that starts with "--". */
static uint8_t in_part(struct redact_field *f, uint8_t ch)
{
	if (ch == '\n')
		f->line = 1;
	if (ch == '\n' || ch == '\r')
		return ch;
	if (ch == '-' && f->line == 2)
		return done(f, ch);
	if (ch == '-' && f->line == 1) {
		f->line = 2;
		return ch;
	}
	f->line = 0;
	return '*';
}

uint8_t redact_field_byte(struct redact_field *f, uint8_t ch)
{
	if (f->kind == FIELD_EQUALS) {
		if (ch == '"' || (ch == '\'' && !f->quote))
			return begin_string(f, ch);
		f->kind = f->form ? FIELD_FORM : FIELD_QUERY;
	}
	switch (f->kind) {
	case FIELD_QUERY:
		return until(f, ch,
			     ch <= ' ' || (f->quote && ch == f->quote) || is_one_of(ch, "&#\"<>"));
	case FIELD_FORM:
		return until(f, ch, ch < ' ' || ch == '&');
	case FIELD_COLON:
		return behind_colon(f, ch);
	case FIELD_BARE:
		return behind_bare(f, ch);
	case FIELD_REST:
		return behind_value(f, ch);
	case FIELD_STRING:
		return in_string(f, ch);
	case FIELD_SCALAR:
		return until(f, ch, ch <= ' ' || is_one_of(ch, ",}]\""));
	case FIELD_NEST:
		return in_nest(f, ch);
	case FIELD_USER:
		if (ch <= ' ' || is_one_of(ch, "@/?#\"<>"))
			f->kind = FIELD_NONE;
		if (ch == ':')
			f->kind = FIELD_USERINFO;
		return ch;
	case FIELD_USERINFO:
		return until(f, ch, ch <= ' ' || is_one_of(ch, "@/?#\"<>"));
	case FIELD_PART_HEAD:
		return in_part_head(f, ch);
	case FIELD_PART:
		return in_part(f, ch);
	case FIELD_ELEMENT:
		return in_element(f, ch);
	}
	return ch;
}
