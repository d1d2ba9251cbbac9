/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A section of the report: title, SQL, and the form of its rows. The sections of a probe are in one
 * file section_PROBE.def, with one line in sections.def; text report, page and `obana show` work
 * with any section. A section needs the tables that its SQL reads.
 *
 * Parameters of the SQL: :limit, rows of a table; :few, a quarter of it; :interval, ns, for columns
 * of time; :kind, a sample kind. A section with :kind is repeated for each kind under the title of
 * the kind, and in its SQL $UNIT is the suffix of a column of the kind's values, $VALUE a column of
 * values and $COUNT a column of counts. $START is the start of the interval of a row of $HISTOGRAM,
 * which is the table `histogram` or, without intervals, the shorter `histogram_total`. A column
 * "?name" is omitted from text if no row has a value.
 */
#ifndef ANALYZE_SECTION_H
#define ANALYZE_SECTION_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/load/load.h"

/*
 *   TABLE      any columns
 *   LISTING    likewise, one row per event; only in `obana show`
 *   HISTOGRAM  start_ns, name, low_UNIT, high_UNIT, count: one for each start and name
 *   HEATMAP    start_ns, low_UNIT, high_UNIT, count: x is the interval, y the value
 *   TIMELINE   start_ns, interval_ns, name, WHAT_UNIT: one curve per name; its rows are adjacent
 *   GRAPH      as TABLE; the page draws the flame graph of :kind above it
 *   MAP        as TABLE; the page draws services and their calls above it
 *
 * UNIT is ns, bytes or nothing: low, high. The text report omits HEATMAP and MAP, which are wide.
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
	const char *probe;   /* "runq", or a record; "samples": of any; empty: traffic, capture */
	const char *heading; /* "Run queue"; empty: title of :kind */
	const char *title;   /* under the heading: "Latency" */
	const char *aliases; /* comma-separated names of equivalent tools */
	enum section_as as;
	const char *sql;
};

extern const struct section sections[];
extern const size_t section_cnt;
extern const char section_names[]; /* names and aliases, separated by commas */

/* Finds a section by name or alias; NULL: none. */
const struct section *section_find(const char *name);
const char *section_form(enum section_as as); /* "heat map" */
bool section_of_kind(const struct section *s);
bool section_of_samples(const struct section *s); /* of one kind or all */
bool section_is_wide(const struct section *s);	  /* not in the text report */
/* Whether no archive can hold anything for it, because its probe was not used. */
bool section_is_absent(const struct section *s, const struct captures *c);

/* SQL for a sample kind, malloc'ed. interval_ns 0: no intervals. NULL: out of memory. */
char *section_sql(const struct section *s, const struct named_kind *kind, uint64_t interval_ns);
/* The tables it reads; free with name_set_fini. 0 or negative errno: see sqlite3_errmsg. */
int section_tables(const struct section *s, const struct load *l, uint64_t interval_ns,
		   struct name_set *tables);
/* Adds the tables it reads to l->wanted. Samples are aggregated, not loaded as rows. 0 or negative
 * errno: see sqlite3_errmsg. */
int section_prepare(const struct section *s, struct load *l, uint64_t interval_ns);

struct section_args {
	uint64_t limit, few, interval_ns;
	const char *kind; /* name of the kind */
	bool counts;	  /* the writer can stop at a number of rows and count the others */
};
/* Binds those parameters that the statement has. Returns the number of rows for the writer to stop
 * at; 0: the statement stops itself. */
size_t section_bind(sqlite3_stmt *stmt, const struct section_args *args);
/* Number of rows that a table has in addition to those that it shows with args, of `rows` that the
 * writer found. */
uint64_t section_left_out(sqlite3 *db, const char *sql, const struct section_args *args, long rows);

/* Writes the rows of a HISTOGRAM as text: range, count, bar, and percentiles. At most `limit`
 * histograms are drawn, the others take one line each. Returns the number of rows, or -EIO,
 * -ENOMEM. */
long histogram_text(sqlite3_stmt *stmt, const char *title, unsigned limit, FILE *out);
/* Write a HEATMAP or TIMELINE as text or SVG. A TIMELINE shows at most `limit` names, those with
 * the largest sums. */
long heatmap_text(sqlite3_stmt *stmt, const char *title, FILE *out);
long heatmap_svg(sqlite3_stmt *stmt, FILE *out);
long timeline_text(sqlite3_stmt *stmt, const char *title, unsigned limit, FILE *out);
long timeline_svg(sqlite3_stmt *stmt, unsigned limit, FILE *out);

/* Why the section has no rows though it was recorded; NULL: it was not. buf: SECTION_EMPTY_SZ. */
enum { SECTION_EMPTY_SZ = 192 };
const char *section_empty(const struct section *s, const struct captures *c, char *buf);
/* Whether the capture is too short to tell leaks; writes that to buf likewise. */
bool section_leaks_short(const struct capture *c, char *buf);

#endif
