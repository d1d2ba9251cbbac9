/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of a section of the report. They are kept in a temporary table, so that the SQL of a section
 * runs once however often a writer reads its rows and however many pages show them.
 */
#ifndef ANALYZE_SECTION_ROWS_H
#define ANALYZE_SECTION_ROWS_H

#include "analyze/report/section.h"

struct section_rows {
	sqlite3_stmt *stmt; /* newly prepared */
	uint64_t left_out;  /* further rows, not shown */
};

/* kind: of the samples, for sections that are per kind. limit: rows of the longer tables; the same
 * in all calls for a database. 0 or negative errno: see sqlite3_errmsg. */
int section_rows__get(struct section_rows *r, sqlite3 *db, const struct section *s,
		      const struct named_kind *kind, unsigned limit);
/* Returns 1 if the connection has the rows, 0 if not, or negative errno. */
int section_rows__find(struct section_rows *r, sqlite3 *db, const struct section *s,
		       const struct named_kind *kind);
void section_rows__fini(struct section_rows *r);

#endif
