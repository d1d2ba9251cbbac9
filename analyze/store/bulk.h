/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows into a table, many by one statement: beginning and ending a statement costs SQLite as much
 * as a third of a row. Texts are copied. Rows reach the table when there are BULK_ROWS of them, and
 * by bulk_flush.
 */
#ifndef ANALYZE_BULK_H
#define ANALYZE_BULK_H

#include "format/bytes.h"
#include "analyze/store/store.h"

enum { BULK_ROWS = 16 };

struct bulk_value;

struct bulk {
	struct insert one;	  /* a row */
	sqlite3_stmt *many;	  /* BULK_ROWS of them; NULL until there were so many */
	struct bulk_value *held;  /* of BULK_ROWS rows */
	struct bulk_value *bound; /* what `many` was run with last */
	const uint8_t *bound_texts;
	struct bytes texts;
	size_t columns, rows, at; /* at: the next value's place in held */
};

/* sql: INSERT INTO table VALUES(?, ...), one parameter a column. 0 or negative errno, reported. */
int bulk_open(struct bulk *b, struct store *s, const char *sql);
void bulk_int(struct bulk *b, int64_t v);
void bulk_text(struct bulk *b, const char *text); /* NULL: NULL */
void bulk_span(struct bulk *b, struct span text);
void bulk_null(struct bulk *b);
/* The row is whole: all its columns have a value. */
int bulk_row(struct bulk *b);
/* What is held reaches the table. */
int bulk_flush(struct bulk *b);
/* What is held is lost. */
void bulk_close(struct bulk *b);

#endif
