/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scanner of SQL tokens, sufficient for digests. It finds the ends of strings, comments, numbers
 * and names by the lexical rules of MySQL, PostgreSQL and CQL, and does not parse grammar.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "analyze/l7/proto/sqltext.h"

enum kind { END, WORD, NAME, LITERAL, PUNCT };

struct scan {
	const char *p, *end;
	enum sql_dialect dialect;
	bool cut; /* the text ends inside a token */
};

struct token {
	enum kind kind;
	struct span text;
	bool spaced; /* preceded by white space or a comment */
};

static bool word_char(unsigned char c)
{
	return isalnum(c) || c == '_' || c == '$' || c == '@' || c >= 0x80;
}

/* Returns the end of a quoted string. Handles doubled quotes, and backslashes if they escape. */
static const char *quoted(struct scan *s, const char *p, char quote, bool backslash)
{
	for (p++; p < s->end; p++) {
		if (*p == '\\' && backslash)
			p++;
		else if (*p == quote && p + 1 < s->end && p[1] == quote)
			p++;
		else if (*p == quote)
			return p + 1;
	}
	s->cut = true;
	return s->end;
}

/* $tag$ ... $tag$ of PostgreSQL; NULL: p does not begin one. */
static const char *dollar_quoted(struct scan *s, const char *p)
{
	const char *tag = p + 1, *q;
	size_t n;

	while (tag < s->end && (isalnum((unsigned char)*tag) || *tag == '_'))
		tag++;
	if (tag == s->end || *tag != '$' || (p + 1 < tag && isdigit((unsigned char)p[1])))
		return NULL;
	n = tag + 1 - p;
	q = memmem(tag + 1, s->end - tag - 1, p, n);
	s->cut |= !q;
	return q ? q + n : s->end;
}

static const char *comment(struct scan *s, const char *p)
{
	size_t left = s->end - p;
	bool mysql = s->dialect == SQL_MYSQL;
	const char *q;

	if (left >= 2 && !memcmp(p, "/*", 2)) {
		q = memmem(p + 2, left - 2, "*/", 2);
		s->cut |= !q;
		return q ? q + 2 : s->end;
	}
	if ((left >= 2 && !memcmp(p, "--", 2) && (!mysql || left == 2 || p[2] <= ' ')) ||
	    (left >= 2 && !memcmp(p, "//", 2) && s->dialect == SQL_CQL) || (mysql && *p == '#')) {
		q = memchr(p, '\n', left);
		return q ? q + 1 : s->end;
	}
	return NULL;
}

static const char *number(struct scan *s, const char *p)
{
	bool hex = s->end - p > 2 && *p == '0' && (p[1] | 32) == 'x';

	for (; p < s->end; p++) {
		bool exponent =
			!hex && (*p | 32) == 'e' && p + 1 < s->end && (p[1] == '-' || p[1] == '+');

		if (exponent)
			p++;
		else if (!isalnum((unsigned char)*p) && *p != '.')
			break;
	}
	return p;
}

/* Prefixes of strings: E'..', B'..', X'..', N'..' and _utf8'..'. */
static bool string_prefix(struct scan *s, const char *p, size_t n)
{
	return p + n < s->end && p[n] == '\'' &&
	       ((n == 1 && strchr("eEbBxXnN", *p)) || (*p == '_' && s->dialect == SQL_MYSQL));
}

/* Unquoted UUIDs of CQL: 8-4-4-4-12 hexadecimal digits; NULL: p does not begin one. */
static const char *uuid(const struct scan *s, const char *p)
{
	if (s->dialect != SQL_CQL || s->end - p < 36)
		return NULL;
	for (int i = 0; i < 36; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ? p[i] != '-'
							    : !isxdigit((unsigned char)p[i]))
			return NULL;
	return s->end - p == 36 || !word_char(p[36]) ? p + 36 : NULL;
}

static struct token next(struct scan *s)
{
	struct token t = {.kind = END};
	const char *p = s->p, *q;

	for (;;) {
		while (p < s->end && (isspace((unsigned char)*p) || !*p))
			p++;
		q = p < s->end ? comment(s, p) : NULL;
		if (!q)
			break;
		p = q;
	}
	t.spaced = p > s->p;
	t.text.p = p;
	if (p == s->end) {
		s->p = p;
		return t;
	}
	q = p;
	while (q < s->end && word_char(*q))
		q++;
	if (*p == '\'' || (*p == '"' && s->dialect == SQL_MYSQL)) {
		t.kind = LITERAL;
		q = quoted(s, p, *p, s->dialect == SQL_MYSQL);
	} else if (uuid(s, p)) {
		t.kind = LITERAL;
		q = uuid(s, p);
	} else if (*p == '"' || *p == '`') {
		t.kind = NAME;
		q = quoted(s, p, *p, false);
	} else if (isdigit((unsigned char)*p) ||
		   (*p == '.' && p + 1 < s->end && isdigit((unsigned char)p[1]))) {
		t.kind = LITERAL;
		q = number(s, p);
	} else if (*p == '$' && s->dialect != SQL_MYSQL && dollar_quoted(s, p)) {
		t.kind = LITERAL;
		q = dollar_quoted(s, p);
	} else if (*p == '?' || (*p == '$' && q > p + 1 && isdigit((unsigned char)p[1]))) {
		t.kind = LITERAL;
		q = *p == '?' ? p + 1 : q;
	} else if (q > p && string_prefix(s, p, q - p)) {
		t.kind = LITERAL;
		q = quoted(s, q, '\'', s->dialect == SQL_MYSQL || (*p | 32) == 'e');
	} else if (q > p) {
		t.kind = WORD;
	} else {
		t.kind = PUNCT;
		q = p + 1;
	}
	t.text.len = q - p;
	s->p = q;
	return t;
}

/* ---- digests ---- */

struct digest {
	char *dst;
	size_t at, sz;
	bool full;
	bool sign_ok;	 /* a minus here is the sign of a number */
	bool list_ahead; /* after IN or VALUES: a list may be folded */
	size_t open;	 /* offset + 1 of the list's ( as long as it contains only ? and commas */
	size_t folded;	 /* end of the list folded last */
};

static void put(struct digest *d, struct span s)
{
	if (s.len > d->sz - d->at) {
		s.len = d->sz - d->at;
		d->full = true;
	}
	memcpy(d->dst + d->at, s.p, s.len);
	d->at += s.len;
}

static bool is_word(const struct token *t, const char *word)
{
	return t->kind == WORD && t->text.len == strlen(word) &&
	       !strncasecmp(t->text.p, word, t->text.len);
}

/* A keyword that is a literal. */
static bool is_constant(const struct token *t)
{
	return is_word(t, "NULL") || is_word(t, "DEFAULT") || is_word(t, "TRUE") ||
	       is_word(t, "FALSE");
}

/* Folds (?, ?, ?) to (?), and consecutive lists of this form to the first. */
static void fold_list(struct digest *d)
{
	size_t open = d->open - 1;

	if (d->folded && open > d->folded && open - d->folded <= 3)
		d->at = d->folded;
	else if (d->at > open + 3)
		memcpy(d->dst + open + 1, "?)", 2), d->at = open + 3;
	d->folded = d->at;
	d->open = 0;
}

static void put_token(struct digest *d, const struct token *t)
{
	bool comma = t->kind == PUNCT && *t->text.p == ',';
	bool close = t->kind == PUNCT && *t->text.p == ')';
	bool open = t->kind == PUNCT && *t->text.p == '(';

	if (t->spaced && d->at && !(close && d->open))
		put(d, (struct span){" ", 1});
	put(d, t->kind == LITERAL ? (struct span){"?", 1} : t->text);
	if (open && (d->list_ahead || (d->folded && d->at <= d->folded + 4)))
		d->open = d->at;
	else if (close && d->open)
		fold_list(d);
	else if (t->kind != LITERAL && !comma && !is_constant(t))
		d->open = 0;
	d->list_ahead = is_word(t, "IN") || is_word(t, "VALUES") || is_word(t, "VALUE");
	d->sign_ok = t->kind == PUNCT && !close;
	if ((t->kind == WORD && !d->open) || (!open && !close && !comma && t->kind == PUNCT))
		d->folded = 0;
}

struct span sql_digest(struct span sql, enum sql_dialect dialect, bool cut, char *dst,
		       size_t dst_sz)
{
	struct scan s = {.p = sql.p, .end = sql.p + sql.len, .dialect = dialect};
	struct digest d = {.dst = dst, .sz = dst_sz - 3};

	for (struct token t = next(&s); t.kind != END && !d.full; t = next(&s)) {
		if (t.kind == PUNCT && *t.text.p == '-' && d.sign_ok && s.p < s.end &&
		    isdigit((unsigned char)*s.p)) {
			bool spaced = t.spaced;

			t = next(&s);
			t.spaced = spaced;
		}
		put_token(&d, &t);
	}
	if (d.open)
		fold_list(&d);
	while (!cut && !d.full && d.at && (d.dst[d.at - 1] == ';' || d.dst[d.at - 1] == ' '))
		d.at--;
	if (cut || d.full) {
		memcpy(dst + d.at, "...", 3);
		d.at += 3;
	}
	return (struct span){dst, d.at};
}

struct span sql_keyword(struct span sql, enum sql_dialect dialect, char *dst, size_t dst_sz)
{
	struct scan s = {.p = sql.p, .end = sql.p + sql.len, .dialect = dialect};
	struct token t = next(&s);

	while (t.kind == PUNCT && (*t.text.p == '(' || *t.text.p == ';'))
		t = next(&s);
	return t.kind == WORD ? l7_upper(t.text, dst, dst_sz) : (struct span){"", 0};
}

bool sql_begins(struct span sql, enum sql_dialect dialect)
{
	static const char *const words[] = {
		"SELECT",    "INSERT",	 "UPDATE",   "DELETE",	   "REPLACE", "SET",
		"BEGIN",     "START",	 "COMMIT",   "ROLLBACK",   "SHOW",    "CREATE",
		"DROP",	     "ALTER",	 "TRUNCATE", "USE",	   "CALL",    "WITH",
		"EXPLAIN",   "DESCRIBE", "DESC",     "PREPARE",	   "EXECUTE", "DEALLOCATE",
		"LOCK",	     "UNLOCK",	 "ANALYZE",  "VACUUM",	   "COPY",    "GRANT",
		"REVOKE",    "FLUSH",	 "KILL",     "DECLARE",	   "FETCH",   "CLOSE",
		"SAVEPOINT", "RELEASE",	 "VALUES",   "LISTEN",	   "NOTIFY",  "UNLISTEN",
		"DISCARD",   "RESET",	 "LOAD",     "OPTIMIZE",   "CHECK",   "END",
		"ABORT",     "DO",	 "MERGE",    "TABLE",	   "XA",      "HANDLER",
		"REINDEX",   "CLUSTER",	 "COMMENT",  "CHECKPOINT", "REFRESH", "MOVE",
		"CHANGE",    "PURGE",	 "RENAME",   "INSTALL",	   "STOP",    "BINLOG",
		"HELP",	     "REPAIR",	 "CACHE",    NULL};
	char text[16];
	struct span word = sql_keyword(sql, dialect, text, sizeof(text));

	for (const char *const *w = words; word.len && *w; w++)
		if (l7_is(word, *w))
			return true;
	return false;
}
