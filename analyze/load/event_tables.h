/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One table for each kind of event, made from records.def and from the schemas of the archives: a
 * kind that this build does not know has one too. Columns: capture_id, ts_ns, thread_id, stack_id,
 * message_id, then the kind's own fields; where captures disagree about these, all of them.
 *
 * Names come from archives: a word each (rec_name_ok), and with a trailing _ where they are taken
 * or reserved.
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
	const char *type; /* of SQL; empty where captures disagree */
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

/* Makes the tables and the view `event`. captures live as long as this. 0 or negative errno,
 * reported. */
int event_tables__new(struct event_tables **t, const struct captures *captures,
		      struct store *store);
void event_tables__free(struct event_tables *t);

size_t event_tables__cnt(const struct event_tables *t);
const struct event_table *event_tables__get(const struct event_tables *t, size_t i);
/* Of a kind; -1: none (there are too many). */
int event_tables__find(const struct event_tables *t, const char *kind);

#endif
