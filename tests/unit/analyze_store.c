/* SPDX-License-Identifier: BSD-2-Clause */
/* The database: names that scripts depend on are all there, and foreign SQL can read and nothing
 * else. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/load/captures.h"
#include "analyze/load/event_tables.h"
#include "analyze/store/store.h"
#include "analyze/store/table.h"
#include "format/text.h"
#include "check.h"

/* Contract: every one present even when empty. */
static const char *const contract[] = {
	"SELECT id, uuid, host, kernel, arch, started_at_ns, duration_ns, complete, stop_reason, "
	"command FROM capture",
	"SELECT id, capture_id, pid, ppid, comm, exe, cmdline, cgroup, container_id, started_ns, "
	"exited_ns FROM process",
	"SELECT id, process_id, tid, comm FROM thread",
	"SELECT capture_id, process_id, key, value FROM label",
	"SELECT id, build_id, path, symbols, why FROM binary",
	"SELECT id, name, file, line, binary_id FROM function",
	"SELECT id, kind, binary_id, address, function_id, file, line, inlined FROM frame",
	"SELECT id, truncated, error FROM stack",
	"SELECT stack_id, depth, frame_id FROM stack_frame",
	"SELECT capture_id, kind, ts_ns, thread_id, stack_id, count, value, message_id FROM sample",
	"SELECT id, capture_id, process_id, transport, local_addr, local_port, remote_addr, "
	"remote_port, role, protocol, tls, "
	"opened_ns, closed_ns, bytes_sent, bytes_received, sends, receives FROM connection",
	"SELECT id, connection_id, protocol, method, target, status, is_error, request_ns, "
	"response_ns, latency_ns, "
	"request_bytes, response_bytes, paired, detail FROM message",
	"SELECT protocol, role, service, method, target, calls, errors, p50_ns, p95_ns, p99_ns, "
	"bytes FROM endpoint",
	"SELECT client, server, protocol, calls, errors, bytes, p50_ns, p99_ns FROM edge",
	"SELECT capture_id, probe, series, key, start_ns, low, high, count FROM histogram",
	"SELECT capture_id, probe, series, key, start_ns, count, sum FROM counter",
	"SELECT capture_id, probe, ts_ns, thread_id, fields FROM event",
	"SELECT capture_id, ts_ns, thread_id, stack_id, message_id, path FROM open",
	"SELECT capture_id, ts_ns, thread_id, stack_id, message_id, device_ns FROM block",
	"SELECT capture_id, ts_ns, thread_id, stack_id, message_id, wait_ns FROM runq",
	"SELECT capture_id, source, cause, count FROM loss",
};

static const char *const refused[] = {
	"DELETE FROM sample",
	"INSERT INTO loss VALUES(1, 'a', 'b', 1)",
	"UPDATE capture SET id = 2",
	"CREATE TABLE x(y)",
	"CREATE TEMP TABLE x(y)",
	"DROP TABLE sample",
	"ATTACH '/tmp/obana-must-not-exist' AS x",
	"PRAGMA journal_mode = WAL",
	"VACUUM INTO '/tmp/obana-must-not-exist'",
	"SELECT load_extension('/tmp/x')",
	"BEGIN",
	"REINDEX",
	"INSERT INTO sqlite_schema VALUES(1, 2, 3, 4, 5)",
};

static int prepare(struct store *s, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int err = store__prepare(s, &sql, &stmt);

	sqlite3_finalize(stmt);
	return err;
}

static void test_protection(void)
{
	struct captures none = {0};
	struct event_tables *events;
	struct store *s;

	CHECK(!store__open(&s, NULL));
	CHECK(!event_tables__new(&events, &none, s));
	event_tables__free(events);
	store__protect(s);
	for (size_t i = 0; i < sizeof(contract) / sizeof(*contract); i++)
		CHECK(!prepare(s, contract[i]), "%s: %s", contract[i],
		      sqlite3_errmsg(store__db(s)));
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		CHECK(prepare(s, refused[i]) == -EACCES, "%s", refused[i]);
	CHECK(prepare(s, "SELECT nothing FROM nowhere") == -EINVAL);
	store__close(s);
}

static void test_tables_of(void)
{
	struct name_set set = {0};
	struct store *s;

	CHECK(!store__open(&s, NULL));
	CHECK(!store__tables_of(s, "SELECT * FROM stack_completeness; SELECT count(*) FROM loss",
				&set));
	CHECK(name_set_has(&set, "sample") && name_set_has(&set, "stack") &&
	      name_set_has(&set, "loss"));
	CHECK(!name_set_has(&set, "stack_frame") && !name_set_has(&set, "process"));
	name_set_fini(&set);
	CHECK(store__tables_of(s, "SELECT * FROM no_such_table", &set) == -EINVAL);
	CHECK(store__tables_of(s, "SELECT 1; DELETE FROM loss", &set) == -EACCES);
	name_set_fini(&set);
	store__close(s);
}

static int64_t number_of(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int64_t number = -1;

	CHECK(!sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), "%s: %s", sql, sqlite3_errmsg(db));
	CHECK(sqlite3_step(stmt) == SQLITE_ROW, "%s: %s", sql, sqlite3_errmsg(db));
	number = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return number;
}

static int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int cnt = 0;

	CHECK(dir);
	while (dir && readdir(dir))
		cnt++;
	closedir(dir);
	return cnt;
}

/* The reader sees what was there when it was added, and its tables are its own. */
static void test_reader(void)
{
	static const char fill[] =
		"CREATE TABLE filled(i, t); INSERT INTO filled WITH RECURSIVE n(i) AS (SELECT 1 "
		"UNION "
		"ALL SELECT i + 1 FROM n WHERE i < 40000) SELECT i, printf('%1000d', i) FROM n";
	int files = open_files();
	struct store *s;
	sqlite3 *reader;

	CHECK(!store__open(&s, NULL));
	CHECK(!store__add_reader(s)); /* small */
	CHECK(!store__exec(s, fill)); /* larger than the cache */
	reader = store__add_reader(s);
	CHECK(reader && reader == store__reader(s));
	CHECK(!store__add_reader(s)); /* one only */
	CHECK(number_of(reader, "SELECT count(*) FROM filled WHERE t = printf('%1000d', i)") ==
	      40000);
	static const char *const names[][2] = {
		{"std::vector<std::pair<int, A> > rows_of<A, int>(A, int)",
		 "rows_of<A, int>(A, int)"},
		{"unsigned long count<int>(int const&)", "count<int>(int const&)"},
		{"void std::__detail::__platform_wait<int>(int const*, int)",
		 "std::__detail::__platform_wait<int>(int const*, int)"},
		{"std::ostream& operator<< <char>(std::ostream&, char const*)",
		 "operator<< <char>(std::ostream&, char const*)"},
		{"A::operator std::string() const", "A::operator std::string() const"},
		{"decltype (a+b) sum<int>(int)", "sum<int>(int)"},
		{"(anonymous namespace)::f(int, char)", "(anonymous namespace)::f(int, char)"},
		{"main::{lambda(int, char)#1}::operator()(int, char) const",
		 "main::{lambda(int, char)#1}::operator()(int, char) const"},
		{"<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop",
		 "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop"},
		{"std::mutex::lock()", "std::mutex::lock()"},
		{"A::f() const", "A::f() const"},
		{"pthread_mutex_lock", "pthread_mutex_lock"},
		{"->>odd(", "->>odd("},
		{"", ""},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char sql[512];

		snprintf(sql, sizeof(sql), "SELECT bare_name('%s') = '%s'", names[i][0],
			 names[i][1]);
		if (number_of(reader, sql) != 1)
			printf("%s\n", names[i][0]);
		CHECK(number_of(reader, sql) == 1);
	}
	CHECK(number_of(reader, "SELECT part('a\tb', 'x\ty', 'y') = 'b'") == 1);
	CHECK(!sqlite3_exec(reader, "CREATE TEMP TABLE own(a); INSERT INTO own VALUES(7)", NULL,
			    NULL, NULL));
	CHECK(sqlite3_exec(reader, "DELETE FROM filled", NULL, NULL, NULL) == SQLITE_READONLY);
	CHECK(!store__exec(s, "INSERT INTO filled SELECT i + 40000, t FROM filled"));
	CHECK(number_of(store__db(s), "SELECT count(*) FROM filled") == 80000);
	CHECK(number_of(reader, "SELECT a FROM temp.own") == 7);
	store__close(s);
	CHECK(open_files() == files);
}

/* A file of the user's, which others may read with locks, has none. */
static void test_no_reader(void)
{
	char path[] = "/tmp/analyze_store.XXXXXX";
	struct store *s;
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	unlink(path);
	CHECK(!store__open(&s, path));
	CHECK(!store__exec(
		s, "CREATE TABLE filled AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT "
		   "i + 1 FROM n WHERE i < 20000) SELECT i, printf('%1000d', i) FROM n"));
	CHECK(!store__add_reader(s) && !store__reader(s));
	store__close(s);
	unlink(path);
}

/* What each writer makes of hostile and unusual values. */
static char *written(struct store *s, const char *sql, struct table_style style)
{
	sqlite3_stmt *stmt = NULL;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	CHECK(!sqlite3_prepare_v2(store__db(s), sql, -1, &stmt, NULL));
	CHECK(table_write(stmt, &style, out) >= 0);
	sqlite3_finalize(stmt);
	fclose(out);
	return text;
}

static void test_writers(void)
{
	static const char hostile[] = "SELECT 1 AS n, 'a' || char(27) || '[31m' || char(10) || "
				      "'\"b\"' AS \"na,me\", NULL AS z "
				      "UNION ALL SELECT -7.5, CAST(x'ff41' AS TEXT), x'00'";
	static const struct {
		struct table_style style;
		const char *sql, *want;
	} rows[] = {
		{{.format = TABLE_TEXT},
		 hostile,
		 "   n  na,me             z\n"
		 "   1  a\\x1b[31m\\x0a\"b\"  \n"
		 "-7.5  \\xffA             \\x00\n"},
		{{.format = TABLE_CSV},
		 hostile,
		 "n,\"na,me\",z\n1,\"a\\x1b[31m\n\"\"b\"\"\",\n-7.5,\\xffA,\\x00\n"},
		{{.format = TABLE_JSON},
		 hostile,
		 "[{\"n\":1,\"na,me\":\"a\\u001b[31m\\n\\\"b\\\"\",\"z\":null},\n{\"n\":-7.5,\"na,"
		 "me\":\"\\u00ffA\",\"z\":\"\\u0000\"}]\n"},
		{{.format = TABLE_BOX},
		 "SELECT 'ä' AS a, 12 AS bc",
		 "┌───┬────┐\n│ a │ bc │\n├───┼────┤\n│ ä │ 12 │\n└───┴────┘\n"},
		{{.format = TABLE_JSON}, "SELECT 1 WHERE 0", "[]\n"},
		{{.format = TABLE_TEXT}, "SELECT 1 AS a WHERE 0", ""},
		{{.format = TABLE_TEXT, .human = true},
		 "SELECT 1500000 AS self_ns, 0.25 AS self_share, 2048 AS in_bytes, 7 AS count",
		 "   SELF  SELF %  IN BYTES  COUNT\n1.50 ms  25.00%   2.0 KiB      7\n"},
		{{.format = TABLE_TEXT, .width = 20},
		 "SELECT 1 AS a, '0123456789abcdefghij' AS b",
		 "a  b\n1  0123456789abcdef…\n"},
		{{.format = TABLE_TEXT, .human = true},
		 "SELECT 1 AS a, NULL AS \"?b\", 2 AS c",
		 "A  C\n1  2\n"},
		{{.format = TABLE_TEXT, .human = true},
		 "SELECT 1 AS a, NULL AS \"?b_share\", 2 AS c UNION ALL SELECT 3, 0.5, 4",
		 "A     B %  C\n1          2\n3  50.00%  4\n"},
		{{.format = TABLE_JSON}, "SELECT NULL AS \"?b\"", "[{\"b\":null}]\n"},
	};
	struct store *s;

	CHECK(!store__open(&s, NULL));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *text = written(s, rows[i].sql, rows[i].style);

		CHECK(text && !strcmp(text, rows[i].want), "row %zu:\n%s\nwanted:\n%s", i, text,
		      rows[i].want);
		free(text);
	}
	store__close(s);
}

/* More rows than widths are taken from. */
static void test_long_table(void)
{
	struct store *s;
	char *text;
	size_t lines = 0;

	CHECK(!store__open(&s, NULL));
	text = written(s,
		       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
		       "5000) SELECT i FROM n",
		       (struct table_style){0});
	for (const char *p = text; *p; p++)
		lines += *p == '\n';
	CHECK(lines == 5001, "%zu", lines);
	CHECK(strstr(text, "\n4999\n5000\n"));
	free(text);
	store__close(s);
}

int main(void)
{
	test_protection();
	test_tables_of();
	test_reader();
	test_no_reader();
	test_writers();
	test_long_table();
	return failed;
}
