/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/event_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/load/captures.h"
#include "format/text.h"

struct event_tables {
	struct event_table v[EVENT_TABLES_MAX];
	size_t cnt;
};

/* Fields and columns common to all kinds. */
static const char *const common_fields[] = {"ts_ns", "thread", "user_stack", "kernel_stack", NULL};
static const char *const common_columns[] = {"capture_id", "ts_ns",	 "thread_id",
					     "stack_id",   "message_id", NULL};

static bool among(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (!strcasecmp(*names, name))
			return true;
	return false;
}

int event_tables__find(const struct event_tables *t, const char *kind)
{
	for (size_t i = 0; i < t->cnt; i++)
		if (!strcmp(t->v[i].kind, kind))
			return i;
	return -1;
}

/* Whether the name is an SQL keyword that needs quotes. */
static bool reserved(const char *name)
{
	return sqlite3_keyword_check(name, strlen(name));
}

static bool has_column(const struct event_table *t, const char *name)
{
	for (unsigned i = 0; i < t->column_cnt; i++)
		if (!strcmp(t->columns[i].name, name))
			return true;
	return among(common_columns, name);
}

static void add_column(struct event_table *t, const struct rec_field *f)
{
	const char *type = f->type == REC_T_str ? "TEXT" : "INTEGER";
	struct event_column *c;

	if (among(common_fields, f->name) || f->type == REC_T_list ||
	    t->column_cnt == EVENT_COLUMNS_MAX)
		return;
	for (unsigned i = 0; i < t->column_cnt; i++)
		if (!strcmp(t->columns[i].field, f->name)) {
			if (strcmp(t->columns[i].type, type))
				t->columns[i].type = "";
			return;
		}
	c = &t->columns[t->column_cnt];
	*c = (struct event_column){.field = f->name, .doc = f->doc, .unit = f->unit, .type = type};
	snprintf(c->name, sizeof(c->name), "%s%s", f->name,
		 reserved(f->name) || has_column(t, f->name) ? "_" : "");
	t->column_cnt += !has_column(t, c->name);
}

/* Whether the name is already used by a table, view, index or event kind. */
static bool taken(const struct event_tables *t, struct store *store, const char *name)
{
	sqlite3_stmt *s = NULL;
	bool found = false;

	for (size_t i = 0; i < t->cnt; i++)
		found |= !strcasecmp(t->v[i].name, name);
	if (!sqlite3_prepare_v2(store__db(store),
				"SELECT 1 FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE UNION "
				"ALL SELECT 1 FROM pragma_module_list WHERE name = ?1 UNION ALL "
				"SELECT 1 WHERE ?1 = 'event'",
				-1, &s, NULL) &&
	    !sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC))
		found |= sqlite3_step(s) == SQLITE_ROW;
	sqlite3_finalize(s);
	return found;
}

/* Adds the columns of a kind, and its table if it is new. */
static void add_kind(struct event_tables *t, struct store *store, const struct rec_info *info)
{
	struct event_table *table;
	int known = event_tables__find(t, info->name);

	if (known < 0) {
		if (t->cnt == EVENT_TABLES_MAX || !strncmp(info->name, "sqlite_", 7))
			return;
		table = &t->v[t->cnt];
		*table = (struct event_table){.kind = info->name, .doc = info->doc};
		snprintf(table->name, sizeof(table->name), "%s", info->name);
		for (int i = 0; i < 2 && (reserved(table->name) || taken(t, store, table->name));
		     i++)
			strcat(table->name, "_");
		if (taken(t, store, table->name))
			return;
		known = t->cnt++;
	}
	for (unsigned i = 0; i < info->field_cnt; i++)
		add_column(&t->v[known], &info->fields[i]);
}

static int create_table(struct store *store, const struct event_table *t)
{
	struct strbuf b = {0};
	int err;

	strbuf_addf(&b,
		    "CREATE TABLE %s( -- %s\n"
		    "capture_id INTEGER, -- capture.id\n"
		    "ts_ns INTEGER, -- when\n"
		    "thread_id INTEGER, -- thread.id\n"
		    "stack_id INTEGER, -- stack.id; NULL: none\n"
		    "message_id INTEGER -- message.id; NULL: not attributed\n",
		    t->name, *t->doc ? t->doc : "events of a kind that this version does not know");
	for (unsigned i = 0; i < t->column_cnt; i++) {
		const struct event_column *c = &t->columns[i];

		strbuf_addf(&b, ", \n%s %s -- %s%s%s\n", c->name, c->type,
			    *c->doc    ? c->doc
			    : *c->unit ? ""
				       : "of the event",
			    *c->doc && *c->unit ? "; " : "", c->unit);
	}
	strbuf_addf(&b, ")");
	err = b.failed ? -ENOMEM : store__exec(store, b.p);
	strbuf_fini(&b);
	return err;
}

static int create_view(const struct event_tables *t, struct store *store)
{
	struct strbuf b = {0};
	int err;

	strbuf_addf(&b,
		    "CREATE VIEW event(capture_id, probe, ts_ns, thread_id, fields) AS -- events "
		    "of all "
		    "kinds\n-- capture_id: capture.id\n-- probe: kind of event\n-- ts_ns: when\n"
		    "-- thread_id: thread.id\n-- fields: its own columns as JSON\n");
	for (size_t i = 0; i < t->cnt; i++) {
		strbuf_addf(&b, "%sSELECT capture_id, '%s', ts_ns, thread_id, json_object(",
			    i ? "\nUNION ALL " : "", t->v[i].kind);
		for (unsigned c = 0; c < t->v[i].column_cnt; c++)
			strbuf_addf(&b, "%s'%s', %s", c ? ", " : "", t->v[i].columns[c].name,
				    t->v[i].columns[c].name);
		strbuf_addf(&b, ") FROM %s", t->v[i].name);
	}
	if (!t->cnt)
		strbuf_addf(&b, "SELECT NULL, NULL, NULL, NULL, NULL WHERE 0");
	err = b.failed ? -ENOMEM : store__exec(store, b.p);
	strbuf_fini(&b);
	return err;
}

int event_tables__new(struct event_tables **out, const struct captures *captures,
		      struct store *store)
{
	struct event_tables *t = calloc(1, sizeof(*t));
	int err = 0;

	*out = t;
	if (!t)
		return -ENOMEM;
	for (unsigned i = 0; i < rec_info_cnt; i++)
		if (!strcmp(rec_infos[i].stream, REC_EVENT_STREAM))
			add_kind(t, store, &rec_infos[i]);
	for (size_t c = 0; c < captures->cnt; c++)
		for (int k = 1; k < REC_KIND_MAX; k++) {
			const struct rec_info *info = obz_reader__info(captures->v[c].reader, k);

			if (info && !strcmp(info->stream, REC_EVENT_STREAM))
				add_kind(t, store, info);
		}
	for (size_t i = 0; i < t->cnt && !err; i++)
		err = create_table(store, &t->v[i]);
	return err ? err : create_view(t, store);
}

void event_tables__free(struct event_tables *t)
{
	free(t);
}

size_t event_tables__cnt(const struct event_tables *t)
{
	return t->cnt;
}

const struct event_table *event_tables__get(const struct event_tables *t, size_t i)
{
	return &t->v[i];
}
