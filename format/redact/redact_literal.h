/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scans SQL statements character by character, across packets and calls that may cut them anywhere.
 */
#ifndef FORMAT_REDACT_LITERAL_H
#define FORMAT_REDACT_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sql_dialect { DIALECT_MYSQL, DIALECT_POSTGRESQL, DIALECT_CQL };
enum literal_state { LIT_NONE, LIT_QUOTED, LIT_NUMBER, LIT_TAG, LIT_DASHES, LIT_LINE, LIT_COMMENT };
enum literal_escapes { ESCAPES_NEVER, ESCAPES_SURE, ESCAPES_PERHAPS };

/* State inside a statement's text; zeroed at its start. */
struct redact_literal {
	enum literal_state state;
	enum literal_escapes escapes; /* in the current string */
	bool word, e;		      /* previous character: part of a word; the word E */
	bool escaped, keep;
	bool run;  /* in a comment whose content a server may execute */
	bool lost; /* literals cannot be located: everything is masked */
	uint8_t quote, last, depth;
	uint8_t tag_sz, seen; /* $tag$, and how much of the closing tag was matched */
	char tag[16];

	/* Detection of secrets by name. */
	uint64_t recent; /* the most recent characters */
	bool named;	 /* a name was found: literals after it are masked */
	bool armed;	 /* directly after it */
	bool url;	 /* between :// and the end of the host */
};

/* Returns the replacement of a statement's next character; the same character when it is not
 * masked. */
uint8_t redact_literal(struct redact_literal *l, enum sql_dialect dialect, uint8_t ch);
/* As redact_literal(), but only for literals after a secret's name (PASSWORD, IDENTIFIED BY and
 * similar, in code or inside a string), and for the user information before a URL's host. */
uint8_t redact_secret_literal(struct redact_literal *l, enum sql_dialect dialect, uint8_t ch);
/* Whether redact_secret_literal() would find a secret's name in a complete statement. */
bool redact_names_secret(const uint8_t *p, size_t sz);

#endif
