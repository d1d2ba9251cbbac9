/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/report/section_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"

/* Which sections have a table, and what to read from it. */
#define KEPT "CREATE TEMP TABLE IF NOT EXISTS section_kept(name PRIMARY KEY, sql, left_out)"

/* Runs a statement whose parameters are two texts and a number. */
static int run(sqlite3 *db, const char *sql, const char *name, const char *text, uint64_t number)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

	if (!rc && sqlite3_bind_parameter_count(stmt)) {
		sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
		sqlite3_bind_text(stmt, 2, text, -1, SQLITE_STATIC);
		sqlite3_bind_int64(stmt, 3, (int64_t)number);
	}
	if (!rc)
		rc = sqlite3_step(stmt);
	sqlite3_finalize(stmt);
	return rc == SQLITE_DONE ? 0 : -EIO;
}

/* The table of a section has columns c0, c1, ..., whose names are given where it is read: names of
 * columns of a statement may be equal. Returns the statement that reads it; free with strbuf_fini.
 */
static struct strbuf read_of(const char *name, sqlite3_stmt *from)
{
	struct strbuf b = {0};
	char *table = sqlite3_mprintf("\"%w\"", name);

	for (int c = 0; c < sqlite3_column_count(from); c++) {
		char *column = sqlite3_mprintf("%sc%d AS \"%w\"", c ? ", " : "SELECT ", c,
					       sqlite3_column_name(from, c));

		strbuf_addf(&b, "%s", column ? column : "");
		b.failed |= !column;
		sqlite3_free(column);
	}
	strbuf_addf(&b, " FROM temp.%s", table ? table : "");
	b.failed |= !table;
	sqlite3_free(table);
	return b;
}

static int make_table(sqlite3 *db, const char *name, int columns, sqlite3_stmt **insert)
{
	struct strbuf create = {0}, add = {0};
	char *table = sqlite3_mprintf("\"%w\"", name);
	int err;

	strbuf_addf(&create, "CREATE TEMP TABLE %s", table ? table : "");
	strbuf_addf(&add, "INSERT INTO temp.%s", table ? table : "");
	for (int c = 0; c < columns; c++) {
		strbuf_addf(&create, "%cc%d", c ? ',' : '(', c);
		strbuf_addf(&add, c ? ",?" : " VALUES(?");
	}
	strbuf_addf(&create, ")");
	strbuf_addf(&add, ")");
	err = !table || create.failed || add.failed ? -ENOMEM : run(db, create.p, NULL, NULL, 0);
	if (!err && sqlite3_prepare_v2(db, add.p, -1, insert, NULL))
		err = -EIO;
	strbuf_fini(&create);
	strbuf_fini(&add);
	sqlite3_free(table);
	return err;
}

/* Keeps the first `most` rows, all if that is 0. Returns the number of rows or -EIO. */
static long keep(sqlite3_stmt *from, sqlite3_stmt *insert, size_t most)
{
	long rows = 0;
	int rc;

	while ((rc = sqlite3_step(from)) == SQLITE_ROW) {
		rows++;
		if (most && (size_t)rows > most)
			continue;
		for (int c = 0; c < sqlite3_column_count(from); c++)
			sqlite3_bind_value(insert, c + 1, sqlite3_column_value(from, c));
		if (sqlite3_step(insert) != SQLITE_DONE)
			return -EIO;
		sqlite3_reset(insert);
	}
	return rc == SQLITE_DONE ? rows : -EIO;
}

/* Runs the SQL of the section into its table `name`. */
static int fill(sqlite3 *db, const char *name, const char *sql, const struct section_args *args)
{
	sqlite3_stmt *from = NULL, *insert = NULL;
	int err = sqlite3_prepare_v2(db, sql, -1, &from, NULL) ? -EIO : 0;
	struct strbuf read = {0};
	long rows = 0;

	if (!err)
		err = make_table(db, name, sqlite3_column_count(from), &insert);
	if (!err)
		rows = keep(from, insert, section_bind(from, args));
	if (!err && rows < 0)
		err = (int)rows;
	if (!err) {
		read = read_of(name, from);
		err = read.failed ? -ENOMEM
				  : run(db, "INSERT INTO temp.section_kept VALUES(?,?,?)", name,
					read.p, section_left_out(db, sql, args, rows));
	}
	strbuf_fini(&read);
	sqlite3_finalize(from);
	sqlite3_finalize(insert);
	return err;
}

/* As section_rows__find, of the table `name`. */
static int find(struct section_rows *r, sqlite3 *db, const char *name)
{
	sqlite3_stmt *stmt = NULL;
	int rc = run(db, KEPT, NULL, NULL, 0);

	if (!rc)
		rc = sqlite3_prepare_v2(
			db, "SELECT sql, left_out FROM temp.section_kept WHERE name = ?", -1, &stmt,
			NULL);
	if (!rc)
		sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
	if (!rc)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		r->left_out = sqlite3_column_int64(stmt, 1);
		if (sqlite3_prepare_v2(db, (const char *)sqlite3_column_text(stmt, 0), -1, &r->stmt,
				       NULL))
			rc = SQLITE_ERROR;
	}
	sqlite3_finalize(stmt);
	return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : -EIO;
}

static char *name_of(const struct section *s, const struct named_kind *kind)
{
	return sqlite3_mprintf("section %s %s", s->name, kind->name);
}

int section_rows__find(struct section_rows *r, sqlite3 *db, const struct section *s,
		       const struct named_kind *kind)
{
	char *name = name_of(s, kind);
	int found;

	*r = (struct section_rows){0};
	found = name ? find(r, db, name) : -ENOMEM;
	sqlite3_free(name);
	return found;
}

int section_rows__get(struct section_rows *r, sqlite3 *db, const struct section *s,
		      const struct named_kind *kind, unsigned limit)
{
	const struct section_args args = {
		.limit = limit, .few = (limit + 3) / 4, .kind = kind->name, .counts = true};
	char *name = name_of(s, kind), *sql = section_sql(s, kind, 0);
	int err = name && sql ? 0 : -ENOMEM;

	*r = (struct section_rows){0};
	if (!err)
		err = find(r, db, name);
	if (!err) {
		err = fill(db, name, sql, &args);
		err = err ? err : find(r, db, name);
	}
	sqlite3_free(name);
	free(sql);
	return err < 0 ? err : 0;
}

void section_rows__fini(struct section_rows *r)
{
	sqlite3_finalize(r->stmt);
	*r = (struct section_rows){0};
}
