/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One table per event kind, made from records.def and the schemas of the archives, so kinds unknown
 * to this build get a table too. Columns: capture_id, ts_ns, thread_id, stack_id, message_id, then
 * the fields of the kind; the union if captures differ.
 *
 * Names come from archives. Each is a single word (rec_name_ok), with "_" appended if it is taken
 * or a reserved word.
 */
#ifndef ANALYZE_EVENT_TABLES_H
#define ANALYZE_EVENT_TABLES_H

#include "analyze/store/store.h"
#include "format/record.h"

enum { EVENT_TABLES_MAX = 64, EVENT_COLUMNS_MAX = 60 };

struct event_column {
	const char *field; /* as in the archives; borrowed from a schema */
	char name[REC_NAME_MAX + 2];
	const char *doc, *unit;
	const char *type; /* SQL type; empty if captures disagree */
};

struct event_table {
	const char *kind; /* as in the archives; borrowed */
	char name[REC_NAME_MAX + 3];
	const char *doc;
	struct event_column columns[EVENT_COLUMNS_MAX];
	unsigned column_cnt;
};

struct captures;
struct event_tables;

/* Creates the tables and the view `event`. captures must outlive the result. 0 or negative errno,
 * reported. */
int event_tables__new(struct event_tables **t, const struct captures *captures,
		      struct store *store);
void event_tables__free(struct event_tables *t);

size_t event_tables__cnt(const struct event_tables *t);
const struct event_table *event_tables__get(const struct event_tables *t, size_t i);
/* Table index of a kind; -1: none (too many kinds). */
int event_tables__find(const struct event_tables *t, const char *kind);

#endif
