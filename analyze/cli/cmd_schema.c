/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * obana schema: describes the tables for SQL queries. Descriptions are the comments in the CREATE
 * statements, whose text SQLite stores (see schema.sql for the form).
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "format/text.h"
#include "analyze/cli/common_options.h"
#include "analyze/load/analysis.h"
#include "analyze/cli/command.h"

struct opts {
	struct common_opts common;
	bool json;
};

static int set_json(void *ctx, const struct option_def *def, const char *arg)
{
	((struct opts *)ctx)->json = true;
	return 0;
}

static const struct option_def options[] = {
	{"json", 0, ARG_NONE, NULL, "an array of tables, each with its columns", set_json, 0},
	{0},
};

static const struct cli cli = {
	.program = "obana schema",
	.synopsis = "[TABLE ...] [ARCHIVE.obz ...] [options]",
	.summary = "list tables and columns for obana query",
	.details = "Lists all tables and views, or those named. With an archive also the tables of "
		   "event kinds that only the archive knows.",
	.options = options,
	.exit_status = cli_exit_status,
};

static const struct example {
	const char *what, *sql;
} examples[] = {
	{"CPU time by process", "SELECT comm, pid, value / 1e9 AS seconds FROM hot_process WHERE "
				"kind = 'cpu' ORDER BY 3 DESC"},
	{"samples of one thread, second by second",
	 "SELECT ts_ns / 1000000000 AS second, sum(count) FROM sample JOIN thread ON thread.id = "
	 "thread_id WHERE tid = 4711 GROUP BY 1"},
	{"slowest requests",
	 "SELECT time, protocol, method, target, latency_ns FROM exchange ORDER BY latency_ns DESC "
	 "LIMIT 10"},
	{"functions above main",
	 "SELECT DISTINCT function.name FROM stack_frame a JOIN stack_frame b "
	 "ON b.stack_id = a.stack_id AND b.depth = a.depth - 1 JOIN frame f "
	 "ON f.id = a.frame_id JOIN function m ON m.id = f.function_id JOIN "
	 "frame g ON g.id = b.frame_id JOIN function ON function.id = "
	 "g.function_id WHERE m.name = 'main'"},
	{"what a probe counted, by key",
	 "SELECT probe, series, key, sum(count) FROM counter GROUP BY 1, 2, 3 ORDER BY 4 DESC"},
	{"a process's label", "SELECT process.comm, value FROM label JOIN process ON process.id = "
			      "process_id WHERE key = "
			      "'app'"},
};

/* Text after "-- ", until the end of the line. */
static struct span rest_of(const char *comment)
{
	comment += 2;
	comment += *comment == ' ';
	return (struct span){comment, strcspn(comment, "\n")};
}

/* Description of a table: the comment after its name. */
static struct span table_doc(const char *sql)
{
	const char *end = strchr(sql, '\n'), *comment = strstr(sql, "-- ");

	return comment && (!end || comment < end) ? rest_of(comment) : (struct span){"", 0};
}

/* Description of a column: a line `name TYPE, -- text`, or for a view `-- name: text`. */
static struct span column_doc(const char *sql, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = strchr(sql, '\n'); line; line = strchr(line + 1, '\n')) {
		const char *p = line + 1 + strspn(line + 1, " \t"), *comment;
		bool of_view = !strncmp(p, "-- ", 3), found;

		p += of_view ? 3 : 0;
		found = !strncmp(p, name, len) && p[len] == (of_view ? ':' : ' ');
		if (found && of_view)
			return (struct span){p + len + 2, strcspn(p + len + 2, "\n")};
		comment = found ? strstr(p, "-- ") : NULL;
		if (comment && comment < p + strcspn(p, "\n"))
			return rest_of(comment);
	}
	return (struct span){"", 0};
}

static struct json_object *json_span(struct span s)
{
	return json_object_new_string_len(s.p, s.len);
}

static struct json_object *columns_of(sqlite3 *db, const char *table, const char *sql)
{
	struct json_object *columns = json_object_new_array();
	sqlite3_stmt *s = NULL;

	sqlite3_prepare_v2(db, "SELECT name, type FROM pragma_table_info(?)", -1, &s, NULL);
	sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
	while (sqlite3_step(s) == SQLITE_ROW) {
		struct json_object *column = json_object_new_object();
		const char *name = (const char *)sqlite3_column_text(s, 0);

		json_object_object_add(column, "name", json_object_new_string(name));
		json_object_object_add(
			column, "type",
			json_object_new_string((const char *)sqlite3_column_text(s, 1)));
		json_object_object_add(column, "description", json_span(column_doc(sql, name)));
		json_object_array_add(columns, column);
	}
	sqlite3_finalize(s);
	return columns;
}

/* Whether the table is among the names. Without names all tables are. */
static bool chosen(const struct name_set *names, const char *table)
{
	return !names->cnt || name_set_has(names, table);
}

static struct json_object *tables_of(sqlite3 *db, const struct name_set *names)
{
	struct json_object *tables = json_object_new_array();
	sqlite3_stmt *s = NULL;

	sqlite3_prepare_v2(
		db,
		"SELECT name, type, sql FROM sqlite_schema WHERE type IN ('table', 'view') AND "
		"name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY type, rowid",
		-1, &s, NULL);
	while (sqlite3_step(s) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(s, 0),
			   *sql = (const char *)sqlite3_column_text(s, 2);
		struct json_object *table;

		if (!chosen(names, name))
			continue;
		table = json_object_new_object();
		json_object_object_add(table, "name", json_object_new_string(name));
		json_object_object_add(
			table, "type",
			json_object_new_string((const char *)sqlite3_column_text(s, 1)));
		json_object_object_add(table, "description", json_span(table_doc(sql)));
		json_object_object_add(table, "columns", columns_of(db, name, sql));
		json_object_array_add(tables, table);
	}
	sqlite3_finalize(s);
	return tables;
}

static const char *string_of(struct json_object *o, const char *key)
{
	return json_object_get_string(json_object_object_get(o, key));
}

static void print_table(struct json_object *table)
{
	struct json_object *columns = json_object_object_get(table, "columns");

	printf("%s %s: %s\n", string_of(table, "type"), string_of(table, "name"),
	       string_of(table, "description"));
	for (size_t i = 0; i < json_object_array_length(columns); i++) {
		struct json_object *c = json_object_array_get_idx(columns, i);

		printf("  %-16s %-8s %s\n", string_of(c, "name"), string_of(c, "type"),
		       string_of(c, "description"));
	}
	printf("\n");
}

static void print_text(struct json_object *tables, bool with_examples)
{
	for (size_t i = 0; i < json_object_array_length(tables); i++)
		print_table(json_object_array_get_idx(tables, i));
	for (size_t i = 0; with_examples && i < sizeof(examples) / sizeof(*examples); i++)
		printf("%s# %s\nobana query \"%s\" cap.obz\n", i ? "\n" : "", examples[i].what,
		       examples[i].sql);
}

static bool has_table(struct json_object *tables, const char *name)
{
	for (size_t i = 0; i < json_object_array_length(tables); i++)
		if (!strcasecmp(string_of(json_object_array_get_idx(tables, i), "name"), name))
			return true;
	return false;
}

static int show(const struct opts *o, const struct analysis *a, const struct name_set *names)
{
	sqlite3 *db = store__db(a->store);
	struct json_object *tables = tables_of(db, names);
	int err = 0;

	for (size_t i = 0; i < names->cnt && !err; i++)
		if (!has_table(tables, names->v[i])) {
			message_error("schema: there is no table '%s'", names->v[i]);
			err = -EINVAL;
		}
	if (!err && o->json)
		puts(json_object_to_json_string_ext(tables, JSON_C_TO_STRING_PRETTY));
	else if (!err)
		print_text(tables, !names->cnt);
	json_object_put(tables);
	if (!err && (fflush(stdout) || ferror(stdout))) {
		err = errno ? -errno : -EIO;
		message_error("schema: standard output: %s", strerror(-err));
	}
	return err;
}

/* Whether an operand is a table name rather than a file: a word, and no such file exists. */
static bool is_table_name(const char *s)
{
	for (const char *p = s; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '_')
			return false;
	return *s && access(s, F_OK);
}

static int run(int argc, char **argv)
{
	struct opts o = {0};
	struct name_set names = {0};
	struct analysis a;
	int rest, archives = 0, err = cli_parse(&cli, &o, argc, argv, true, &rest, NULL);

	if (err)
		return exit_code(err);
	for (int i = rest; i < argc && !err; i++)
		if (is_table_name(argv[i]))
			err = name_set_add(&names, argv[i]);
		else
			argv[rest + archives++] = argv[i];
	if (!err)
		err = analysis__open(&a, &o.common, argv + rest, archives, NULL);
	err = err ? exit_code(err) : analysis__close(&a, show(&o, &a, &names));
	name_set_fini(&names);
	return err;
}

const struct command cmd_schema_entry = {.name = "schema", .cli = &cli, .run = run};
