/* SPDX-License-Identifier: BSD-2-Clause */
/* obana report: prints the summary and writes additional output files. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "analyze/cli/command.h"
#include "analyze/cli/common_options.h"
#include "analyze/cli/export.h"
#include "analyze/report/report.h"
#include "format/text.h"

enum { OPT_BY = EXPORT_CNT, OPT_LIMIT };

struct opts {
	struct common_opts common;
	struct export_opts export;
	struct export_file files[EXPORT_CNT];
};

static int set(void *ctx, const struct option_def *def, const char *arg)
{
	struct opts *o = ctx;

	if (def->data < EXPORT_CNT) {
		if (exporters[def->data]->as == OUTPUT_DATABASE && arg && !strcmp(arg, "-"))
			return option_error(def, "a database cannot be written to stdout");
		o->files[def->data] = (struct export_file){true, arg};
		return 0;
	}
	if (def->data == OPT_BY)
		return draw_parse_by(&o->export.draw, def, arg);
	if (parse_u64(arg, &o->export.limit) || !o->export.limit || o->export.limit > 1000000)
		return option_error(def, "'%s' is not a number of rows", arg);
	return 0;
}

static const struct option_def options[] = {
	{.help = "Files (default: beside the archive, with another suffix; - is stdout, instead "
		 "of the report)"},
#define EXPORTER(name, option, what) {#option, 0, ARG_OPTIONAL, "FILE", what, set, EXPORT_##name},
#include "analyze/cli/exporters.def"
#undef EXPORTER
	{.help = "Output"},
	{"limit", 'n', ARG_REQUIRED, "N", "maximum rows per table (default 20)", set, OPT_LIMIT},
	{"by", 0, ARG_REQUIRED, "LIST", draw_by_help, set, OPT_BY, .values = draw_by_values,
	 .list = true},
	FILTER_OPTIONS,
	THRIFT_OPTION,
	SYMBOL_OPTIONS,
	{0},
};

static const struct cli cli = {
	.program = "obana report",
	.synopsis = "ARCHIVE.obz ... [options]",
	.summary = "print a summary as text",
	.options = options,
	.exit_status = cli_exit_status,
};

static bool to_stdout(const struct export_file *f)
{
	return f->wanted && f->path && !strcmp(f->path, "-");
}

/* Whether the report itself is printed, not a file in its place. */
static bool is_printed(const struct opts *o)
{
	bool printed = true;

	for (int i = 0; i < EXPORT_CNT; i++)
		printed &= !to_stdout(&o->files[i]);
	return printed;
}

static int report(const struct opts *o, struct analysis *a, const char *archive)
{
	bool printed = is_printed(o);
	struct report_text *text = NULL;
	int err = report_prepare(&a->load, false);

	if (!err)
		err = export_prepare(o->files, &a->load, &o->export);
	if (!err && printed)
		err = report_text__open(&text, a, o->export.limit, stdout);
	if (!err)
		err = load__run_beside(&a->load, printed ? report_text__write_ready : NULL, text);
	/* Files are written first, so that they are complete even if stdout is closed early, as by
	 * `head`. */
	if (!err) {
		err = export_write(o->files, a, &o->export, archive);
		if (!printed)
			analysis__warn(a);
		else if (!err)
			err = report_text__write(text);
	}
	report_text__close(text);
	return err == -EPIPE ? 0 : err;
}

static int run_on(const struct opts *o, char *const *archives, size_t cnt)
{
	struct output database;
	struct analysis a;
	int code, err = export_open_database(o->files, archives[0], &database);

	if (!err)
		err = analysis__open(&a, &o->common, archives, cnt, database.temporary);
	if (err) {
		output_close(&database, err);
		return exit_code(err);
	}
	err = report(o, &a, archives[0]);
	code = analysis__close(&a, err);
	err = output_close(&database, err);
	return err && code != EXIT_USAGE ? EXIT_FAIL : code;
}

static int run(int argc, char **argv)
{
	struct opts o = {.common.load.symbols.inlines = true,
			 .common.load.weights = true,
			 .export.limit = 20};
	int rest, stdouts = 0, code, err = cli_parse(&cli, &o, argc, argv, true, &rest, NULL);

	if (err)
		return exit_code(err);
	for (int i = 0; i < EXPORT_CNT; i++)
		stdouts += to_stdout(&o.files[i]);
	if (rest >= argc || stdouts > 1) {
		message_error(stdouts > 1 ? "report: only one file can go to stdout"
					  : "report: no archive given; see obana report --help");
		return EXIT_USAGE;
	}
	signal(SIGPIPE, SIG_IGN);
	common_opts_finish(&o.common);
	code = run_on(&o, argv + rest, argc - rest);
	common_opts_fini(&o.common);
	return code;
}

const struct command cmd_report_entry = {.name = "report", .cli = &cli, .run = run};
