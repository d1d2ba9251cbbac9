/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A part of the report by itself: a title, SQL, and how its rows are shown. Sections of a probe are
 * one file section_PROBE.def and one line in sections.def; report, page and `obana show` are
 * generic over them. The tables a section needs are those its SQL reads.
 *
 * Parameters a section may use: :limit, rows of a table; :few, a quarter of it; :interval, ns, for
 * columns of time; :kind, a sample kind: such a section is there once for each kind, under its
 * title, and in its SQL $UNIT is the ending of a column of the kind's values, $VALUE a column of
 * them, $COUNT one of its counts. A column "?name" is left out of text where no row has a value in
 * it.
 */
#ifndef ANALYZE_SECTION_H
#define ANALYZE_SECTION_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/load/load.h"

/*
 * TABLE      any columns
 * LISTING    the same, every event: `obana show` alone prints it
 * HISTOGRAM  start_ns, name, low_UNIT, high_UNIT, count: one for each start and name
 * HEATMAP    start_ns, low_UNIT, high_UNIT, count: intervals across, values upwards
 * TIMELINE   start_ns, interval_ns, name, WHAT_UNIT: a curve of it for each name, whose rows follow
 * each other GRAPH      as TABLE; the page draws the flame graph of :kind above it MAP        as
 * TABLE; the page draws services and their calls above it UNIT is ns, bytes or nothing: low, high.
 * The text of the report leaves out HEATMAP and MAP, which are wide, as long as nobody asks for
 * them.
 */
enum section_as {
	SECTION_TABLE,
	SECTION_LISTING,
	SECTION_HISTOGRAM,
	SECTION_HEATMAP,
	SECTION_TIMELINE,
	SECTION_GRAPH,
	SECTION_MAP,
};

struct section {
	const char *name;    /* "runq-latency" */
	const char *probe;   /* "runq"; empty: of samples, traffic, the capture */
	const char *heading; /* "Run queue"; empty: the title of :kind */
	const char *title;   /* below the heading: "Latency" */
	const char *aliases; /* comma list: what classic tools call it */
	enum section_as as;
	const char *sql;
};

extern const struct section sections[];
extern const size_t section_cnt;

/* By its name or an alias; NULL: none. */
const struct section *section_find(const char *name);
const char *section_form(enum section_as as); /* "heat map" */
bool section_of_kind(const struct section *s);

/* The SQL for a sample kind, malloc'ed; NULL: out of memory. */
char *section_sql(const struct section *s, const struct named_kind *kind);
/* Adds what it reads to l->wanted. Samples come added up, not as rows. 0 or negative errno;
 * sqlite3_errmsg has the cause. */
int section_prepare(const struct section *s, struct load *l);

/* Binds the parameters that the statement has. */
struct section_args {
	uint64_t limit, few, interval_ns;
	const char *kind; /* its name */
};
void section_bind(sqlite3_stmt *stmt, const struct section_args *args);
/* How many rows a table would have beyond those it has with args, which are `rows`. */
uint64_t section_left_out(sqlite3 *db, const char *sql, const struct section_args *args, long rows);

/* The rows of a HISTOGRAM as text: range, count, bar, with percentiles; at most `limit` of them are
 * drawn, the rest a line each. Returns how many rows there were, or -EIO, -ENOMEM. */
long histogram_text(sqlite3_stmt *stmt, const char *title, unsigned limit, FILE *out);
/* A HEATMAP, a TIMELINE as text, as SVG. Of a TIMELINE, at most `limit` names, those of the largest
 * sums. */
long heatmap_text(sqlite3_stmt *stmt, const char *title, FILE *out);
long heatmap_svg(sqlite3_stmt *stmt, FILE *out);
long timeline_text(sqlite3_stmt *stmt, const char *title, unsigned limit, FILE *out);
long timeline_svg(sqlite3_stmt *stmt, unsigned limit, FILE *out);

#endif
