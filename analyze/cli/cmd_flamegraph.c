/* SPDX-License-Identifier: BSD-2-Clause */
/* obana flamegraph: draws one flame graph. */
#include <errno.h>
#include <string.h>

#include "analyze/load/analysis.h"
#include "analyze/cli/common_options.h"
#include "format/text.h"
#include "analyze/cli/command.h"
#include "analyze/graph/draw.h"
#include "analyze/cli/output.h"

struct opts {
	struct common_opts common;
	struct draw_opts draw;
	const char *output;
};

enum { OPT_BY, OPT_INVERTED, OPT_TITLE, OPT_OUTPUT };

static int set(void *ctx, const struct option_def *def, const char *arg)
{
	struct opts *o = ctx;

	switch (def->data) {
	case OPT_BY:
		return draw_parse_by(&o->draw, def, arg);
	case OPT_INVERTED:
		o->draw.inverted = true;
		return 0;
	case OPT_TITLE:
		o->draw.title = arg;
		return 0;
	case OPT_OUTPUT:
		o->output = arg;
		return 0;
	}
	return -EINVAL;
}

static const struct option_def options[] = {
	{"output", 'o', ARG_REQUIRED, "FILE",
	 "output file; - is stdout (default: ARCHIVE.flamegraph.svg)", set, OPT_OUTPUT},
	{"by", 0, ARG_REQUIRED, "LIST", draw_by_help, set, OPT_BY,
	 .values = draw_by_values, .list = true},
	{"inverted", 0, ARG_NONE, NULL, "start from the leaves, with their callers below", set,
	 OPT_INVERTED},
	{"title", 0, ARG_REQUIRED, "TEXT", "title of the graph", set, OPT_TITLE},
	WAKERS_OPTION,
	FILTER_OPTIONS,
	SYMBOL_OPTIONS,
	{0},
};

static const struct cli cli = {
	.program = "obana flamegraph",
	.synopsis = "ARCHIVE.obz ... [options]",
	.summary = "draw a flame graph as one self-contained SVG",
	.details = "Shows on-CPU samples, or those of --kind; several kinds in one graph are "
		   "shown as time.",
	.options = options,
	.exit_status = cli_exit_status,
};

static int draw(const struct opts *o, struct analysis *a, const char *archive)
{
	struct output out;
	int err = draw_prepare(&a->load, &o->draw, &profile_svg);

	if (!err)
		err = load__run(&a->load);
	if (err)
		return err;
	analysis__warn(a);
	err = output_open(&out, o->output, archive, ".flamegraph.svg", OUTPUT_STREAM);
	return err ? err : output_close(&out, draw_write(a, &o->draw, &profile_svg, out.file));
}

static int run(int argc, char **argv)
{
	struct opts o = {.common.load.symbols.inlines = true, .common.load.weights = true};
	struct analysis a;
	int rest, err = cli_parse(&cli, &o, argc, argv, true, &rest, NULL);

	if (err)
		return exit_code(err);
	if (rest >= argc) {
		message_error("flamegraph: no archive given; see obana flamegraph --help");
		return EXIT_USAGE;
	}
	common_opts_finish(&o.common);
	err = analysis__open(&a, &o.common, argv + rest, argc - rest, NULL);
	err = err ? exit_code(err) : analysis__close(&a, draw(&o, &a, argv[rest]));
	common_opts_fini(&o.common);
	return err;
}

const struct command cmd_flamegraph_entry = {.name = "flamegraph", .cli = &cli, .run = run};
