/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats one column of a statement's row as text, for table.c. */
#ifndef ANALYZE_TABLE_VALUE_H
#define ANALYZE_TABLE_VALUE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "format/text.h"

/* Escaped for a terminal. True: a number, to be right-aligned. human, short_names: see struct
 * table_style. */
bool value_text(struct strbuf *b, sqlite3_stmt *stmt, int col, bool human, bool short_names);
/* Whether the column holds function names. */
bool value_is_function(sqlite3_stmt *stmt, int col);
/* Whether the column holds names of services. */
bool value_is_service(sqlite3_stmt *stmt, int col);
/* Removes the container's id in front of a service's name. */
void value_short_service(struct strbuf *name);
void value_csv(struct strbuf *b, sqlite3_stmt *stmt, int col);
void value_json(struct strbuf *b, sqlite3_stmt *stmt, int col);
/* Column name without the "?" that marks optional columns. */
const char *value_column(sqlite3_stmt *stmt, int col);
bool value_is_optional(sqlite3_stmt *stmt, int col);
void value_heading(struct strbuf *b, const char *name, bool human);

#endif
