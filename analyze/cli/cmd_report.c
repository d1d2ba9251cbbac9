/* SPDX-License-Identifier: BSD-2-Clause */
/* obana report: the summary, and the files that go with it. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "format/text.h"
#include "analyze/cli/command.h"
#include "analyze/graph/draw.h"
#include "analyze/cli/output.h"
#include "analyze/report/report.h"

/* The files beside the archive that are made from the stacks. */
enum { FLAMEGRAPH, FOLDED, PPROF, HTML, DRAWN_CNT, SQLITE = DRAWN_CNT, FILE_CNT };
enum { OPT_FILE, OPT_BY = FILE_CNT, OPT_LIMIT };

static const struct {
	const struct profile_sink *sink;
	const char *suffix;
} drawn[DRAWN_CNT] = {
	[FLAMEGRAPH] = {&profile_svg, ".flamegraph.svg"},
	[FOLDED] = {&profile_folded, ".folded"},
	[PPROF] = {&profile_pprof, ".pb.gz"},
	[HTML] = {NULL, ".html"}, /* the report itself */
};

struct opts {
	struct common_opts common;
	struct draw_opts draw;
	struct file {
		bool wanted;
		const char *path; /* NULL: beside the archive */
	} files[FILE_CNT];
	uint64_t limit;
};

static int set(void *ctx, const struct option_def *def, const char *arg)
{
	struct opts *o = ctx;

	if (def->data < FILE_CNT) {
		if (def->data == SQLITE && arg && !strcmp(arg, "-"))
			return option_error(def, "a database cannot be written to stdout");
		o->files[def->data] = (struct file){true, arg};
		return 0;
	}
	if (def->data == OPT_BY)
		return draw_parse_by(&o->draw, def, arg);
	if (parse_u64(arg, &o->limit) || !o->limit || o->limit > 1000000)
		return option_error(def, "'%s' is not a number of rows", arg);
	return 0;
}

static const struct option_def options[] = {
	{.help = "Files (default name: the archive's with another ending; - is stdout, instead of "
		 "the report)"},
	{"flamegraph", 0, ARG_OPTIONAL, "FILE.svg", "a flame graph", set, FLAMEGRAPH},
	{"html", 0, ARG_OPTIONAL, "FILE", "this report with flame graphs as one HTML page", set,
	 HTML},
	{"sqlite", 0, ARG_OPTIONAL, "FILE", "all tables as an SQLite database", set, SQLITE},
	{"folded", 0, ARG_OPTIONAL, "FILE", "folded stacks, for other tools", set, FOLDED},
	{"pprof", 0, ARG_OPTIONAL, "FILE", "for go tool pprof", set, PPROF},
	{.help = "What is shown"},
	{"limit", 'n', ARG_REQUIRED, "N", "rows of the longer tables (default 20)", set, OPT_LIMIT},
	{"by", 0, ARG_REQUIRED, "LIST", "split graphs by thread, process, cgroup, outermost first",
	 set, OPT_BY},
	FILTER_OPTIONS,
	THRIFT_OPTION,
	SYMBOL_OPTIONS,
	{0},
};

static const struct cli cli = {
	.program = "obana report",
	.synopsis = "ARCHIVE.obz ... [options]",
	.summary = "the whole summary as text",
	.options = options,
	.exit_status = cli_exit_status,
};

static bool to_stdout(const struct file *f)
{
	return f->wanted && f->path && !strcmp(f->path, "-");
}

static int write_drawn(const struct opts *o, const struct analysis *a, const char *archive)
{
	int err = 0;

	for (int i = 0; i < DRAWN_CNT && !err; i++) {
		struct output out;

		if (!o->files[i].wanted)
			continue;
		err = output_open(&out, o->files[i].path, archive, drawn[i].suffix, OUTPUT_STREAM);
		if (err)
			break;
		err = drawn[i].sink ? draw_write(a, &o->draw, drawn[i].sink, out.file)
				    : report_write_html(a, &o->draw, o->limit, out.file);
		err = output_close(&out, err);
	}
	return err;
}

static int report(const struct opts *o, struct analysis *a, const char *archive)
{
	bool silent = false;
	int err = report_prepare(&a->load);

	if (!err)
		err = draw_prepare(&a->load, &o->draw);
	if (!err && o->files[SQLITE].wanted)
		err = report_prepare_all(&a->load);
	if (!err)
		err = load__run(&a->load);
	if (err)
		return err;
	for (int i = 0; i < FILE_CNT; i++)
		silent |= to_stdout(&o->files[i]);
	/* Files first: who reads the text through `head` wants them whole all the same. */
	err = write_drawn(o, a, archive);
	if (!err && o->files[SQLITE].wanted)
		err = store__commit(a->store);
	if (silent)
		analysis__warn(a);
	else if (!err)
		err = report_write_text(a, o->limit, stdout);
	return err == -EPIPE ? 0 : err;
}

static int run_on(const struct opts *o, char *const *archives, size_t cnt)
{
	struct output sqlite = {.place.dir = -1};
	struct analysis a;
	int code, err = 0;

	if (o->files[SQLITE].wanted)
		err = output_open(&sqlite, o->files[SQLITE].path, archives[0], ".sqlite",
				  OUTPUT_DATABASE);
	if (!err)
		err = analysis__open(&a, &o->common, archives, cnt, sqlite.temporary);
	if (err) {
		output_close(&sqlite, err);
		return exit_code(err);
	}
	err = report(o, &a, archives[0]);
	code = analysis__close(&a, err);
	err = output_close(&sqlite, err);
	return err && code != EXIT_USAGE ? EXIT_FAIL : code;
}

static int run(int argc, char **argv)
{
	struct opts o = {
		.common.load.symbols.inlines = true, .common.load.weights = true, .limit = 20};
	int rest, stdouts = 0, code, err = cli_parse(&cli, &o, argc, argv, true, &rest, NULL);

	if (err)
		return exit_code(err);
	for (int i = 0; i < FILE_CNT; i++)
		stdouts += to_stdout(&o.files[i]);
	if (rest >= argc || stdouts > 1) {
		message_error(stdouts > 1 ? "report: only one file can go to stdout"
					  : "report: no archive given; see obana report --help");
		return EXIT_USAGE;
	}
	signal(SIGPIPE, SIG_IGN);
	common_opts_finish(&o.common);
	o.common.load.by_thread = o.draw.by[0] != 0;
	code = run_on(&o, argv + rest, argc - rest);
	common_opts_fini(&o.common);
	return code;
}

const struct command cmd_report_entry = {.name = "report", .cli = &cli, .run = run};
