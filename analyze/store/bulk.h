/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bulk insert: many rows per statement, since starting and ending a statement costs SQLite as much
 * as a third of a row. Texts are copied. Rows are inserted when BULK_ROWS are buffered and by
 * bulk_flush.
 */
#ifndef ANALYZE_BULK_H
#define ANALYZE_BULK_H

#include "format/bytes.h"
#include "analyze/store/store.h"

enum { BULK_ROWS = 16 };

struct bulk_value;

struct bulk {
	struct insert one;	  /* inserts one row */
	sqlite3_stmt *many;	  /* inserts BULK_ROWS rows; NULL until needed */
	struct bulk_value *held;  /* buffered values of up to BULK_ROWS rows */
	struct bulk_value *bound; /* values bound to `many` */
	const uint8_t *bound_texts;
	struct bytes texts;
	size_t columns, rows, at; /* at: index of the next value in held */
};

/* sql: INSERT INTO table VALUES(?, ...), one parameter per column. 0 or negative errno,
 * reported. */
int bulk_open(struct bulk *b, struct store *s, const char *sql);
void bulk_int(struct bulk *b, int64_t v);
void bulk_text(struct bulk *b, const char *text); /* NULL: SQL NULL */
void bulk_span(struct bulk *b, struct span text);
void bulk_null(struct bulk *b);
/* Ends a row. All its columns must have a value. */
int bulk_row(struct bulk *b);
/* Inserts the buffered rows. */
int bulk_flush(struct bulk *b);
/* Discards the buffered rows. */
void bulk_close(struct bulk *b);

#endif
