/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SQLite database between loading and showing. A store owns its connection; failures are
 * reported once, here, and come back as -EIO.
 */
#ifndef ANALYZE_STORE_H
#define ANALYZE_STORE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/records.h"

struct store;

/* An empty database with all tables and views. path NULL: private and temporary, in memory while it
 * is small, gone on close; else a new file. */
int store__open(struct store **s, const char *path);
/* Makes a file whole (what is loaded is committed and on disk); nothing for a temporary one. */
int store__commit(struct store *s);
void store__close(struct store *s);

sqlite3 *store__db(const struct store *s);
int store__exec(struct store *s, const char *sql);
/* Reports what went wrong with its database last. Returns -EIO. */
int store__failed(const struct store *s);

/*
 * Foreign SQL: once __protect was called, statements can read and nothing else: no writes, ATTACH,
 * PRAGMA or extensions. __prepare takes the next statement off *sql (NULL stmt: only blanks were
 * left); -EACCES: it would do more than read; -EINVAL: sqlite3_errmsg has the cause.
 */
void store__protect(struct store *s);
int store__prepare(struct store *s, const char **sql, sqlite3_stmt **stmt);

/* Names of the tables and views a statement would read, itself not run. The set is freed with
 * name_set_fini. */
struct name_set {
	char **v;
	size_t cnt, cap;
};
int store__tables_of(struct store *s, const char *sql, struct name_set *tables);
/* All tables there are, in the order they were made. 0 or -errno, reported. */
int store__tables(struct store *s, struct name_set *tables);
bool name_set_has(const struct name_set *set, const char *name);
int name_set_add(struct name_set *set, const char *name);
int name_set_add_all(struct name_set *set, const char *const *names); /* the last is NULL */
void name_set_fini(struct name_set *set);

/* Rows into a table: bind the columns in order, then run. Errors are kept until insert_run or
 * insert_close. */
struct insert {
	struct store *store;
	sqlite3_stmt *stmt;
	int column;
};
int insert_open(struct insert *in, struct store *s, const char *sql);
void insert_int(struct insert *in, int64_t v);
void insert_real(struct insert *in, double v);
void insert_text(struct insert *in, const char *text); /* NULL: NULL */
void insert_span(struct insert *in, struct span text); /* lives until insert_run */
void insert_null(struct insert *in);
int insert_run(struct insert *in);
void insert_close(struct insert *in);

#endif
