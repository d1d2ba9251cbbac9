/* SPDX-License-Identifier: BSD-2-Clause */
/* obana export: the profile in other tools' formats. */
#include <errno.h>
#include <string.h>

#include "format/text.h"
#include "analyze/cli/command.h"
#include "analyze/graph/draw.h"
#include "analyze/cli/output.h"
#include "analyze/report/prometheus.h"
#include "analyze/report/report.h"

struct opts {
	struct common_opts common;
	struct draw_opts draw;
	const char *output;
};

enum { OPT_OUTPUT, OPT_BY };

static int set(void *ctx, const struct option_def *def, const char *arg)
{
	struct opts *o = ctx;

	if (def->data == OPT_BY)
		return draw_parse_by(&o->draw, def, arg);
	o->output = arg;
	return 0;
}

static const struct option_def options[] = {
	{"output", 'o', ARG_REQUIRED, "FILE",
	 "where to; - is stdout (default: the archive's name with another ending)", set,
	 OPT_OUTPUT},
	{"by", 0, ARG_REQUIRED, "LIST", "split stacks by thread, process, cgroup, outermost first",
	 set, OPT_BY},
	FILTER_OPTIONS,
	THRIFT_OPTION,
	SYMBOL_OPTIONS,
	{0},
};

static const struct cli cli = {
	.program = "obana export",
	.synopsis = "FORMAT ARCHIVE.obz ... [options]",
	.summary = "write the profile for other tools",
	.details = "FORMAT is pprof (go tool pprof), folded (one line a stack), speedscope, svg, "
		   "sqlite (all tables), or prometheus (traffic as metrics).",
	.options = options,
	.exit_status = cli_exit_status,
};

static int write_profile(const struct opts *o, struct analysis *a, const struct profile_sink *sink,
			 const char *archive)
{
	struct output out;
	char suffix[32];
	int err = draw_prepare(&a->load, &o->draw);

	if (!err)
		err = load__run(&a->load);
	if (err)
		return err;
	analysis__warn(a);
	snprintf(suffix, sizeof(suffix), ".%s", sink->suffix);
	err = output_open(&out, o->output, archive, suffix, OUTPUT_STREAM);
	return err ? err : output_close(&out, draw_write(a, &o->draw, sink, out.file));
}

static int export_profile(struct opts *o, const struct profile_sink *sink, char *const *archives,
			  size_t cnt)
{
	struct analysis a;
	int err;

	o->common.load.weights = true;
	o->common.load.by_thread = o->draw.by[0] != 0;
	err = analysis__open(&a, &o->common, archives, cnt, NULL);
	return err ? exit_code(err) : analysis__close(&a, write_profile(o, &a, sink, archives[0]));
}

static int write_tables(struct analysis *a)
{
	int err = report_prepare_all(&a->load);

	if (!err)
		err = load__run(&a->load);
	if (!err)
		analysis__warn(a);
	return err ? err : store__commit(a->store);
}

static int export_sqlite(const struct opts *o, char *const *archives, size_t cnt)
{
	struct output out;
	struct analysis a;
	int code, err;

	if (o->output && !strcmp(o->output, "-")) {
		message_error("export: a database cannot be written to stdout");
		return EXIT_USAGE;
	}
	err = output_open(&out, o->output, archives[0], ".sqlite", OUTPUT_DATABASE);
	if (err)
		return exit_code(err);
	err = analysis__open(&a, &o->common, archives, cnt, out.temporary);
	if (err) {
		output_close(&out, err);
		return exit_code(err);
	}
	err = write_tables(&a);
	code = analysis__close(&a, err);
	return output_close(&out, err) ? EXIT_FAIL : code;
}

static int write_prometheus(const struct opts *o, struct analysis *a, const char *archive)
{
	struct output out;
	int err = prometheus_prepare(&a->load);

	if (!err)
		err = load__run(&a->load);
	if (err)
		return err;
	analysis__warn(a);
	err = output_open(&out, o->output, archive, ".prom", OUTPUT_STREAM);
	return err ? err : output_close(&out, prometheus_write(a, out.file));
}

static int export_prometheus(const struct opts *o, char *const *archives, size_t cnt)
{
	struct analysis a;
	int err = analysis__open(&a, &o->common, archives, cnt, NULL);

	return err ? exit_code(err) : analysis__close(&a, write_prometheus(o, &a, archives[0]));
}

static void unknown_format(const char *name)
{
	struct strbuf known = {0};

	for (const struct profile_sink *const *s = profile_sinks; *s; s++)
		strbuf_addf(&known, "%s, ", (*s)->name);
	message_error("export: unknown format '%s'; there are %ssqlite, prometheus", name,
		      known.p ? known.p : "");
	strbuf_fini(&known);
}

static int run(int argc, char **argv)
{
	struct opts o = {.common.load.symbols.inlines = true};
	const struct profile_sink *sink = NULL;
	int rest, code = EXIT_USAGE, err = cli_parse(&cli, &o, argc, argv, true, &rest, NULL);
	bool sqlite, prometheus;

	if (err)
		return exit_code(err);
	sqlite = rest < argc && !strcmp(argv[rest], "sqlite");
	prometheus = rest < argc && !strcmp(argv[rest], "prometheus");
	if (rest < argc && !sqlite && !prometheus)
		sink = profile_sink_find(argv[rest]);
	common_opts_finish(&o.common);
	if (rest < argc && !sqlite && !prometheus && !sink)
		unknown_format(argv[rest]);
	else if (rest + 1 >= argc)
		message_error(
			"export: a format and an archive are needed; see obana export --help");
	else if (prometheus)
		code = export_prometheus(&o, argv + rest + 1, argc - rest - 1);
	else if (sqlite)
		code = export_sqlite(&o, argv + rest + 1, argc - rest - 1);
	else
		code = export_profile(&o, sink, argv + rest + 1, argc - rest - 1);
	common_opts_fini(&o.common);
	return code;
}

const struct command cmd_export_entry = {.name = "export", .cli = &cli, .run = run};
