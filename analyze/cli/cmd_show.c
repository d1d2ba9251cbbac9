/* SPDX-License-Identifier: BSD-2-Clause */
/* obana show: prints one section of the report. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cli/command.h"
#include "analyze/cli/common_options.h"
#include "analyze/load/analysis.h"
#include "analyze/report/section.h"
#include "analyze/store/table.h"
#include "format/text.h"

struct opts {
	struct common_opts common;
	struct table_style style;
	bool list;
	const char *where;
	uint64_t limit, interval_ns;
};

enum { OPT_LIST, OPT_WHERE, OPT_INTERVAL, OPT_LIMIT, OPT_CSV, OPT_JSON };

static int set(void *ctx, const struct option_def *def, const char *arg)
{
	struct opts *o = ctx;

	switch (def->data) {
	case OPT_LIST:
		o->list = true;
		return 0;
	case OPT_WHERE:
		o->where = arg;
		return 0;
	case OPT_INTERVAL:
		if (parse_duration_ns(arg, &o->interval_ns) || !o->interval_ns ||
		    o->interval_ns > INT64_MAX)
			return option_error(def, "'%s' is not a time with a unit, as in 10s", arg);
		return 0;
	case OPT_LIMIT:
		if (parse_u64(arg, &o->limit) || !o->limit || o->limit > INT64_MAX)
			return option_error(def, "'%s' is not a number of rows", arg);
		return 0;
	default:
		o->style.format = def->data == OPT_CSV ? TABLE_CSV : TABLE_JSON;
		return 0;
	}
}

static const struct option_def options[] = {
	{"list", 0, ARG_NONE, NULL, "list the sections, with the names of classic tools", set,
	 OPT_LIST},
	{"where", 0, ARG_REQUIRED, "SQL",
	 "only rows for which this is true: its columns as --json shows them", set, OPT_WHERE},
	{"interval", 0, ARG_REQUIRED, "TIME", "a histogram for each interval", set, OPT_INTERVAL},
	{"limit", 'n', ARG_REQUIRED, "N", "rows of a table (default: all)", set, OPT_LIMIT},
	{"csv", 0, ARG_NONE, NULL, "comma-separated values", set, OPT_CSV},
	{"json", 0, ARG_NONE, NULL, "an array of objects", set, OPT_JSON},
	BY_OPTION,
	THRIFT_OPTION,
	FILTER_OPTIONS,
	SYMBOL_OPTIONS,
	{0},
};

static const struct cli cli = {
	.program = "obana show",
	.synopsis = "NAME ARCHIVE.obz ... [options]\n--list",
	.summary = "one section of the report",
	.details = "NAME is a section's name or that of the classic tool that shows the same. "
		   "A section of samples is of --kind, by default on-CPU or what was "
		   "recorded. Histograms show powers of two; percentiles come from the ranges as "
		   "counted, and "
		   "their error is given.",
	.options = options,
	.operands = section_names,
	.exit_status = cli_exit_status,
};

static int list_sections(void)
{
	for (size_t i = 0; i < section_cnt; i++)
		printf("%-18s %-10s %-12s %s: %s\n", sections[i].name, section_form(sections[i].as),
		       sections[i].aliases,
		       section_of_kind(&sections[i]) ? "Samples of a kind" : sections[i].heading,
		       sections[i].title);
	return fflush(stdout) || ferror(stdout) ? EXIT_FAIL : EXIT_OK;
}

static void put_empty(const struct section *s, const struct captures *c)
{
	char buf[SECTION_EMPTY_SZ];
	const char *why = section_empty(s, c, buf);

	if (why)
		message_warn("show: %s: %s", s->name, why);
	else
		message_warn("show: nothing recorded for %s", s->name);
}

static int write_section(const struct opts *o, const struct analysis *a, const struct section *s,
			 const char *kind, const char *sql, sqlite3_stmt *stmt)
{
	unsigned limit = o->limit < UINT32_MAX ? o->limit : UINT32_MAX;
	bool text = o->style.format == TABLE_TEXT;
	const struct section_args args = {o->limit, o->limit, o->interval_ns, kind, text};
	struct table_style style = o->style;
	uint64_t more;
	long rows;

	style.rows_max = section_bind(stmt, &args);
	if (text && s->as == SECTION_HISTOGRAM)
		rows = histogram_text(stmt, NULL, UINT32_MAX, stdout);
	else if (text && s->as == SECTION_HEATMAP)
		rows = heatmap_text(stmt, NULL, stdout);
	else if (text && s->as == SECTION_TIMELINE)
		rows = timeline_text(stmt, NULL, limit, stdout);
	else
		rows = table_write(stmt, &style, stdout);
	if (!rows && text)
		put_empty(s, &a->captures);
	more = text ? section_left_out(sqlite3_db_handle(stmt), sql, &args, rows) : 0;
	if (more)
		printf("and %llu more: see --limit\n", (unsigned long long)more);
	return rows < 0 ? (int)rows : 0;
}

/* The kind of --kind, otherwise the first kind present (usually cpu), as for flame graphs. */
static uint32_t choose_kind(const struct load *l)
{
	uint64_t there = l->opts.kinds;

	for (size_t i = 0; !l->opts.kinds && i < weights__cnt(l->weights); i++)
		there |= 1ull << weights__get(l->weights, i)->kind;
	return there ? __builtin_ctzll(there) : 0;
}

static char *sql_of(const struct opts *o, const struct section *s, const struct named_kind *kind)
{
	char *sql = section_sql(s, kind, o->interval_ns), *all = NULL;

	if (sql && !o->where)
		return sql;
	if (sql && asprintf(&all, "SELECT * FROM (%s) WHERE (%s)", sql, o->where) < 0)
		all = NULL;
	free(sql);
	return all;
}

/* A --where condition may read any table, including rows of samples. */
static int prepare(const struct opts *o, struct analysis *a, const struct section *s)
{
	struct load *l = &a->load;
	char *sql = sql_of(o, s, sample_kinds__get(l->kinds, 0));
	int err = -ENOMEM;

	if (sql && o->where)
		err = store__tables_of(a->store, sql, &l->wanted);
	else if (sql)
		err = section_prepare(s, l, o->interval_ns);
	if (sql && section_of_kind(s))
		l->opts.weights = true;
	free(sql);
	return err;
}

static int show(const struct opts *o, struct analysis *a, const struct section *s)
{
	const struct named_kind *kind = NULL;
	char *sql = NULL;
	const char *rest;
	sqlite3_stmt *stmt = NULL;
	int err = prepare(o, a, s);

	if (!err)
		err = load__run(&a->load);
	else
		message_error("show: %s", sqlite3_errmsg(store__db(a->store)));
	if (!err) {
		analysis__warn(a);
		store__protect(a->store);
		kind = sample_kinds__get(a->load.kinds, choose_kind(&a->load));
		rest = sql = sql_of(o, s, kind);
		err = sql ? store__prepare(a->store, &rest, &stmt) : -ENOMEM;
		if (!err)
			err = write_section(o, a, s, kind->name, sql, stmt);
		if (err)
			message_error("show: %s", sqlite3_errmsg(store__db(a->store)));
	} else if (err == -EINVAL || err == -EACCES) {
		err = -EIO; /* an SQL error is not a usage error */
	}
	sqlite3_finalize(stmt);
	free(sql);
	if (!err && (fflush(stdout) || ferror(stdout)))
		err = errno ? -errno : -EIO;
	return err;
}

static int run_on(struct opts *o, const char *name, char *const *archives, size_t cnt)
{
	const struct section *s = section_find(name);
	struct analysis a;
	int err;

	if (!s) {
		message_error("show: there is no section '%s'; see obana show --list", name);
		return EXIT_USAGE;
	}
	if (!cnt) {
		message_error("show: no archive given; see obana show --help");
		return EXIT_USAGE;
	}
	if (o->interval_ns && !strstr(s->sql, "$START")) {
		message_error("show: --interval: section '%s' has none", s->name);
		return EXIT_USAGE;
	}
	table_style_names(&o->style, o->common.load.names);
	if (common_check_by(&o->common, "show"))
		return EXIT_USAGE;
	err = analysis__open(&a, &o->common, archives, cnt, NULL);
	return err ? exit_code(err) : analysis__close(&a, show(o, &a, s));
}

static int run(int argc, char **argv)
{
	struct opts o = {.common.load.symbols.inlines = true,
			 .style = table_style_for(stdout),
			 .limit = INT64_MAX};
	int rest, code = EXIT_USAGE, err = cli_parse(&cli, &o, argc, argv, true, &rest, NULL);

	if (err)
		return exit_code(err);
	common_opts_finish(&o.common);
	if (o.list)
		code = list_sections();
	else if (rest >= argc)
		message_error("show: no section given; see obana show --list");
	else
		code = run_on(&o, argv[rest], argv + rest + 1, argc - rest - 1);
	common_opts_fini(&o.common);
	return code;
}

const struct command cmd_show_entry = {.name = "show", .cli = &cli, .run = run};
