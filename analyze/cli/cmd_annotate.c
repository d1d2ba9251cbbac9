/* SPDX-License-Identifier: BSD-2-Clause */
/* obana annotate: the source lines, or instructions, of a function with their shares of the
 * samples. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/source_file.h"
#include "analyze/cli/annotate_code.h"
#include "analyze/cli/command.h"
#include "analyze/cli/common_options.h"
#include "analyze/load/analysis.h"
#include "analyze/store/table.h"
#include "format/text.h"

enum { OPT_SOURCE, OPT_DISASSEMBLE, OPT_LIMIT, OPT_CSV, OPT_JSON };
enum {
	CONTEXT = 2, /* lines before and after those with samples */
	TAB = 8,
};

struct opts {
	struct common_opts common;
	struct table_style style;
	const char *source;
	bool code;	    /* instructions in place of lines */
	const char *binary; /* their file; NULL: where it was recorded */
	uint64_t limit;
};

static int set(void *ctx, const struct option_def *def, const char *arg)
{
	struct opts *o = ctx;

	switch (def->data) {
	case OPT_SOURCE:
		o->source = arg;
		return 0;
	case OPT_DISASSEMBLE:
		o->code = true;
		o->binary = arg;
		return 0;
	case OPT_LIMIT:
		if (parse_u64(arg, &o->limit) || !o->limit || o->limit > INT64_MAX)
			return option_error(def, "'%s' is not a number of functions", arg);
		return 0;
	default:
		o->style.format = def->data == OPT_CSV ? TABLE_CSV : TABLE_JSON;
		return 0;
	}
}

static const struct option_def options[] = {
	{"source", 0, ARG_REQUIRED, "DIR",
	 "search source files beneath this directory, by the end of the path that the debug "
	 "information names (default: the current directory; /: where they were when built)",
	 set, OPT_SOURCE},
	{"disassemble", 'd', ARG_OPTIONAL, "BINARY",
	 "instructions in place of source lines, by objdump, from this file (default: the path at "
	 "which it was recorded), which must have the recorded build-id",
	 set, OPT_DISASSEMBLE},
	{"limit", 'n', ARG_REQUIRED, "N", "functions, if several match (default 5)", set,
	 OPT_LIMIT},
	{"csv", 0, ARG_NONE, NULL, "lines with samples as comma-separated values", set, OPT_CSV},
	{"json", 0, ARG_NONE, NULL, "lines with samples as an array of objects", set, OPT_JSON},
	FILTER_OPTIONS,
	SYMBOL_OPTIONS,
	{0},
};

static const struct cli cli = {
	.program = "obana annotate",
	.synopsis = "FUNCTION ARCHIVE.obz ... [options]",
	.summary = "source lines of a function with their shares",
	.details = "FUNCTION is a name as the report shows it, without parameters, or a pattern "
		   "with * and ?. SELF is the share of the samples in which the line itself was "
		   "executing, TOTAL includes what it called; both are of all samples of the kind "
		   "(--kind, by default on-CPU). Lines come from DWARF: obrec includes it for the "
		   "functions that were hit, unless --debuginfo says otherwise. Without the source "
		   "file, line numbers are shown alone. An inlined function is annotated by its "
		   "own name. With --disassemble, SELF is of the instruction, whatever function is "
		   "inlined there, and TOTAL of a call includes what it called.",
	.options = options,
	.exit_status = cli_exit_status,
};

/* ---- lines with samples ---- */

/* A line counts once in a stack, however often it is there. */
static const char make_lines[] =
	"CREATE TEMP TABLE weight AS SELECT stack_id, sum(value) AS value FROM sample WHERE kind = "
	"(SELECT kind FROM shown_kind) GROUP BY stack_id;"
	"CREATE TEMP TABLE place AS SELECT s.stack_id, f.function_id, f.file, f.line, "
	"min(s.depth) = 0 AS leaf FROM stack_frame s JOIN frame f ON f.id = s.frame_id "
	"WHERE f.function_id IN (SELECT id FROM function WHERE is_named(name)) "
	"GROUP BY 1, 2, 3, 4;"
	"CREATE TEMP TABLE annotated AS SELECT function_id, sum(value * leaf) AS self, sum(value) "
	"AS total FROM (SELECT function_id, stack_id, max(leaf) AS leaf FROM place GROUP BY 1, 2) "
	"JOIN weight USING (stack_id) GROUP BY 1;"
	"CREATE TEMP TABLE annotation(function_id, file, line, self, total, source);";

static const char weigh_lines[] =
	"CREATE TEMP TABLE line_weight AS SELECT function_id, file, line, "
	"sum(value * leaf) AS self, sum(value) AS total FROM place JOIN weight USING (stack_id) "
	"GROUP BY 1, 2, 3";
/* Likewise of instructions: line is the address, file the symbol. */
static const char weigh_code[] =
	"CREATE TEMP TABLE spot AS SELECT DISTINCT function_id, address, symbol_at(binary_id, "
	"address) AS symbol, instruction_at(binary_id, address) AS instruction FROM frame WHERE "
	"function_id IN (SELECT function_id FROM annotated ORDER BY total DESC, function_id LIMIT "
	"most());"
	"CREATE INDEX temp.spot_address ON spot(function_id, address);"
	"CREATE TEMP TABLE line_weight AS SELECT function_id, symbol AS file, instruction AS line, "
	"sum(value * leaf) AS self, sum(value) AS total FROM (SELECT s.stack_id, p.function_id, "
	"p.symbol, p.instruction, max(e.address = f.address AND e.binary_id = f.binary_id) AS leaf "
	"FROM stack_frame s JOIN frame f ON f.id = s.frame_id JOIN spot p USING (function_id, "
	"address) JOIN stack_frame first ON first.stack_id = s.stack_id AND first.depth = 0 JOIN "
	"frame e ON e.id = first.frame_id GROUP BY 1, 2, 3, 4) JOIN weight USING (stack_id) GROUP "
	"BY 1, 2, 3";

static const struct code_range *range_of(sqlite3_context *ctx, sqlite3_value **argv)
{
	const struct code_range *r = code__find(
		sqlite3_user_data(ctx), sqlite3_value_int64(argv[0]), sqlite3_value_int64(argv[1]));

	if (!r)
		sqlite3_result_error_nomem(ctx);
	return r && r->cnt ? r : NULL;
}

static void symbol_at(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const struct code_range *r = range_of(ctx, argv);

	if (r)
		sqlite3_result_text(ctx, r->name, -1, SQLITE_TRANSIENT);
}

static void instruction_at(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	uint64_t address = sqlite3_value_int64(argv[1]);
	const struct code_range *r = range_of(ctx, argv);

	if (r)
		sqlite3_result_int64(ctx, r->v[code_range__at(r, address)].address);
}

static void most(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	sqlite3_result_int64(ctx, *(const uint64_t *)sqlite3_user_data(ctx));
}

static int weigh(const struct opts *o, struct analysis *a, struct code *code)
{
	const struct {
		const char *name;
		int argc;
		void (*fn)(sqlite3_context *ctx, int argc, sqlite3_value **argv);
		const void *data;
	} functions[] = {{"symbol_at", 2, symbol_at, code},
			 {"instruction_at", 2, instruction_at, code},
			 {"most", 0, most, &o->limit}};

	if (!o->code)
		return store__exec(a->store, weigh_lines);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (sqlite3_create_function(store__db(a->store), functions[i].name,
					    functions[i].argc, SQLITE_UTF8,
					    (void *)functions[i].data, functions[i].fn, NULL, NULL))
			return -ENOMEM;
	return store__exec(a->store, weigh_code);
}

static void is_named(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const struct sample_filter f = {.callers = sqlite3_user_data(ctx)};
	const char *name = (const char *)sqlite3_value_text(argv[0]);

	sqlite3_result_int(ctx, name && sample_filter_name(&f, name) & NAME_CALLERS);
}

/* --kind; else the first kind with samples, usually cpu. */
static int choose_kind(struct analysis *a)
{
	int err = store__exec(a->store, "CREATE TEMP TABLE shown_kind(kind)");

	for (uint32_t i = 0; i < sample_kinds__cnt(a->load.kinds) && !err; i++) {
		struct insert in;

		if (a->load.opts.kinds && !(a->load.opts.kinds >> i & 1))
			continue;
		err = insert_open(&in, a->store,
				  "INSERT INTO shown_kind SELECT kind FROM sample WHERE kind = ? "
				  "AND NOT EXISTS (SELECT 1 FROM shown_kind) LIMIT 1");
		insert_text(&in, sample_kinds__get(a->load.kinds, i)->name);
		err = err ? err : insert_run(&in);
		insert_close(&in);
	}
	return err;
}

/* ---- their source ---- */

struct annotation {
	struct insert in;
	struct source_file source;
	struct code *code;		/* NULL: of lines */
	const struct code_range *range; /* in place of source; its lines are instructions */
	bool context;			/* with lines around */
	int64_t function, last;		/* last: line added last; 0: none */
	const char *file;
};

static void add_source(struct insert *in, struct strbuf *b, struct span line)
{
	for (size_t i = 0; i < line.len; i++)
		if (line.p[i] == '\t')
			strbuf_addf(b, "%*s", (int)(TAB - b->len % TAB), "");
		else
			strbuf_add(b, line.p + i, 1);
	insert_span(in, (struct span){b->p ? b->p : "", b->len});
}

static size_t line_cnt(const struct annotation *n)
{
	return n->range ? n->range->cnt : n->source.text ? n->source.cnt : 0;
}

static int64_t line_number(const struct annotation *n, int64_t line)
{
	return n->range ? (int64_t)n->range->v[line - 1].address : line;
}

static struct span line_text(const struct annotation *n, int64_t line)
{
	return n->range ? span_of(n->range->v[line - 1].text) : source_file__line(&n->source, line);
}

/* self, total: NULL for a line of context. */
static int add_line(struct annotation *n, int64_t line, sqlite3_stmt *weight)
{
	struct strbuf b = {0};
	int err;

	insert_int(&n->in, n->function);
	insert_text(&n->in, n->file);
	if (line)
		insert_int(&n->in, line_number(n, line));
	else
		insert_null(&n->in);
	for (int i = 3; i < 5; i++)
		if (weight)
			insert_int(&n->in, sqlite3_column_int64(weight, i));
		else
			insert_null(&n->in);
	if (line_cnt(n) && line)
		add_source(&n->in, &b, line_text(n, line));
	else if (line_cnt(n))
		insert_text(&n->in, "...");
	else
		insert_null(&n->in);
	err = insert_run(&n->in);
	strbuf_fini(&b);
	return err;
}

/* Adds the lines of source since the last one, or those around both if there are many. */
static int add_context(struct annotation *n, int64_t to)
{
	int64_t line = n->last ? n->last + 1 : to > CONTEXT ? to - CONTEXT : 1;
	int err = 0;

	if (n->last && to - n->last > 2 * CONTEXT + 2) {
		for (; line <= n->last + CONTEXT && !err; line++)
			err = add_line(n, line, NULL);
		err = err ? err : add_line(n, 0, NULL);
		line = to - CONTEXT;
	}
	for (; line < to && !err; line++)
		err = add_line(n, line, NULL);
	return err;
}

static int end_file(struct annotation *n)
{
	int err = 0;

	for (int64_t i = 1;
	     n->context && i <= CONTEXT && n->last + i <= (int64_t)line_cnt(n) && !err; i++)
		err = add_line(n, n->last + i, NULL);
	n->range = NULL;
	source_file__close(&n->source);
	return err;
}

/* stmt: function_id, file, line, self, total, binary_id, in that order. */
static int add_file(struct annotation *n, const struct opts *o, sqlite3_stmt *stmt, char **file)
{
	const char *path = (const char *)sqlite3_column_text(stmt, 1);
	int err = end_file(n);

	free(*file);
	n->file = *file = path ? strdup(path) : NULL;
	n->function = sqlite3_column_int64(stmt, 0);
	n->last = 0;
	if (n->code)
		n->range = code__find(n->code, sqlite3_column_int64(stmt, 5),
				      sqlite3_column_int64(stmt, 2));
	else if (path && !source_file__open(&n->source, o->source, path))
		message_verbose("annotate: %s: not found beneath %s", path, o->source);
	return err;
}

static int annotate_lines(const struct opts *o, struct analysis *a, struct code *code)
{
	struct annotation n = {
		.function = -1, .code = code, .context = o->style.format == TABLE_TEXT};
	sqlite3_stmt *stmt = NULL;
	char *file = NULL;
	int err = insert_open(&n.in, a->store, "INSERT INTO annotation VALUES(?,?,?,?,?,?)");

	if (!err && sqlite3_prepare_v2(store__db(a->store),
				       "SELECT l.*, f.binary_id FROM line_weight l JOIN function f "
				       "ON f.id = function_id WHERE l.line > 0 ORDER BY "
				       "function_id, l.file, l.line",
				       -1, &stmt, NULL))
		err = -EIO;
	while (!err && sqlite3_step(stmt) == SQLITE_ROW) {
		const char *path = (const char *)sqlite3_column_text(stmt, 1);
		int64_t line = sqlite3_column_int64(stmt, 2);

		if (n.function != sqlite3_column_int64(stmt, 0) ||
		    strcmp(n.file ? n.file : "", path ? path : ""))
			err = add_file(&n, o, stmt, &file);
		if (n.range)
			line = code_range__at(n.range, line) + 1;
		if (!err && n.context && line_cnt(&n))
			err = add_context(&n, line);
		if (!err)
			err = add_line(&n, line, stmt);
		n.last = line;
	}
	err = err ? err : end_file(&n);
	sqlite3_finalize(stmt);
	insert_close(&n.in);
	free(file);
	return err;
}

/* ---- output ---- */

#define SHARE(column)                                                                              \
	"1.0 * n." column " / (SELECT nullif(sum(value), 0) FROM weight) AS " column "_share, "

static int write_data(const struct opts *o, struct analysis *a)
{
	sqlite3_stmt *stmt = NULL;
	char *sql = sqlite3_mprintf(
		"SELECT f.name AS function, b.name AS binary, %s, " SHARE("self") SHARE("total") //
		"n.self AS self_value, n.total AS total_value, n.source%s FROM annotation n JOIN "
		"function f ON f.id = n.function_id JOIN annotated w ON w.function_id = f.id LEFT "
		"JOIN binary b ON b.id = f.binary_id ORDER BY w.total DESC, f.name, f.id, n.rowid",
		o->code ? "n.file AS symbol, n.line AS address" : "n.file, n.line",
		o->code ? " AS instruction" : "");
	int err = !sql || sqlite3_prepare_v2(store__db(a->store), sql, -1, &stmt, NULL);

	if (err || table_write(stmt, &o->style, stdout) < 0)
		err = store__failed(a->store);
	sqlite3_finalize(stmt);
	sqlite3_free(sql);
	return err;
}

static long write_lines(const struct opts *o, struct analysis *a, int64_t function,
			const char *file, const char *title)
{
	struct table_style style = o->style;
	sqlite3_stmt *stmt = NULL;
	char *sql = sqlite3_mprintf(
		"SELECT " SHARE("self") SHARE("total") "%s FROM annotation n WHERE function_id = ? "
						       "AND file IS ? ORDER BY rowid",
		o->code ? "printf('%x', n.line) AS address, n.source AS instruction"
			: "n.line, n.source AS \"?source\"");
	long rows = -EIO;

	style.title = title;
	if (sql && !sqlite3_prepare_v2(store__db(a->store), sql, -1, &stmt, NULL) &&
	    !sqlite3_bind_int64(stmt, 1, function) &&
	    !sqlite3_bind_text(stmt, 2, file, -1, SQLITE_STATIC))
		rows = table_write(stmt, &style, stdout);
	sqlite3_finalize(stmt);
	sqlite3_free(sql);
	return rows;
}

/* "outer (prog): 90.00% of the samples, self 10.00%; src/prog.c". */
static void add_title(struct strbuf *b, const struct opts *o, sqlite3_stmt *stmt)
{
	const char *binary = (const char *)sqlite3_column_text(stmt, 2),
		   *file = (const char *)sqlite3_column_text(stmt, 3);

	strbuf_addf(b, "\n%s", o->style.colour ? "\033[1;36m" : "");
	strbuf_escape(b, ESCAPE_TERMINAL, span_of((const char *)sqlite3_column_text(stmt, 1)));
	strbuf_addf(b, " (");
	strbuf_escape(b, ESCAPE_TERMINAL, span_of(binary ? binary : "unknown"));
	strbuf_addf(b, "): total %.2f%%, self %.2f%%; ", 100 * sqlite3_column_double(stmt, 5),
		    100 * sqlite3_column_double(stmt, 4));
	strbuf_escape(b, ESCAPE_TERMINAL,
		      span_of(file	? file
			      : o->code ? "no instructions"
					: "no line numbers"));
	strbuf_addf(b, "%s", o->style.colour ? "\033[0m" : "");
}

/* One table for each function and file, the hottest first. Returns how many. */
static long write_text(const struct opts *o, struct analysis *a)
{
	sqlite3_stmt *stmt = NULL;
	long tables = 0, err = 0;

	if (sqlite3_prepare_v2(store__db(a->store),
			       "SELECT DISTINCT f.id, f.name, b.name, l.file, " SHARE("self") SHARE(
				       "total") "n.total FROM (SELECT * FROM annotated ORDER BY "
						"total DESC, function_id LIMIT ?) n JOIN function "
						"f ON f.id = n.function_id LEFT JOIN binary b ON "
						"b.id = f.binary_id LEFT JOIN annotation l ON "
						"l.function_id = f.id ORDER BY n.total DESC, "
						"f.name, f.id, l.file",
			       -1, &stmt, NULL) ||
	    sqlite3_bind_int64(stmt, 1, o->limit))
		err = -EIO;
	for (; !err && sqlite3_step(stmt) == SQLITE_ROW; tables++) {
		const char *file = (const char *)sqlite3_column_text(stmt, 3);
		struct strbuf title = {0};

		add_title(&title, o, stmt);
		if (write_lines(o, a, sqlite3_column_int64(stmt, 0), file, title.p) == 0)
			puts(title.p ? title.p : "");
		strbuf_fini(&title);
	}
	if (err)
		err = store__failed(a->store);
	sqlite3_finalize(stmt);
	return err ? err : tables;
}

static int annotate(const struct opts *o, struct analysis *a, const char *name)
{
	static const char *const tables[] = {"sample", "stack",	      "stack_frame", "frame",
					     "binary", "sample_kind", "function",    NULL};
	int err = name_set_add_all(&a->load.wanted, tables);
	struct code *code = NULL;
	long shown;

	if (!err)
		err = load__run(&a->load);
	if (!err && sqlite3_create_function(store__db(a->store), "is_named", 1, SQLITE_UTF8,
					    (void *)name, is_named, NULL, NULL))
		err = -ENOMEM;
	if (!err)
		err = choose_kind(a);
	if (!err)
		err = store__exec(a->store, make_lines);
	if (!err && o->code)
		err = code__new(&code, &a->load, o->binary);
	if (!err)
		err = weigh(o, a, code);
	if (!err)
		err = annotate_lines(o, a, code);
	code__free(code);
	if (err)
		return err;
	analysis__warn(a);
	shown = o->style.format == TABLE_TEXT ? write_text(o, a) : write_data(o, a);
	if (!shown && o->style.format == TABLE_TEXT)
		message_warn("annotate: no samples in a function '%s'", name);
	if (shown >= 0 && (fflush(stdout) || ferror(stdout)))
		return errno == EPIPE ? 0 : -EIO;
	return shown < 0 ? (int)shown : 0;
}

static int run(int argc, char **argv)
{
	struct opts o = {.common.load.symbols.inlines = true,
			 .style = table_style_for(stdout),
			 .source = ".",
			 .limit = 5};
	struct analysis a;
	int rest, code = EXIT_USAGE, err = cli_parse(&cli, &o, argc, argv, true, &rest, NULL);

	if (err)
		return exit_code(err);
	common_opts_finish(&o.common);
	o.style.human = o.style.format == TABLE_TEXT;
	if (rest + 1 >= argc) {
		message_error("annotate: needs a function and an archive; see obana annotate "
			      "--help");
	} else {
		err = analysis__open(&a, &o.common, argv + rest + 1, argc - rest - 1, NULL);
		code = err ? exit_code(err) : analysis__close(&a, annotate(&o, &a, argv[rest]));
	}
	common_opts_fini(&o.common);
	return code;
}

const struct command cmd_annotate_entry = {.name = "annotate", .cli = &cli, .run = run};
