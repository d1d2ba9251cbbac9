/* SPDX-License-Identifier: BSD-2-Clause */
/* Literals in SQL text, told character by character: strings become stars, numbers question marks;
 * names with digits in them, quoted names, parameters and comments stay. */
#include <ctype.h>

#include "redact_conn.h"

static bool is_word(uint8_t ch)
{
	return isalnum(ch) || ch == '_' || ch == '$' || ch >= 0x80;
}

static uint8_t quoted(struct redact_literal *l, uint8_t ch)
{
	if (l->quote == '$' && l->tag_sz > sizeof(l->tag))
		return '*'; /* a tag that was too long to be met again: all the rest */
	if (l->quote == '$') {
		/* The tag's own characters say nothing; all else until it is whole is secret. */
		l->seen = (uint8_t)l->tag[l->seen] == ch ? l->seen + 1 : ch == '$';
		if (l->seen == l->tag_sz)
			l->state = LIT_NONE;
		return l->seen ? ch : '*';
	}
	if (l->escaped || ch != l->quote) {
		l->escaped = !l->escaped && l->escapes && ch == '\\';
		return l->keep ? ch : '*';
	}
	l->state = LIT_NONE;
	return ch;
}

/* "$" begins a quotation of PostgreSQL as $$ or $tag$, or is a parameter as $1. */
static uint8_t tag(struct redact_literal *l, uint8_t ch)
{
	if (ch == '$' || (is_word(ch) && !(isdigit(ch) && l->tag_sz == 1))) {
		if (l->tag_sz < sizeof(l->tag))
			l->tag[l->tag_sz] = ch;
		l->tag_sz++;
		if (ch == '$' || l->tag_sz > sizeof(l->tag)) {
			l->state = LIT_QUOTED;
			l->quote = '$';
			l->seen = 0;
		}
		return ch;
	}
	l->state = LIT_NONE;
	l->word = isdigit(ch);
	return ch;
}

static void begin_quote(struct redact_literal *l, bool mysql, uint8_t ch, uint8_t before)
{
	/* A doubled quote goes on with the string it stands in. */
	if (before != ch)
		l->escapes = ch != '`' && (mysql || (ch == '\'' && (before | 32) == 'e'));
	l->state = LIT_QUOTED;
	l->quote = ch;
	l->keep = ch == '`' || (ch == '"' && !mysql);
	l->escaped = l->word = false;
}

static uint8_t plain(struct redact_literal *l, bool mysql, uint8_t ch, uint8_t before)
{
	if (ch == '\'' || ch == '"' || (ch == '`' && mysql)) {
		begin_quote(l, mysql, ch, before);
	} else if (isdigit(ch) && !l->word) {
		l->state = LIT_NUMBER;
		return '?';
	} else if (ch == '$' && !mysql && !l->word) {
		l->state = LIT_TAG;
		l->tag[0] = ch;
		l->tag_sz = 1;
	} else if ((ch == '-' && before == '-') || (ch == '#' && mysql)) {
		l->state = LIT_LINE;
	} else if (ch == '*' && before == '/') {
		l->state = LIT_COMMENT;
		l->depth = 1;
		ch = '*';
		l->last = 0;
	} else {
		l->word = is_word(ch);
	}
	return ch;
}

static void comment(struct redact_literal *l, bool mysql, uint8_t ch, uint8_t before)
{
	/* What stands in a comment that begins with ! is run by MySQL. */
	if (mysql && ch == '!' && !before && l->depth == 1)
		l->state = LIT_NONE;
	else if (ch == '*' && before == '/' && !mysql && l->depth < UINT8_MAX)
		l->depth++;
	else if (ch == '/' && before == '*' && !--l->depth)
		l->state = LIT_NONE;
	else
		return;
	l->last = ' ';
	l->word = false;
}

uint8_t redact_literal(struct redact_literal *l, bool mysql, uint8_t ch)
{
	uint8_t before = l->last;

	l->last = ch;
	switch (l->state) {
	case LIT_QUOTED:
		return quoted(l, ch);
	case LIT_TAG:
		return tag(l, ch);
	case LIT_LINE:
		if (ch == '\n')
			l->state = LIT_NONE;
		l->word = false;
		return ch;
	case LIT_COMMENT:
		comment(l, mysql, ch, before);
		return ch;
	case LIT_NUMBER:
		if (isalnum(ch) || ch == '.')
			return '?';
		l->state = LIT_NONE;
		l->word = false;
		break;
	case LIT_NONE:
		break;
	}
	return plain(l, mysql, ch, before);
}
