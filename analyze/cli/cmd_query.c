/* SPDX-License-Identifier: BSD-2-Clause */
/* obana query: runs SQL over the tables. Only the tables that the statement reads are loaded. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/cli/common_options.h"
#include "format/text.h"
#include "analyze/load/analysis.h"
#include "analyze/cli/command.h"
#include "analyze/store/table.h"

struct opts {
	struct common_opts common;
	struct table_style style;
};

static int set_format(void *ctx, const struct option_def *def, const char *arg)
{
	((struct opts *)ctx)->style.format = def->data;
	return 0;
}

static const struct option_def options[] = {
	{"csv", 0, ARG_NONE, NULL,
	 "print CSV (RFC 4180); text that a spreadsheet would take for a formula is prefixed "
	 "with '",
	 set_format, TABLE_CSV},
	{"json", 0, ARG_NONE, NULL, "print a JSON array of objects", set_format, TABLE_JSON},
	{"box", 0, ARG_NONE, NULL, "draw boxes around tables", set_format, TABLE_BOX},
	FILTER_OPTIONS,
	THRIFT_OPTION,
	SYMBOL_OPTIONS,
	{0},
};

static const struct cli cli = {
	.program = "obana query",
	.synopsis = "\"SQL\" ARCHIVE.obz ... [options]\nARCHIVE.obz ...",
	.summary = "run SQL queries",
	.details = "Without SQL, the tables are listed; - reads SQL from stdin. Times are "
		   "integer nanoseconds. Statements are read-only. `obana report --sqlite` "
		   "writes the same database to a file.",
	.options = options,
	.exit_status = cli_exit_status,
};

static const char list_tables[] =
	"SELECT s.name AS \"table\", s.type, group_concat(c.name, ', ') AS columns "
	"FROM sqlite_schema s, pragma_table_info(s.name) c WHERE s.type IN ('table', 'view') AND "
	"s.name NOT LIKE 'sqlite_%' "
	"GROUP BY s.name ORDER BY s.type, s.rowid";

/* Whether an operand is SQL rather than a file name: it contains blanks (and no such file exists),
 * is empty, or is "-". */
static bool looks_like_sql(const char *s)
{
	return !*s || !strcmp(s, "-") || (s[strcspn(s, " \t\n;")] && access(s, F_OK));
}

static char *read_stdin(void)
{
	struct strbuf b = {0};
	char buf[4096];
	size_t n;

	while ((n = fread(buf, 1, sizeof(buf), stdin)))
		strbuf_add(&b, buf, n);
	strbuf_add(&b, "", 0);
	if (b.failed || ferror(stdin)) {
		message_error("query: stdin: %s", b.failed ? "too long" : strerror(errno));
		strbuf_fini(&b);
		return NULL;
	}
	return b.p;
}

static int sql_error(const struct store *s, int err)
{
	if (err == -EACCES)
		message_error("query: only read-only statements are allowed: SELECT, VALUES, WITH");
	else
		message_error("query: %s", sqlite3_errmsg(store__db(s)));
	return err == -ENOMEM ? err : -EIO; /* an SQL error is not a usage error */
}

static bool blank(const char *sql)
{
	return !sql[strspn(sql, " \t\r\n;")];
}

static int run_statements(struct store *s, const char *sql, const struct table_style *style)
{
	int err = 0;

	while (!err && !blank(sql)) {
		sqlite3_stmt *stmt = NULL;

		err = store__prepare(s, &sql, &stmt);
		if (!err && stmt && table_write(stmt, style, stdout) < 0)
			err = -EIO;
		if (err)
			err = sql_error(s, err);
		sqlite3_finalize(stmt);
	}
	if (!err && (fflush(stdout) || ferror(stdout))) {
		err = errno ? -errno : -EIO;
		message_error("query: standard output: %s", strerror(-err));
	}
	return err;
}

static int query(const struct opts *o, struct analysis *a, const char *sql)
{
	int err;

	if (!sql)
		return run_statements(a->store, list_tables, &o->style);
	if (blank(sql)) {
		message_error("query: the statement is empty");
		return -EINVAL;
	}
	err = store__tables_of(a->store, sql, &a->load.wanted);
	if (err)
		return sql_error(a->store, err);
	err = load__run(&a->load);
	if (err)
		return err;
	analysis__warn(a);
	store__protect(a->store);
	return run_statements(a->store, sql, &o->style);
}

/* Removes the SQL from the operands. */
static int find_sql(char **operands, int *cnt, char **sql)
{
	for (int i = 0; i < *cnt; i++) {
		if (!looks_like_sql(operands[i]))
			continue;
		*sql = strcmp(operands[i], "-") ? strdup(operands[i]) : read_stdin();
		if (!*sql)
			return -EIO;
		memmove(&operands[i], &operands[i + 1], (*cnt - i - 1) * sizeof(*operands));
		--*cnt;
		break;
	}
	if (*cnt)
		return 0;
	message_error("query: no archive given; see obana query --help");
	return -EINVAL;
}

static int run(int argc, char **argv)
{
	struct opts o = {.common.load.symbols.inlines = true, .style = table_style_for(stdout)};
	struct analysis a;
	char *sql = NULL;
	int rest, cnt, code, err = cli_parse(&cli, &o, argc, argv, true, &rest, NULL);

	if (err)
		return exit_code(err);
	o.style.human = false; /* raw values, for scripts */
	o.style.short_names = false;
	o.style.width = 0;
	cnt = argc - rest;
	err = find_sql(argv + rest, &cnt, &sql);
	common_opts_finish(&o.common);
	if (!err)
		err = analysis__open(&a, &o.common, argv + rest, cnt, NULL);
	code = err ? exit_code(err) : analysis__close(&a, query(&o, &a, sql));
	common_opts_fini(&o.common);
	free(sql);
	return code;
}

const struct command cmd_query_entry = {.name = "query", .cli = &cli, .run = run};
