/* SPDX-License-Identifier: BSD-2-Clause */
/* obana export: writes a capture in the formats of other programs. */
#include <errno.h>
#include <string.h>

#include "analyze/cli/command.h"
#include "analyze/cli/common_options.h"
#include "analyze/cli/export.h"
#include "format/text.h"

struct opts {
	struct common_opts common;
	struct export_opts export;
	struct export_file files[EXPORT_CNT];
	const char *output;
};

enum { OPT_OUTPUT, OPT_BY };

static int set(void *ctx, const struct option_def *def, const char *arg)
{
	struct opts *o = ctx;

	if (def->data == OPT_BY)
		return draw_parse_by(&o->export.draw, def, arg);
	o->output = arg;
	return 0;
}

static const struct option_def options[] = {
	{"output", 'o', ARG_REQUIRED, "FILE",
	 "output file; - is stdout (default: beside the archive, with another suffix)", set,
	 OPT_OUTPUT},
	{"by", 0, ARG_REQUIRED, "LIST", draw_by_help, set, OPT_BY,
	 .values = draw_by_values, .list = true},
	WAKERS_OPTION,
	FILTER_OPTIONS,
	THRIFT_OPTION,
	SYMBOL_OPTIONS,
	{0},
};

static const struct cli cli = {
	.program = "obana export",
	.synopsis = "FORMAT ARCHIVE.obz ... [options]",
	.summary = "convert for other tools",
	.details = "FORMAT is one of: "
#define EXPORTER(name, option, what) #name " (" what "); "
#include "analyze/cli/exporters.def"
#undef EXPORTER
		   "an object of json is {\"table\":NAME,COLUMN:VALUE,...}, with the columns of "
		   "`obana schema`.",
	.options = options,
	.operands =
#define EXPORTER(name, option, what) #name ", "
#include "analyze/cli/exporters.def"
#undef EXPORTER
		"",
	.exit_status = cli_exit_status,
};

static int write_file(const struct opts *o, struct analysis *a, const char *archive)
{
	int err = export_prepare(o->files, &a->load, &o->export);

	if (!err)
		err = load__run(&a->load);
	if (err)
		return err;
	analysis__warn(a);
	err = export_write(o->files, a, &o->export, archive);
	return err == -EPIPE ? 0 : err;
}

static int run_on(struct opts *o, const struct exporter *e, char *const *archives, size_t cnt)
{
	struct output database;
	struct analysis a;
	int code, err;

	if (e->as == OUTPUT_DATABASE && o->output && !strcmp(o->output, "-")) {
		message_error("export: a database cannot be written to stdout");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < EXPORT_CNT; i++)
		if (exporters[i] == e)
			o->files[i] = (struct export_file){true, o->output};
	err = export_open_database(o->files, archives[0], &database);
	if (!err)
		err = analysis__open(&a, &o->common, archives, cnt, database.temporary);
	if (err) {
		output_close(&database, err);
		return exit_code(err);
	}
	err = write_file(o, &a, archives[0]);
	code = analysis__close(&a, err);
	return output_close(&database, err) && !err ? EXIT_FAIL : code;
}

static void unknown_format(const char *name)
{
	struct strbuf known = {0};

	for (size_t i = 0; i < EXPORT_CNT; i++)
		strbuf_addf(&known, "%s%s", i ? ", " : "", exporters[i]->name);
	message_error("export: unknown format '%s'; there are %s", name, known.p ? known.p : "");
	strbuf_fini(&known);
}

static int run(int argc, char **argv)
{
	struct opts o = {.common.load.symbols.inlines = true, .export.limit = 20};
	const struct exporter *e = NULL;
	int rest, code = EXIT_USAGE, err = cli_parse(&cli, &o, argc, argv, true, &rest, NULL);

	if (err)
		return exit_code(err);
	if (rest < argc)
		e = exporter_find(argv[rest]);
	common_opts_finish(&o.common);
	if (rest < argc && !e)
		unknown_format(argv[rest]);
	else if (rest + 1 >= argc)
		message_error(
			"export: a format and an archive are needed; see obana export --help");
	else
		code = run_on(&o, e, argv + rest + 1, argc - rest - 1);
	common_opts_fini(&o.common);
	return code;
}

const struct command cmd_export_entry = {.name = "export", .cli = &cli, .run = run};
