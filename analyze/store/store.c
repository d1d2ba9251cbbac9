/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/temp_file.h"
#include "format/text.h"
#include "analyze/store/functions.h"
#include "analyze/base/index.h"

enum { LATER_MAX = 16, PAGE_SZ = 8192, READER_PAGES_MIN = (16 << 20) / PAGE_SZ };

struct store {
	sqlite3 *db;
	sqlite3 *spare; /* what store__add_reader() returns; opened early, while the file has a name
			 */
	int fd;		/* of the temporary file; -1: not known */
	bool file, has_reader, denied;
	const char *later[LATER_MAX];
	size_t later_cnt;
};

static const char schema[] = {
#include "schema.sql.h"
};

/* Nothing has to survive a crash before store__commit, so there is no journal. The cache size
 * limits memory. */
static const char bulk_load[] =
	"PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
	"PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536; PRAGMA temp_store = FILE;"
	"BEGIN;";
/* Its tables are temporary. */
static const char reader[] =
	"PRAGMA journal_mode = OFF; PRAGMA cache_size = -16384; PRAGMA temp_store = FILE; BEGIN;";

int store__failed(const struct store *s)
{
	switch (s->file ? SQLITE_OK : sqlite3_errcode(s->db)) {
	case SQLITE_CANTOPEN:
	case SQLITE_FULL:
	case SQLITE_IOERR:
		message_error("temporary database: %s; set TMPDIR to a directory with more room",
			      sqlite3_errmsg(s->db));
		break;
	default:
		message_error("database: %s", sqlite3_errmsg(s->db));
	}
	return -EIO;
}

/* A new file of the user's, or a temporary one, which two connections can have open. Nobody else
 * has it open, so it needs no locks. If it can't be created, SQLite makes one for the only
 * connection, when it must. */
static int open_file(struct store *s, const char *path)
{
	const int flags = SQLITE_OPEN_NOMUTEX; /* SQLite's lock would cost a fifth of an insert */
	char *temporary = NULL;
	int rc;

	s->fd = path ? -1 : temp_file_named(&temporary);
	if (s->fd >= 0) {
		rc = sqlite3_open_v2(temporary, &s->db, flags | SQLITE_OPEN_READWRITE, "unix-none");
		if (!rc && sqlite3_open_v2(temporary, &s->spare, flags | SQLITE_OPEN_READONLY,
					   "unix-none")) {
			sqlite3_close(s->spare);
			s->spare = NULL;
		}
		unlink(temporary);
		free(temporary);
	} else {
		rc = sqlite3_open_v2(path ? path : "", &s->db,
				     flags | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	}
	return rc;
}

int store__open(struct store **out, const char *path)
{
	struct store *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	/* Memory statistics are not used, and counting takes a lock per allocation. */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	s->file = path != NULL;
	if (open_file(s, path)) {
		message_error("%s: %s", path ? path : "temporary database",
			      s->db ? sqlite3_errmsg(s->db) : "out of memory");
		store__close(s);
		return -EIO;
	}
	err = functions_add(s->db) ? store__failed(s) : store__exec(s, bulk_load);
	if (!err)
		err = store__exec(s, schema);
	if (err) {
		store__close(s);
		return err;
	}
	*out = s;
	return 0;
}

/* Makes room for all pages, so that a commit can't fail. */
static bool reserve(const struct store *s, sqlite3_int64 pages)
{
	return !fallocate(s->fd, FALLOC_FL_KEEP_SIZE, 0, pages * PAGE_SZ);
}

sqlite3 *store__add_reader(struct store *s)
{
	sqlite3_int64 pages = 0;
	sqlite3_stmt *stmt = NULL;

	if (!s->spare || s->has_reader)
		return NULL;
	if (!sqlite3_prepare_v2(s->db, "PRAGMA page_count", -1, &stmt, NULL) &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		pages = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	if (pages < READER_PAGES_MIN || functions_add(s->spare) || !reserve(s, pages) ||
	    store__exec(s, "COMMIT; BEGIN"))
		return NULL;
	s->has_reader = !sqlite3_exec(s->spare, reader, NULL, NULL, NULL);
	return store__reader(s);
}

sqlite3 *store__reader(const struct store *s)
{
	return s->has_reader ? s->spare : NULL;
}

int store__commit(struct store *s)
{
	int err;

	if (!s->file)
		return 0;
	/* A new file needs only one fsync, at the end. */
	err = store__exec(s, "COMMIT; PRAGMA synchronous = FULL; BEGIN IMMEDIATE; PRAGMA "
			     "user_version = 1; COMMIT");
	return err ? err : store__exec(s, "BEGIN");
}

void store__close(struct store *s)
{
	if (!s)
		return;
	sqlite3_close(s->spare);
	sqlite3_close(s->db);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

sqlite3 *store__db(const struct store *s)
{
	return s->db;
}

int store__exec(struct store *s, const char *sql)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) ? store__failed(s) : 0;
}

int store__later(struct store *s, const char *sql)
{
	if (s->later_cnt == LATER_MAX)
		return store__exec(s, sql);
	s->later[s->later_cnt++] = sql;
	return 0;
}

int store__run_later(struct store *s)
{
	int err = 0;

	for (size_t i = 0; i < s->later_cnt && !err; i++)
		err = store__exec(s, s->later[i]);
	s->later_cnt = 0;
	return err;
}

/* ---- restrictions for SQL of users ---- */

static int only_read(void *ctx, int action, const char *a, const char *b, const char *db,
		     const char *trigger)
{
	struct store *s = ctx;

	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		if (strcasecmp(b, "load_extension"))
			return SQLITE_OK;
	}
	s->denied = true;
	return SQLITE_DENY;
}

void store__protect(struct store *s)
{
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_set_authorizer(s->db, only_read, s);
}

int store__prepare(struct store *s, const char **sql, sqlite3_stmt **stmt)
{
	s->denied = false;
	if (sqlite3_prepare_v2(s->db, *sql, -1, stmt, sql))
		return s->denied ? -EACCES : -EINVAL;
	if (!*stmt || sqlite3_stmt_readonly(*stmt))
		return 0;
	sqlite3_finalize(*stmt); /* VACUUM INTO does not call the authorizer */
	*stmt = NULL;
	return -EACCES;
}

/* ---- tables that a statement reads ---- */

bool name_set_has(const struct name_set *set, const char *name)
{
	for (size_t i = 0; i < set->cnt; i++)
		if (!strcasecmp(set->v[i], name))
			return true;
	return false;
}

int name_set_add(struct name_set *set, const char *name)
{
	if (name_set_has(set, name))
		return 0;
	if (array_reserve(&set->v, &set->cap, set->cnt + 1) || !(set->v[set->cnt] = strdup(name)))
		return -ENOMEM;
	set->cnt++;
	return 0;
}

int name_set_add_all(struct name_set *set, const char *const *names)
{
	int err = 0;

	for (; *names && !err; names++)
		err = name_set_add(set, *names);
	return err;
}

void name_set_fini(struct name_set *set)
{
	for (size_t i = 0; i < set->cnt; i++)
		free(set->v[i]);
	free(set->v);
	*set = (struct name_set){0};
}

struct collect {
	struct store *store;
	struct name_set *tables;
};

static int collect_tables(void *ctx, int action, const char *a, const char *b, const char *db,
			  const char *trigger)
{
	struct collect *c = ctx;

	if (action == SQLITE_READ && a && name_set_add(c->tables, a))
		return SQLITE_DENY;
	if (action == SQLITE_READ && b && !strcmp(b, "stack_id") && name_set_add(c->tables, b))
		return SQLITE_DENY; /* a column that is slow to load: see load_event.c */
	return only_read(c->store, action, a, b, db, trigger);
}

int store__tables_of(struct store *s, const char *sql, struct name_set *tables)
{
	struct collect c = {s, tables};
	int err = 0;

	sqlite3_set_authorizer(s->db, collect_tables, &c);
	while (!err && *sql) {
		sqlite3_stmt *stmt = NULL;

		err = store__prepare(s, &sql, &stmt);
		sqlite3_finalize(stmt);
	}
	sqlite3_set_authorizer(s->db, NULL, NULL);
	return err;
}

int store__tables(struct store *s, struct name_set *tables)
{
	sqlite3_stmt *stmt = NULL;
	int err = 0, rc;

	if (sqlite3_prepare_v2(s->db,
			       "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT "
			       "LIKE 'sqlite!_%' ESCAPE '!' ORDER BY rowid",
			       -1, &stmt, NULL))
		return store__failed(s);
	while (!err && (rc = sqlite3_step(stmt)) != SQLITE_DONE)
		err = rc == SQLITE_ROW
			      ? name_set_add(tables, (const char *)sqlite3_column_text(stmt, 0))
			      : store__failed(s);
	sqlite3_finalize(stmt);
	return err;
}

/* ---- rows ---- */

int insert_open(struct insert *in, struct store *s, const char *sql)
{
	*in = (struct insert){.store = s};
	return sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &in->stmt, NULL)
		       ? store__failed(s)
		       : 0;
}

void insert_int(struct insert *in, int64_t v)
{
	sqlite3_bind_int64(in->stmt, ++in->column, v);
}

void insert_real(struct insert *in, double v)
{
	sqlite3_bind_double(in->stmt, ++in->column, v);
}

void insert_text(struct insert *in, const char *text)
{
	sqlite3_bind_text(in->stmt, ++in->column, text, -1, SQLITE_STATIC);
}

void insert_span(struct insert *in, struct span text)
{
	sqlite3_bind_text64(in->stmt, ++in->column, text.p ? text.p : "", text.len, SQLITE_STATIC,
			    SQLITE_UTF8);
}

void insert_null(struct insert *in)
{
	sqlite3_bind_null(in->stmt, ++in->column);
}

int insert_run(struct insert *in)
{
	in->column = 0;
	sqlite3_step(in->stmt);
	return sqlite3_reset(in->stmt) ? store__failed(in->store) : 0;
}

void insert_close(struct insert *in)
{
	sqlite3_finalize(in->stmt);
	*in = (struct insert){0};
}
