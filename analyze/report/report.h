/* SPDX-License-Identifier: BSD-2-Clause */
/* The report: facts about the captures, then the sections of sections.def. As text, or as an HTML
 * page with graphs. */
#ifndef ANALYZE_REPORT_H
#define ANALYZE_REPORT_H

#include <stdio.h>

#include "analyze/load/analysis.h"
#include "analyze/graph/draw.h"
#include "analyze/report/section.h"

/* Adds the tables it reads. Call before load__run. page: include those of the page's service map,
 * which needs a row of statistics per connection. */
int report_prepare(struct load *l, bool page);
/* Adds all tables, for a database that other programs read. */
int report_prepare_all(struct load *l);

/* The report as text to `out`, whose form follows from what `out` is. limit: rows of the longer
 * tables. */
struct report_text;
int report_text__open(struct report_text **t, const struct analysis *a, unsigned limit, FILE *out);
/* For load__run_beside: writes into memory what does not depend on the rest. t: struct report_text.
 */
int report_text__write_ready(void *t);
/* After the load: the whole report. 0 or negative errno, reported. */
int report_text__write(struct report_text *t);
void report_text__close(struct report_text *t);

/* Includes a flame graph per kind, drawn according to `draw`. */
int report_write_html(const struct analysis *a, const struct draw_opts *draw, unsigned limit,
		      FILE *out);

/* Output functions for the parts of a report. */
struct report_page {
	void *ctx;
	bool wide; /* has room for wide sections */
	void (*fact)(void *ctx, const char *what, const char *text);
	void (*warning)(void *ctx, const char *what, const char *text); /* an important fact */
	void (*heading)(void *ctx, const char *text);
	void (*note)(void *ctx, const char *text);
	/* Writes the rows of a newly prepared statement, or nothing if it has none. Returns the
	 * number of rows or negative errno. kind: index of the sample kind, if the section is per
	 * kind. */
	long (*section)(void *ctx, const struct section *s, uint32_t kind, sqlite3_stmt *stmt);
	void (*more)(void *ctx, uint64_t rows); /* of the previous section, not shown */
	/* Sections with one heading, the first of them `group`. What is written between begin and
	 * end is held back until written(), which returns false for other groups. NULL: the page
	 * does not hold back anything. */
	int (*begin)(void *ctx, size_t group);
	void (*end)(void *ctx);
	bool (*written)(void *ctx, size_t group);
};

int report_write(const struct analysis *a, const struct report_page *page, unsigned limit);
/* Within load__run_beside: those groups whose tables are filled. */
int report_write_ready(const struct analysis *a, const struct report_page *page, unsigned limit);

#endif
