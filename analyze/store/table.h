/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the rows of a statement as text, box, CSV or JSON. Independent of tables and views. */
#ifndef ANALYZE_TABLE_H
#define ANALYZE_TABLE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

#include "analyze/base/name_short.h"

enum table_format { TABLE_TEXT, TABLE_BOX, TABLE_CSV, TABLE_JSON };

struct table_style {
	enum table_format format;
	bool human; /* by column name: x_ns as time, x_bytes as size, x_share as percent; upper-case
		       headings */
	bool short_names; /* in column "function" (name_short.h); not in CSV and JSON */
	bool colour;	  /* escape sequences for the heading */
	unsigned width;	  /* text: columns are cut and left out to fit; 0: unlimited */
	const char
		*grey; /* text, in colour: rows with a value in this column are grey; NULL: none */
	const char *indent;
	const char *title; /* text: line before the rows, if any; NULL: none */
	size_t rows_max;   /* text: further rows are only counted; 0: unlimited */
};

/* A column "?name" is named "name". In human text it is omitted if no row (of the first 2000) has a
 * value. */

/* Steps stmt (just prepared or reset) to its end. Returns the number of rows, or -EIO: see
 * sqlite3_errmsg. A result without rows prints only a heading (CSV) or [] (JSON). */
long table_write(sqlite3_stmt *stmt, const struct table_style *style, FILE *out);

/* Style for out. On a terminal: colour (unless NO_COLOR is set), width and short names. COLUMNS, if
 * set, is the width. */
struct table_style table_style_for(FILE *out);
/* Applies --names; NAMES_DEFAULT leaves the style unchanged. */
void table_style_names(struct table_style *style, enum name_style names);

#endif
