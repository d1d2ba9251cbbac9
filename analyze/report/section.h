/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A part of the report by itself: a title, SQL, and how its rows are shown. Sections of a probe are
 * one file section_PROBE.def and one line in sections.def; report, page and `obana show` are
 * generic over them. The tables a section needs are those its SQL reads.
 *
 * Parameters a section may use: :limit, rows of a table; :interval, nanoseconds, for columns of
 * time.
 */
#ifndef ANALYZE_SECTION_H
#define ANALYZE_SECTION_H

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>

/*
 * TABLE      any columns
 * LISTING    the same, every event: `obana show` alone prints it
 * HISTOGRAM  start_ns, name, low_UNIT, high_UNIT, count: one for each start and name
 * HEATMAP    start_ns, low_UNIT, high_UNIT, count: intervals across, values upwards
 * UNIT is ns, bytes or nothing: low, high.
 */
enum section_as { SECTION_TABLE, SECTION_LISTING, SECTION_HISTOGRAM, SECTION_HEATMAP };

struct section {
	const char *name;    /* "runq-latency" */
	const char *probe;   /* "runq" */
	const char *heading; /* "Run queue" */
	const char *title;   /* below the heading: "Latency" */
	const char *aliases; /* comma list: what classic tools call it */
	enum section_as as;
	const char *sql;
};

extern const struct section sections[];
extern const size_t section_cnt;

/* By its name or an alias; NULL: none. */
const struct section *section_find(const char *name);

/* Binds :limit and :interval where the statement has them. */
void section_bind(sqlite3_stmt *stmt, uint64_t limit, uint64_t interval_ns);

/* The rows of a HISTOGRAM as text: range, count, bar, with percentiles; at most `limit` of them are
 * drawn, the rest a line each. Returns how many rows there were, or -EIO, -ENOMEM. */
long histogram_text(sqlite3_stmt *stmt, const char *title, unsigned limit, FILE *out);
/* A HEATMAP as text, as SVG. */
long heatmap_text(sqlite3_stmt *stmt, const char *title, FILE *out);
long heatmap_svg(sqlite3_stmt *stmt, FILE *out);

#endif
