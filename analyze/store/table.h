/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the rows of a statement as text, box, CSV or JSON. Generic over the result: knows no table
 * or view. */
#ifndef ANALYZE_TABLE_H
#define ANALYZE_TABLE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

#include "analyze/base/name_short.h"

enum table_format { TABLE_TEXT, TABLE_BOX, TABLE_CSV, TABLE_JSON };

struct table_style {
	enum table_format format;
	bool human; /* by the column's name: x_ns as time, x_bytes as size, x_share as percent;
		       headings in capitals */
	bool short_names; /* of functions, in a column "function" (name_short.h); not in CSV, JSON
			   */
	bool colour;	  /* escape sequences for the heading */
	unsigned width;	  /* text: the last column is cut to fit; 0: never */
	const char *indent;
	const char *title; /* text: a line before, when there are rows; NULL: none */
};

/* A column "?name" is called "name"; in human text it is left out where no row (of the first 2000)
 * has a value, unless it is the last. */

/* Steps stmt (just prepared or reset) to its end. Returns the number of rows, or -EIO:
 * sqlite3_errmsg has the cause. A result without rows gives nothing but a heading (CSV) or []
 * (JSON). */
long table_write(sqlite3_stmt *stmt, const struct table_style *style, FILE *out);

/* Style for out: colour (unless NO_COLOR is set), width and short names on a terminal. */
struct table_style table_style_for(FILE *out);
/* As asked for; by default as it is. */
void table_style_names(struct table_style *style, enum name_style names);

#endif
