/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes all tables as JSON, one object per line, so that neither writer nor reader needs more than
 * one row in memory:
 *
 *	{"table":"process","id":1,"pid":4711,...}
 *
 * Columns are those of `obana schema`; NULL is null. The rows of a table are adjacent and sorted by
 * time, if the table has one: in an archive, rows of different CPUs are out of order by
 * milliseconds.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "format/text.h"
#include "analyze/cli/export.h"
#include "analyze/report/report.h"
#include "analyze/store/table_value.h"

static int prepare(const struct exporter *self, struct load *l, const struct export_opts *o)
{
	return report_prepare_all(l);
}

static int write_row(struct strbuf *b, const char *table, sqlite3_stmt *s, FILE *out)
{
	b->len = 0;
	strbuf_addf(b, "{\"table\":\"");
	strbuf_escape(b, ESCAPE_JSON, span_of(table));
	strbuf_add(b, "\"", 1);
	for (int c = 0; c < sqlite3_column_count(s); c++) {
		strbuf_addf(b, ",\"");
		strbuf_escape(b, ESCAPE_JSON, span_of(sqlite3_column_name(s, c)));
		strbuf_addf(b, "\":");
		value_json(b, s, c);
	}
	strbuf_addf(b, "}\n");
	if (b->failed)
		return -ENOMEM;
	return fwrite(b->p, 1, b->len, out) == b->len ? 0 : errno ? -errno : -EIO;
}

static char *rows_of(sqlite3 *db, const char *table)
{
	bool timed = !sqlite3_table_column_metadata(db, NULL, table, "ts_ns", NULL, NULL, NULL,
						    NULL, NULL);

	return sqlite3_mprintf("SELECT * FROM \"%w\"%s", table,
			       timed ? " ORDER BY ts_ns, rowid" : "");
}

static int write_table(sqlite3 *db, const char *table, FILE *out)
{
	struct strbuf b = {0};
	sqlite3_stmt *s = NULL;
	char *sql = rows_of(db, table);
	int rc, err = sql ? 0 : -ENOMEM;

	if (!err && sqlite3_prepare_v2(db, sql, -1, &s, NULL))
		err = -EINVAL;
	while (!err && (rc = sqlite3_step(s)) != SQLITE_DONE)
		err = rc == SQLITE_ROW ? write_row(&b, table, s, out) : -EIO;
	if (err == -EINVAL)
		message_error("json: %s", sqlite3_errmsg(db));
	else if (err && err != -EPIPE)
		message_error("json: %s: %s", table, strerror(-err));
	sqlite3_finalize(s);
	sqlite3_free(sql);
	strbuf_fini(&b);
	return err;
}

static int write_tables(const struct exporter *self, const struct analysis *a,
			const struct export_opts *o, FILE *out)
{
	struct name_set tables = {0};
	int err = store__tables(a->store, &tables);

	for (size_t i = 0; i < tables.cnt && !err; i++)
		err = write_table(store__db(a->store), tables.v[i], out);
	name_set_fini(&tables);
	return err;
}

const struct exporter export_json = {
	.name = "json", .suffix = ".jsonl", .prepare = prepare, .write = write_tables};
