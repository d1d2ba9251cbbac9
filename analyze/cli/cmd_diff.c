/* SPDX-License-Identifier: BSD-2-Clause */
/* obana diff: compares two captures and shows what increased and what decreased. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/load/analysis.h"
#include "analyze/cli/common_options.h"
#include "format/text.h"
#include "analyze/cli/command.h"
#include "analyze/graph/diff.h"
#include "analyze/report/diff_endpoints.h"
#include "analyze/graph/draw.h"
#include "analyze/cli/output.h"
#include "analyze/store/table.h"
#include "analyze/traffic/traffic_note.h"

struct opts {
	struct common_opts common;
	struct draw_opts draw;
	struct table_style style;
	const char *output;
	uint64_t limit;
	bool absolute, endpoints;
};

enum { OPT_OUTPUT, OPT_BY, OPT_ABSOLUTE, OPT_LIMIT, OPT_ENDPOINTS, OPT_FORMAT };

static int set(void *ctx, const struct option_def *def, const char *arg)
{
	struct opts *o = ctx;

	switch (def->data) {
	case OPT_OUTPUT:
		o->output = arg;
		return 0;
	case OPT_BY:
		return draw_parse_by(&o->draw, def, arg);
	case OPT_ABSOLUTE:
		o->absolute = true;
		return 0;
	case OPT_ENDPOINTS:
		o->endpoints = true;
		return 0;
	case OPT_LIMIT:
		if (parse_u64(arg, &o->limit) || !o->limit || o->limit > 1000000)
			return option_error(def, "'%s' is not a number of rows", arg);
		return 0;
	}
	o->style.format = def->data - OPT_FORMAT;
	return 0;
}

static const struct option_def options[] = {
	{"output", 'o', ARG_REQUIRED, "FILE",
	 "also draw the differential flame graph, to this file; - is stdout, instead of the "
	 "tables",
	 set, OPT_OUTPUT},
	{"absolute", 0, ARG_NONE, NULL, "compare times as recorded, not scaled to the same total",
	 set, OPT_ABSOLUTE},
	{"limit", 'n', ARG_REQUIRED, "N", "maximum rows per table (default 20)", set, OPT_LIMIT},
	{"csv", 0, ARG_NONE, NULL, "print one table of all functions as CSV", set,
	 OPT_FORMAT + TABLE_CSV},
	{"json", 0, ARG_NONE, NULL, "print the same table as a JSON array of objects", set,
	 OPT_FORMAT + TABLE_JSON},
	{"endpoints", 0, ARG_NONE, NULL,
	 "compare requests only, also with --csv and --json; no flame graph", set, OPT_ENDPOINTS},
	{"by", 0, ARG_REQUIRED, "LIST", draw_by_help, set, OPT_BY,
	 .values = draw_by_values, .list = true},
	FILTER_OPTIONS,
	SYMBOL_OPTIONS,
	{0},
};

static const struct cli cli = {
	.program = "obana diff",
	.synopsis = "OLD.obz NEW.obz [options]",
	.summary = "compare two captures",
	.details = "Captures differ in length and load: times of the new one are scaled to the "
		   "total of the old one, so values are shares of the total. In the flame graph "
		   "the width of a frame is its weight in both captures, red if it grew, blue if "
		   "it shrank. The tables give the 95 % confidence interval of each change, from "
		   "the number of samples and from how much the share varies within each "
		   "capture. A change is not significant, and grey, if among so many functions "
		   "one of this size is to be expected between captures of the same load "
		   "(Benjamini-Hochberg, 5 %). Requests are compared by endpoint, sorted by the "
		   "change of their "
		   "total latency: 100 % is one call in progress at any time.",
	.options = options,
	.exit_status = cli_exit_status,
};

struct diff {
	const struct opts *opts;
	struct draw_opts draw; /* the groups of the old capture apply to both */
	struct flamegraph *f;
	struct diff_parts *parts;
	struct store *store;
	const char *paths[2];
	char *about[2]; /* "host a, 60 s" */
	char *notes[2]; /* caveats on its traffic statistics; NULL: none */
	char unit[DIFF_UNIT_LEN]; /* of the weights */
	double factor;
	bool damaged;
};

/* ---- loading ---- */

static int take_notes(const struct analysis *a, char **text)
{
	size_t sz;
	FILE *out = open_memstream(text, &sz);

	if (!out)
		return -ENOMEM;
	traffic_note(a, out);
	return fclose(out) ? -ENOMEM : 0;
}

static int feed(struct diff *d, struct analysis *a, int which)
{
	const struct opts *o = d->opts;
	struct diff_side side;
	size_t calls = 0;
	int err;

	diff_side_init(&side, d->f, d->parts, which);
	side.unit = &d->unit;
	err = o->endpoints ? 0 : draw_prepare(&a->load, &d->draw, &side.sink);
	if (!err)
		err = diff_endpoints_prepare(&a->load);
	if (!err)
		err = load__run(&a->load);
	if (err)
		return err;
	analysis__warn(a);
	err = diff_endpoints_add(d->store, a, which, &calls);
	if (!err && calls)
		err = take_notes(a, &d->notes[which]);
	if (err || o->endpoints)
		return err;
	err = draw_choose_groups(a, &d->draw, &side.sink);
	return err ? err : draw_write(a, &d->draw, &side.sink, NULL);
}

/* Loads one archive at a time to limit memory. Returns an exit code. */
static int load_side(struct diff *d, int which)
{
	char *path = (char *)d->paths[which];
	struct analysis a;
	int code, err = analysis__open(&a, &d->opts->common, &path, 1, NULL);

	if (err)
		return exit_code(err);
	err = feed(d, &a, which);
	if (!err)
		d->about[which] = analysis__subtitle(&a, d->opts->endpoints ? NULL : "samples");
	code = analysis__close(&a, err);
	d->damaged |= code == EXIT_PARTIAL;
	if (!err && !d->about[which])
		return EXIT_FAIL;
	return code == EXIT_PARTIAL ? EXIT_OK : code;
}

/* ---- showing ---- */

static bool is_time(const struct diff *d)
{
	return !*d->unit || !strcmp(d->unit, "ns");
}

static void describe_weight(const struct diff *d, int which, char *text, size_t sz)
{
	char time[24];

	if (is_time(d))
		snprintf(text, sz, "%s", format_duration(time, flamegraph__weight(d->f, which)));
	else
		snprintf(text, sz, "%" PRIu64 " %s", flamegraph__weight(d->f, which), d->unit);
}

static void describe_scale(const struct diff *d, char *text, size_t sz)
{
	const char *what = is_time(d) ? "times" : d->unit;
	char old[64], new[64];

	describe_weight(d, 0, old, sizeof(old));
	describe_weight(d, 1, new, sizeof(new));
	if (d->opts->absolute || !flamegraph__weight(d->f, 0) || !flamegraph__weight(d->f, 1))
		snprintf(text, sz, "%s as recorded: old %s, new %s", what, old, new);
	else
		snprintf(text, sz, "new %s are scaled by %.4g to the same total of %s", what,
			 d->factor, old);
}

static int write_svg(const struct diff *d)
{
	struct strbuf subtitle = {0};
	struct flame_style style = {.title = "What grew (red) and shrank (blue)",
				    .unit = is_time(d) ? "ns" : d->unit,
				    .diff = true,
				    .full_names = d->opts->common.load.names == NAMES_FULL};
	struct output out;
	char scale[256];
	int err;

	describe_scale(d, scale, sizeof(scale));
	strbuf_addf(&subtitle, "old: %s \xc2\xb7 new: %s \xc2\xb7 %s", d->about[0], d->about[1],
		    scale);
	style.subtitle = subtitle.p;
	if (d->opts->draw.title)
		style.title = d->opts->draw.title;
	err = subtitle.failed ? -ENOMEM
			      : output_open(&out, d->opts->output, NULL, NULL, OUTPUT_STREAM);
	if (!err) {
		err = flamegraph__write_svg(d->f, &style, out.file);
		if (err)
			message_error("diff: flame graph: %s", strerror(-err));
		err = output_close(&out, err);
	}
	strbuf_fini(&subtitle);
	return err;
}

/* Number of rows without the limit. */
static uint64_t count_all(sqlite3 *db, const char *sql)
{
	char *all = sqlite3_mprintf("SELECT count(*) FROM (%s)", sql);
	sqlite3_stmt *stmt = NULL;
	uint64_t cnt = 0;

	if (all && !sqlite3_prepare_v2(db, all, -1, &stmt, NULL) &&
	    !sqlite3_bind_int64(stmt, 1, INT64_MAX) && sqlite3_step(stmt) == SQLITE_ROW)
		cnt = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_free(all);
	return cnt;
}

static int table(const struct diff *d, const char *title, const char *sql)
{
	sqlite3 *db = store__db(d->store);
	struct table_style style = d->opts->style;
	uint64_t limit = d->opts->limit, all;
	sqlite3_stmt *stmt = NULL;
	bool limited;
	long rows = -1;

	style.title = title;
	style.grey = "?note";
	table_style_names(&style, d->opts->common.load.names);
	if (!sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) &&
	    (!sqlite3_bind_parameter_count(stmt) || !sqlite3_bind_int64(stmt, 1, limit)))
		rows = table_write(stmt, &style, stdout);
	if (rows < 0)
		message_error("diff: %s", sqlite3_errmsg(db));
	limited = sqlite3_bind_parameter_count(stmt);
	sqlite3_finalize(stmt);
	if (limited && rows > 0 && (uint64_t)rows >= limit &&
	    (all = count_all(db, sql)) > (uint64_t)rows)
		printf("and %llu more: see --limit\n", (unsigned long long)(all - rows));
	return rows < 0 ? -EIO : 0;
}

#define COLUMNS(what)                                                                              \
	"SELECT change_" what "_share AS \"change share\", interval_" what                         \
	"_share AS \"+- share\", old_" what "_share AS \"old share\", new_" what                   \
	"_share AS \"new share\", CASE significant_" what                                          \
	" WHEN 0 THEN 'not significant' END AS \"?note\", binary, function "                       \
	"FROM diff_function WHERE kind <> 'group' AND change_" what "_share "
#define ORDER(what) " ORDER BY significant_" what " DESC, change_" what "_share "
#define GREW(what) COLUMNS(what) "> 0" ORDER(what) "DESC, function LIMIT ?1"
#define SHRANK(what) COLUMNS(what) "< 0" ORDER(what) ", function LIMIT ?1"

#define REQUESTS(columns)                                                                          \
	"SELECT " columns " FROM diff_endpoint WHERE change_time_share OR change_qps "             \
	"ORDER BY abs(change_time_share) DESC, abs(change_qps) DESC, role, service, method, "      \
	"target"

#define UNPAIRED(side)                                                                             \
	"CASE WHEN EXISTS (SELECT 1 FROM diff_call WHERE unpaired_share) THEN " side               \
	"_unpaired_share END AS \"?" side "_unpaired_share\", "
#define CHANGED                                                                                    \
	REQUESTS("change_time_share, round(old_qps, 1) AS old_qps, "                               \
		 "round(new_qps, 1) AS new_qps, old_p50_ns, new_p50_ns, old_p99_ns, new_p99_ns, "  \
		 "old_error_share, new_error_share, " UNPAIRED("old")                              \
			 UNPAIRED("new") "role, protocol, service, method, target")                \
	" LIMIT ?1"

static bool has_samples(const struct diff *d)
{
	return flamegraph__weight(d->f, 0) || flamegraph__weight(d->f, 1);
}

static bool has_calls(const struct diff *d)
{
	return d->notes[0] || d->notes[1];
}

static int write_text(const struct diff *d)
{
	static const struct {
		const char *title, *sql;
	} tables[] = {
		{"\nGrew most, by self time", GREW("self")},
		{"\nShrank most, by self time", SHRANK("self")},
		{"\nGrew most, by total time", GREW("total")},
		{"\nShrank most, by total time", SHRANK("total")},
		{"\nRequests: largest changes, by total latency", CHANGED},
	};
	struct strbuf head = {0};
	char scale[256];
	int err = 0;

	for (int k = 0; k < 2; k++) {
		strbuf_addf(&head, k ? "New  " : "Old  ");
		strbuf_escape(&head, ESCAPE_TERMINAL, span_of(d->paths[k]));
		strbuf_addf(&head, ": ");
		strbuf_escape(&head, ESCAPE_TERMINAL, span_of(d->about[k]));
		strbuf_addf(&head, "\n%s", d->notes[k] ? d->notes[k] : "");
	}
	fputs(head.p ? head.p : "", stdout);
	strbuf_fini(&head);
	if (has_samples(d) || !has_calls(d)) {
		describe_scale(d, scale, sizeof(scale));
		printf("The %s.\nShares are of samples; +- is the 95 %% confidence interval.\n",
		       scale);
	}
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !err; i++)
		err = table(d, tables[i].title, tables[i].sql);
	return err;
}

static int write_data(const struct diff *d)
{
	return table(d, NULL,
		     d->opts->endpoints ? REQUESTS("*")
					: "SELECT * FROM diff_function ORDER BY "
					  "change_self_share DESC, function");
}

static int write_tables(const struct diff *d)
{
	sqlite3 *db = store__db(d->store);
	int err = diff_store(d->f, d->parts, d->opts->absolute, db);

	if (err) {
		message_error("diff: %s", err == -ENOMEM ? strerror(ENOMEM) : sqlite3_errmsg(db));
		return err;
	}
	err = d->opts->style.format == TABLE_TEXT ? write_text(d) : write_data(d);
	if (!err && (fflush(stdout) || ferror(stdout))) {
		err = errno ? -errno : -EIO;
		message_error("diff: standard output: %s", strerror(-err));
	}
	return err;
}

static int load(struct diff *d)
{
	int code;

	if (flamegraph__new(&d->f, 0) || diff_parts__new(&d->parts) ||
	    store__open(&d->store, NULL) || diff_endpoints_init(d->store))
		return EXIT_FAIL;
	code = load_side(d, 0);
	return code ? code : load_side(d, 1);
}

static int diff(const struct opts *o, char *const *paths)
{
	struct diff d = {.opts = o, .draw = o->draw, .paths = {paths[0], paths[1]}, .factor = 1};
	int err, code = load(&d);

	if (!code) {
		if (!o->absolute)
			d.factor = diff_normalize(d.f);
		err = o->output && !strcmp(o->output, "-") ? 0 : write_tables(&d);
		if (!err && o->output)
			err = write_svg(&d);
		code = err ? exit_code(err) : d.damaged ? EXIT_PARTIAL : EXIT_OK;
	}
	flamegraph__free(d.f);
	diff_parts__free(d.parts);
	store__close(d.store);
	for (int k = 0; k < 2; k++) {
		free(d.about[k]);
		free(d.notes[k]);
	}
	return code;
}

static int run(int argc, char **argv)
{
	struct opts o = {.common.load.symbols.inlines = true,
			 .common.load.weights = true,
			 .style = table_style_for(stdout),
			 .limit = 20};
	int rest, err = cli_parse(&cli, &o, argc, argv, true, &rest, NULL);

	if (err)
		return exit_code(err);
	if (argc - rest != 2) {
		message_error("diff: two archives are needed, the old and the new one; see obana "
			      "diff --help");
		return EXIT_USAGE;
	}
	if (o.endpoints && o.output) {
		message_error("diff: --output is the flame graph, which --endpoints does not draw");
		return EXIT_USAGE;
	}
	o.style.human = o.style.format == TABLE_TEXT;
	common_opts_finish(&o.common);
	err = diff(&o, argv + rest);
	common_opts_fini(&o.common);
	return err;
}

const struct command cmd_diff_entry = {.name = "diff", .cli = &cli, .run = run};
