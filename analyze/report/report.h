/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary: facts of the captures, then tables, each a view of schema.sql. As text, or as an
 * HTML page with graphs. */
#ifndef ANALYZE_REPORT_H
#define ANALYZE_REPORT_H

#include <stdio.h>

#include "analyze/load/analysis.h"
#include "analyze/graph/draw.h"
#include "analyze/report/section.h"

/* The tables it reads; before load__run. */
int report_prepare(struct load *l);
/* All tables there are, for a database that others read. */
int report_prepare_all(struct load *l);

/* limit: rows of the longer tables. 0 or negative errno, reported. */
int report_write_text(const struct analysis *a, unsigned limit, FILE *out);
/* With a flame graph of each kind, drawn as `draw` says. */
int report_write_html(const struct analysis *a, const struct draw_opts *draw, unsigned limit,
		      FILE *out);

/* Where the parts of a report go. */
struct report_page {
	void *ctx;
	void (*fact)(void *ctx, const char *what, const char *text);
	void (*warning)(void *ctx, const char *what, const char *text); /* a fact that matters */
	void (*heading)(void *ctx, const char *text);
	void (*note)(void *ctx, const char *text);
	/* The rows of a fresh statement, nothing without rows; their number, or negative errno. */
	long (*table)(void *ctx, const char *title, sqlite3_stmt *stmt);
	int (*graph)(void *ctx, uint32_t kind); /* sample_kinds.h; NULL: no graphs */
	/* A histogram or heat map of a fresh statement, nothing without rows; 0 or negative errno.
	 */
	int (*drawn)(void *ctx, const struct section *s, sqlite3_stmt *stmt);
};

int report_write(const struct analysis *a, const struct report_page *page, unsigned limit);

#endif
