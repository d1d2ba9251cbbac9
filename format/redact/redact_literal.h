/* SPDX-License-Identifier: BSD-2-Clause */
/* Statements of SQL, character by character, through packets and calls that cut them anywhere. */
#ifndef FORMAT_REDACT_LITERAL_H
#define FORMAT_REDACT_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sql_dialect { DIALECT_MYSQL, DIALECT_POSTGRESQL, DIALECT_CQL };
enum literal_state { LIT_NONE, LIT_QUOTED, LIT_NUMBER, LIT_TAG, LIT_DASHES, LIT_LINE, LIT_COMMENT };
enum literal_escapes { ESCAPES_NEVER, ESCAPES_SURE, ESCAPES_PERHAPS };

/* Inside a statement's text; zeroed at its beginning. */
struct redact_literal {
	enum literal_state state;
	enum literal_escapes escapes; /* in the string at hand */
	bool word, e;		      /* the character before is a word's, and E alone */
	bool escaped, keep;
	bool run;  /* in a comment that a server may run */
	bool lost; /* nobody knows where literals are: all is masked */
	uint8_t quote, last, depth;
	uint8_t tag_sz, seen; /* $tag$, and how much of it was met at its end */
	char tag[16];

	/* Names of secrets. */
	uint64_t recent; /* the last characters */
	bool named;	 /* there was one: what comes behind it is masked */
	bool armed;	 /* behind it */
	bool url;	 /* between :// and what ends its host */
};

/* What to write instead of a statement's next character; the same character: it stays. */
uint8_t redact_literal(struct redact_literal *l, enum sql_dialect dialect, uint8_t ch);
/* The same, of literals behind a secret's name alone: PASSWORD, IDENTIFIED BY and the like, in code
 * or inside of a string; and of what stands in front of a URL's host. */
uint8_t redact_secret_literal(struct redact_literal *l, enum sql_dialect dialect, uint8_t ch);
/* Would it find one in a statement that is here as a whole? */
bool redact_names_secret(const uint8_t *p, size_t sz);

#endif
