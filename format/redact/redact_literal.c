/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks literals in SQL text, character by character: strings become stars, numbers become question
 * marks. Names with digits, quoted names, parameters and comments are not masked.
 *
 * The end of a string may depend on server settings that the text does not show: whether \' ends it
 * (NO_BACKSLASH_ESCAPES and ANSI_QUOTES of MySQL, standard_conforming_strings of PostgreSQL), and
 * whether a MySQL comment with a version number is executed. Where the interpretations differ, the
 * rest of the statement is masked.
 */
#include <ctype.h>

#include "format/redact/redact_literal.h"

static bool is_digit(uint8_t ch)
{
	return ch >= '0' && ch <= '9';
}

/* Fast check for most characters; those of <ctype.h> are slower. */
static bool is_letter(uint8_t ch)
{
	return (ch | 32) >= 'a' && ((ch | 32) <= 'z' || ch >= 0x80);
}

static bool is_word(uint8_t ch)
{
	return is_letter(ch) || is_digit(ch) || ch == '_' || ch == '$';
}

static uint8_t lose(struct redact_literal *l)
{
	l->lost = true;
	return '*';
}

static uint8_t quoted(struct redact_literal *l, uint8_t ch)
{
	if (l->quote == '$' && l->tag_sz > sizeof(l->tag))
		return '*'; /* the tag was too long to be compared: mask the rest */
	if (l->quote == '$') {
		/* The characters of the tag are not secret; everything before the complete closing
		 * tag is. */
		l->seen = (uint8_t)l->tag[l->seen] == ch ? l->seen + 1 : ch == '$';
		if (l->seen == l->tag_sz)
			l->state = LIT_NONE;
		return l->seen ? ch : '*';
	}
	if (ch != l->quote) {
		l->escaped = l->escapes != ESCAPES_NEVER && ch == '\\' && !l->escaped;
		return l->keep ? ch : '*';
	}
	if (l->escaped && l->escapes == ESCAPES_PERHAPS)
		return lose(l);
	if (!l->escaped)
		l->state = LIT_NONE;
	else if (!l->keep)
		ch = '*';
	l->escaped = false;
	return ch;
}

/* Only E'...' certainly has escapes. */
static enum literal_escapes escapes(const struct redact_literal *l, enum sql_dialect dialect,
				    uint8_t ch)
{
	if (dialect == DIALECT_CQL || ch == '`' || (ch == '"' && dialect == DIALECT_POSTGRESQL))
		return ESCAPES_NEVER;
	return dialect == DIALECT_POSTGRESQL && l->e ? ESCAPES_SURE : ESCAPES_PERHAPS;
}

static void begin_quote(struct redact_literal *l, enum sql_dialect dialect, uint8_t ch,
			uint8_t before)
{
	/* A doubled quote continues its string. */
	if (before != ch)
		l->escapes = escapes(l, dialect, ch);
	l->state = LIT_QUOTED;
	l->quote = ch;
	l->keep = ch == '`' || (ch == '"' && dialect != DIALECT_MYSQL);
	l->escaped = l->word = l->e = false;
}

static uint8_t plain(struct redact_literal *l, enum sql_dialect dialect, uint8_t ch, uint8_t before)
{
	bool mysql = dialect == DIALECT_MYSQL;

	if (is_letter(ch)) {
		l->e = !l->word && (ch | 32) == 'e';
		l->word = true;
	} else if (ch == '\'' || ch == '"' || (ch == '`' && mysql)) {
		begin_quote(l, dialect, ch, before);
	} else if (is_digit(ch) && !l->word) {
		l->state = LIT_NUMBER;
		return '?';
	} else if (ch == '$' && !l->word) {
		l->state = LIT_TAG;
		l->tag[0] = ch;
		l->tag_sz = 1;
	} else if (ch == '-' && before == '-') {
		l->state = mysql ? LIT_DASHES : LIT_LINE;
	} else if ((ch == '#' && mysql) || (ch == '/' && before == '/' && dialect == DIALECT_CQL)) {
		l->state = LIT_LINE;
	} else if (ch == '*' && before == '/') {
		l->state = LIT_COMMENT;
		l->depth = 1;
		l->last = 0;
	} else {
		l->word = is_word(ch);
	}
	return ch;
}

/* "$" starts a quoted string ($$ or $tag$), a parameter ($1), or is part of a name. MySQL has such
 * strings since version 9. */
static uint8_t tag(struct redact_literal *l, enum sql_dialect dialect, uint8_t ch, uint8_t before)
{
	if (ch != '$' && (!is_word(ch) || (is_digit(ch) && l->tag_sz == 1))) {
		l->state = LIT_NONE;
		l->word = l->tag_sz > 1 || is_digit(ch) || dialect == DIALECT_MYSQL;
		return plain(l, dialect, ch, before);
	}
	if (l->tag_sz < sizeof(l->tag))
		l->tag[l->tag_sz] = ch;
	l->tag_sz++;
	if (ch != '$' && l->tag_sz <= sizeof(l->tag))
		return ch;
	l->state = LIT_QUOTED;
	l->quote = '$';
	l->seen = 0;
	l->lost = dialect == DIALECT_MYSQL;
	return ch;
}

static void comment(struct redact_literal *l, enum sql_dialect dialect, uint8_t ch, uint8_t before)
{
	enum { AFTER_M = 1 };
	bool mysql = dialect == DIALECT_MYSQL && l->depth == 1;

	/* MySQL executes the content of a comment that starts with ! or, in MariaDB, M!; after +,
	 * it contains hints. */
	if (mysql && ((!before && (ch == '!' || ch == '+')) || (before == AFTER_M && ch == '!'))) {
		l->state = LIT_NONE;
		l->run = true;
	} else if (mysql && !before && ch == 'M') {
		l->last = AFTER_M;
		return;
	} else if (ch == '*' && before == '/' && dialect == DIALECT_POSTGRESQL) {
		l->depth += l->depth < UINT8_MAX;
	} else if (ch != '/' || before != '*') {
		return;
	} else if (!--l->depth) {
		l->state = LIT_NONE;
	}
	l->last = ' ';
	l->word = l->e = false;
}

/* The end of a comment that may be executed: a server that did not execute it is now in plain text,
 * which differs from the state of one that did, unless that is plain text, too. */
static uint8_t end_run(struct redact_literal *l, uint8_t ch)
{
	l->run = false;
	if (l->state == LIT_QUOTED || l->state == LIT_LINE)
		return lose(l);
	l->state = LIT_NONE;
	l->last = ' ';
	l->word = l->e = false;
	return ch;
}

static bool ends_line(enum sql_dialect dialect, uint8_t ch)
{
	return ch == '\n' || (ch == '\r' && dialect != DIALECT_MYSQL);
}

uint8_t redact_literal(struct redact_literal *l, enum sql_dialect dialect, uint8_t ch)
{
	uint8_t before = l->last;

	if (l->lost)
		return '*';
	l->last = ch;
	if (l->run && before == '*' && ch == '/' && l->state != LIT_COMMENT)
		return end_run(l, ch);
	switch (l->state) {
	case LIT_QUOTED:
		return quoted(l, ch);
	case LIT_TAG:
		return tag(l, dialect, ch, before);
	case LIT_DASHES: /* in MySQL a comment requires a space after them */
		l->state = isspace(ch) || iscntrl(ch) ? LIT_LINE : LIT_NONE;
		if (l->state == LIT_NONE)
			break;
		/* fall through */
	case LIT_LINE:
		if (ends_line(dialect, ch))
			l->state = LIT_NONE;
		l->word = l->e = false;
		return ch;
	case LIT_COMMENT:
		comment(l, dialect, ch, before);
		return ch;
	case LIT_NUMBER:
		if (is_letter(ch) || is_digit(ch) || ch == '.')
			return '?';
		l->state = LIT_NONE;
		l->word = l->e = false;
		break;
	case LIT_NONE:
		break;
	}
	return plain(l, dialect, ch, before);
}
