/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/report/diff_endpoints.h"

#include <errno.h>
#include <string.h>

#include "format/text.h"
#include "analyze/traffic/traffic_note.h"

int diff_endpoints_prepare(struct load *l)
{
	static const char *const tables[] = {"figure",	"loss",	 "unkept", "late",
					     "scaling", "twice", NULL};

	return name_set_add_all(&l->wanted, tables);
}

/* Calls of one side; ?1: seconds. */
#define CALLS                                                                                      \
	"SELECT role, service, protocol, method, target, calls, calls / ?1 AS qps, "               \
	"1.0 * errors / nullif(calls, 0) AS error_share, "                                         \
	"1.0 * unpaired / nullif(calls, 0) AS unpaired_share, "                                    \
	"sum_ns / 1e9 / ?1 AS time_share, mean_ns, p50_ns, p95_ns, p99_ns "                        \
	"FROM figure WHERE level = 'endpoint'"
enum { SERVICE = 1 }; /* column in CALLS */

#define OLD_AND_NEW(what)                                                                          \
	"max(" what ") FILTER (WHERE side = 0) AS old_" what ", "                                  \
	"max(" what ") FILTER (WHERE side = 1) AS new_" what ", "

/*
 * Container ids change with each deployment, so services are matched by the name after the id,
 * unless several services have that name.
 */
int diff_endpoints_init(struct store *to)
{
	return store__exec(
		to,
		"CREATE TABLE diff_call(side INTEGER, name TEXT, role TEXT, service TEXT, "
		"protocol TEXT, method TEXT, target TEXT, calls INTEGER, qps REAL, error_share "
		"REAL, unpaired_share REAL, "
		"time_share REAL, mean_ns INTEGER, p50_ns INTEGER, p95_ns INTEGER, p99_ns INTEGER);"
		"CREATE VIEW diff_endpoint AS "
		"WITH shared(name) AS (SELECT name FROM diff_call GROUP BY side, name "
		"HAVING count(DISTINCT service) > 1), "
		"named AS (SELECT *, iif(name IN shared, service, name) AS known FROM diff_call), "
		"pair AS (SELECT " OLD_AND_NEW("calls") OLD_AND_NEW("qps") OLD_AND_NEW(
			"error_share") OLD_AND_NEW("unpaired_share") OLD_AND_NEW("time_share")
			OLD_AND_NEW("mean_ns") OLD_AND_NEW("p50_ns") OLD_AND_NEW("p95_ns")
				OLD_AND_NEW(
					"p99_ns") "role, protocol, known AS service, method, "
						  "target FROM named "
						  "GROUP BY role, protocol, known, method, target) "
						  "SELECT ifnull(new_time_share, 0) - "
						  "ifnull(old_time_share, 0) AS change_time_share, "
						  "ifnull(new_qps, 0) - ifnull(old_qps, 0) AS "
						  "change_qps, * FROM pair");
}

/* Removes the container id from a service name, which traffic_names.c makes of twelve digits of the
 * id and the process name. */
static const char *without_container(const char *service)
{
	enum { ID_SZ = 12 };
	bool has_id = service && strspn(service, "0123456789abcdef") == ID_SZ &&
		      service[ID_SZ] == '/' && service[ID_SZ + 1];

	return has_id ? service + ID_SZ + 1 : service;
}

static int copy(struct insert *in, sqlite3_stmt *from, int which)
{
	insert_int(in, which);
	insert_text(in, without_container((const char *)sqlite3_column_text(from, SERVICE)));
	for (int i = 0; i < sqlite3_column_count(from); i++)
		sqlite3_bind_value(in->stmt, ++in->column, sqlite3_column_value(from, i));
	return insert_run(in);
}

int diff_endpoints_add(struct store *to, const struct analysis *a, int which, size_t *cnt)
{
	sqlite3 *db = store__db(a->store);
	sqlite3_stmt *from = NULL;
	struct insert in;
	int rc, err = insert_open(
			&in, to,
			"INSERT INTO diff_call VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
			"?, ?, ?, ?)");

	*cnt = 0;
	if (err)
		return err;
	rc = sqlite3_prepare_v2(db, CALLS, -1, &from, NULL);
	if (!rc)
		rc = sqlite3_bind_double(from, 1, traffic_seconds(&a->load));
	while (!rc && !err && (rc = sqlite3_step(from)) == SQLITE_ROW) {
		err = copy(&in, from, which);
		++*cnt;
		rc = 0;
	}
	if (!err && rc != SQLITE_DONE) {
		message_error("diff: %s", sqlite3_errmsg(db));
		err = -EIO;
	}
	sqlite3_finalize(from);
	insert_close(&in);
	return err;
}
