/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary: facts of the captures, then the sections of sections.def. As text, or as an HTML
 * page with graphs. */
#ifndef ANALYZE_REPORT_H
#define ANALYZE_REPORT_H

#include <stdio.h>

#include "analyze/load/analysis.h"
#include "analyze/graph/draw.h"
#include "analyze/report/section.h"

/* The tables it reads; before load__run. page: with those of its map, which takes a row of figures
 * for each connection. */
int report_prepare(struct load *l, bool page);
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
	/* The rows of a fresh statement, nothing without rows; their number, or negative errno.
	 * kind: index of the sample kind of those that are of one. */
	long (*section)(void *ctx, const struct section *s, uint32_t kind, sqlite3_stmt *stmt);
	void (*more)(void *ctx, uint64_t rows); /* of the section before, not shown */
};

int report_write(const struct analysis *a, const struct report_page *page, unsigned limit);

#endif
