/* SPDX-License-Identifier: BSD-2-Clause */
/* obana messages: lists requests with their responses. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cli/common_options.h"
#include "format/text.h"
#include "analyze/load/analysis.h"
#include "analyze/cli/command.h"
#include "analyze/base/index.h"
#include "analyze/store/table.h"
#include "analyze/store/table_value.h"
#include "analyze/traffic/traffic_note.h"

enum { OPT_FORMAT, OPT_LIMIT, OPT_CSV, OPT_JSON };

#define TEXT_COLUMNS                                                                               \
	"time,latency_ns,protocol,role,service,peer,who,status,request_bytes,response_bytes,"          \
	"connection,method,target"
#define DATA_COLUMNS                                                                               \
	"id,request_ns,response_ns,latency_ns,first_byte_ns,protocol,role,service,peer,method,"    \
	"target,status,error,request_bytes,response_bytes,paired,oneway,connection,detail,client"

/* All columns of view `exchange`. */
#define COLUMNS                                                                                    \
	"id, time, request_ns, response_ns, latency_ns, first_byte_ns, protocol, role, service, "  \
	"peer, method, target, status, error, request_bytes, response_bytes, paired, oneway, "     \
	"connection, transport, local_addr, local_port, remote_addr, remote_port, tls, pid, "      \
	"comm, container_id, host, detail, peer_addr, client, who"

struct opts {
	struct common_opts common;
	struct table_style style;
	const char *format; /* NULL: default columns */
};

static int set(void *ctx, const struct option_def *def, const char *arg)
{
	struct opts *o = ctx;
	uint64_t *limit = &o->common.load.traffic.max_messages;

	switch (def->data) {
	case OPT_FORMAT:
		o->format = arg;
		return *arg ? 0 : option_error(def, "is empty");
	case OPT_CSV:
		o->style.format = TABLE_CSV;
		return 0;
	case OPT_JSON:
		o->style.format = TABLE_JSON;
		return 0;
	}
	if (parse_u64(arg, limit) || !*limit || *limit > INT64_MAX)
		return option_error(def, "'%s' is not a number of messages", arg);
	return 0;
}

static const struct option_def options[] = {
	{.help = "Output"},
	{"format", 'f', ARG_REQUIRED, "FORMAT",
	 "columns to print, as in time,method,target, or a format for one line per message, as "
	 "in '%{method} %{target}\\t%{latency_ns}'",
	 set, OPT_FORMAT, .values = COLUMNS, .list = true},
	{"limit", 'n', ARG_REQUIRED, "N", "print at most the first N complete messages", set,
	 OPT_LIMIT},
	{"csv", 0, ARG_NONE, NULL,
	 "print CSV (RFC 4180); text that a spreadsheet would take for a formula is prefixed "
	 "with '",
	 set, OPT_CSV},
	{"json", 0, ARG_NONE, NULL, "print a JSON array of objects", set, OPT_JSON},
	BY_OPTION,
	THRIFT_OPTION,
	MESSAGE_OPTIONS,
	SERVICES_OPTION,
	{0},
};

static const struct cli cli = {
	.program = "obana messages",
	.synopsis = "ARCHIVE.obz ... [options]",
	.summary = "list requests with their responses",
	.details = "Messages are in order of time. Columns are those of view `exchange`: " COLUMNS
		   ". client is the original client as named by the request: X-Forwarded-For, "
		   "X-Real-IP, Forwarded, a client id. In a format %% is a percent sign; \\n and "
		   "\\t are "
		   "escapes as in C. A request without latency is unpaired: its response was not "
		   "captured, or none exists.",
	.options = options,
	.exit_status = cli_exit_status,
};

/* ---- format strings ---- */

/* Text followed by a column; the last piece has no column. */
struct piece {
	struct strbuf text;
	int column; /* in the statement; -1: none */
};

struct format {
	struct piece *v;
	size_t cnt, cap;
	struct strbuf columns; /* of SELECT */
	int column_cnt;
};

static void format_fini(struct format *f)
{
	for (size_t i = 0; i < f->cnt; i++)
		strbuf_fini(&f->v[i].text);
	free(f->v);
	strbuf_fini(&f->columns);
}

static bool known_column(sqlite3 *db, struct span name)
{
	sqlite3_stmt *stmt = NULL;
	bool known = !sqlite3_prepare_v2(
			     db, "SELECT 1 FROM pragma_table_info('exchange') WHERE name = ?", -1,
			     &stmt, NULL) &&
		     !sqlite3_bind_text(stmt, 1, name.p, name.len, SQLITE_STATIC) &&
		     sqlite3_step(stmt) == SQLITE_ROW;

	sqlite3_finalize(stmt);
	return known;
}

static int add_column(struct format *f, sqlite3 *db, struct span name)
{
	if (!known_column(db, name)) {
		message_error("messages: --format: there is no column '%.*s'; see obana messages "
			      "--help",
			      (int)name.len, name.p);
		return -EINVAL;
	}
	strbuf_addf(&f->columns, "%s\"%.*s\"", f->column_cnt ? ", " : "", (int)name.len, name.p);
	f->column_cnt++;
	return 0;
}

static int read_columns(struct format *f, sqlite3 *db, const char *list)
{
	int err = 0;

	for (size_t len; *list && !err; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		err = add_column(f, db, (struct span){list, len});
	}
	return err;
}

static struct piece *add_piece(struct format *f)
{
	if (array_reserve(&f->v, &f->cap, f->cnt + 1))
		return NULL;
	f->v[f->cnt] = (struct piece){.column = -1};
	return &f->v[f->cnt++];
}

static char unescape(char c)
{
	return c == 'n' ? '\n' : c == 't' ? '\t' : c;
}

static int read_template(struct format *f, sqlite3 *db, const char *s)
{
	struct piece *p = add_piece(f);
	int err = 0;

	for (; *s && p && !err; s++) {
		const char *end = s[0] == '%' && s[1] == '{' ? strchr(s, '}') : NULL;

		if (end) {
			err = add_column(f, db, (struct span){s + 2, end - s - 2});
			p->column = f->column_cnt - 1;
			p = add_piece(f);
			s = end;
			continue;
		}
		if (*s == '%' && s[1] != '%') {
			message_error("messages: --format: after %% comes {COLUMN} or another %%");
			return -EINVAL;
		}
		s += (*s == '%' || *s == '\\') && s[1];
		strbuf_addf(&p->text, "%c", s[-1] == '\\' && s[0] ? unescape(*s) : *s);
	}
	return !p ? -ENOMEM : err;
}

/* ---- rows ---- */

static int write_lines(const struct format *f, sqlite3_stmt *stmt)
{
	struct strbuf line = {0};
	int rc;

	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && !ferror(stdout)) {
		for (size_t i = 0; i < f->cnt; i++) {
			strbuf_add(&line, f->v[i].text.p ? f->v[i].text.p : "", f->v[i].text.len);
			if (f->v[i].column >= 0)
				value_text(&line, stmt, f->v[i].column, false, false);
		}
		strbuf_add(&line, "\n", 1);
		fwrite(line.p, 1, line.len, stdout);
		line.len = 0;
	}
	strbuf_fini(&line);
	return rc == SQLITE_DONE || ferror(stdout) ? 0 : -EIO;
}

static int write_rows(const struct opts *o, struct analysis *a, const struct format *f)
{
	sqlite3 *db = store__db(a->store);
	sqlite3_stmt *stmt = NULL;
	struct strbuf sql = {0};
	int err = 0;

	/* Sorts only a time and a number per row instead of whole rows. LIMIT keeps SQLite from
	 * dropping the ORDER BY of the subquery. */
	strbuf_addf(&sql,
		    "SELECT %s FROM (SELECT id AS at FROM message ORDER BY ifnull(request_ns, "
		    "response_ns), id LIMIT -1) CROSS JOIN exchange ON exchange.id = at",
		    f->column_cnt ? f->columns.p : "id");
	if (sqlite3_prepare_v2(db, sql.p, -1, &stmt, NULL))
		err = -EIO;
	else if (f->cnt)
		err = write_lines(f, stmt);
	else if (table_write(stmt, &o->style, stdout) < 0)
		err = ferror(stdout) ? 0 : -EIO;
	if (err)
		message_error("messages: %s", sqlite3_errmsg(db));
	sqlite3_finalize(stmt);
	strbuf_fini(&sql);
	if (!err && (fflush(stdout) || ferror(stdout)) && errno != EPIPE) {
		err = errno ? -errno : -EIO;
		message_error("messages: standard output: %s", strerror(-err));
	}
	return err;
}

static void say_unkept(const struct analysis *a)
{
	for (size_t i = 0; i < a->captures.cnt; i++) {
		struct strbuf b = {0};

		if (traffic_unkept_text(a, i, &b))
			message_warn("%s: %s", a->captures.v[i].path, b.p);
		strbuf_fini(&b);
		if (traffic_late_text(a, i, &b))
			message_warn("%s: %s", a->captures.v[i].path, b.p);
		strbuf_fini(&b);
		if (traffic_twice_text(a, i, &b))
			message_warn("%s", b.p);
		strbuf_fini(&b);
	}
}

static int messages(const struct opts *o, struct analysis *a)
{
	static const char *const tables[] = {"connection", "message", "process", "capture",
					     "unkept",	   "late",    "twice",	 NULL};
	bool lines = o->format && strchr(o->format, '%');
	struct format f = {0};
	int err = 0;

	if (lines)
		err = read_template(&f, store__db(a->store), o->format);
	else
		err = read_columns(&f, store__db(a->store),
				   o->format			   ? o->format
				   : o->style.format == TABLE_TEXT ? TEXT_COLUMNS
								   : DATA_COLUMNS);
	if (!err)
		err = name_set_add_all(&a->load.wanted, tables);
	if (!err)
		err = load__run(&a->load);
	if (!err) {
		analysis__warn(a);
		say_unkept(a);
		err = write_rows(o, a, &f);
	}
	format_fini(&f);
	return err;
}

static int run(int argc, char **argv)
{
	struct opts o = {.style = table_style_for(stdout)};
	struct analysis a;
	int rest, code, err = cli_parse(&cli, &o, argc, argv, true, &rest, NULL);

	if (!err && rest >= argc) {
		message_error("messages: no archive given; see obana messages --help");
		err = -EINVAL;
	}
	o.style.human = o.style.format == TABLE_TEXT;
	if (!err)
		err = common_check_by(&o.common, "messages");
	if (!err)
		err = analysis__open(&a, &o.common, argv + rest, argc - rest, NULL);
	code = err ? exit_code(err) : analysis__close(&a, messages(&o, &a));
	common_opts_fini(&o.common);
	return code;
}

const struct command cmd_messages_entry = {.name = "messages", .cli = &cli, .run = run};
