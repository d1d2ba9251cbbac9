/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SQLite database that loaders fill and commands read. A store owns its connection. Errors are
 * reported once, here, and returned as -EIO.
 */
#ifndef ANALYZE_STORE_H
#define ANALYZE_STORE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/records.h"

struct store;

/* Creates an empty database with all tables and views. path NULL: private and temporary, in memory
 * while small, deleted on close. Otherwise a new file. */
int store__open(struct store **s, const char *path);
/* A connection of its own for another thread, which sees the rows that are there now and adds
 * temporary tables. Owned by the store. None is written by the store until that thread is done.
 * NULL: there is one already, it can't be had, or the database is small. */
sqlite3 *store__add_reader(struct store *s);
sqlite3 *store__reader(const struct store *s); /* NULL: there is none */
/* Commits a file and flushes it to disk. No effect on a temporary database. */
int store__commit(struct store *s);
void store__close(struct store *s);

sqlite3 *store__db(const struct store *s);
int store__exec(struct store *s, const char *sql);
/* Runs the statement, a constant, with the next store__run_later(): when all rows are there. */
int store__later(struct store *s, const char *sql);
int store__run_later(struct store *s);
/* Reports the last error of the database. Returns -EIO. */
int store__failed(const struct store *s);

/*
 * For SQL of users. After __protect, statements can only read: no writes, ATTACH, PRAGMA or
 * extensions. __prepare consumes the next statement of *sql (NULL stmt: only blanks were left).
 * -EACCES: the statement does more than read; -EINVAL: see sqlite3_errmsg.
 */
void store__protect(struct store *s);
int store__prepare(struct store *s, const char **sql, sqlite3_stmt **stmt);

/* Names of the tables and views that a statement reads, without running it. Free with
 * name_set_fini. */
struct name_set {
	char **v;
	size_t cnt, cap;
};
int store__tables_of(struct store *s, const char *sql, struct name_set *tables);
/* All tables in order of creation. 0 or negative errno, reported. */
int store__tables(struct store *s, struct name_set *tables);
bool name_set_has(const struct name_set *set, const char *name);
int name_set_add(struct name_set *set, const char *name);
int name_set_add_all(struct name_set *set, const char *const *names); /* NULL-terminated */
void name_set_fini(struct name_set *set);

/* Inserts rows: bind the columns in order, then run. Errors are deferred to insert_run or
 * insert_close. */
struct insert {
	struct store *store;
	sqlite3_stmt *stmt;
	int column;
};
int insert_open(struct insert *in, struct store *s, const char *sql);
void insert_int(struct insert *in, int64_t v);
void insert_real(struct insert *in, double v);
void insert_text(struct insert *in, const char *text); /* NULL: SQL NULL */
void insert_span(struct insert *in, struct span text); /* must be valid until insert_run */
void insert_null(struct insert *in);
int insert_run(struct insert *in);
void insert_close(struct insert *in);

#endif
