/* SPDX-License-Identifier: BSD-2-Clause */
#include "report.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "../format/text.h"
#include "table.h"

struct report {
	const struct analysis *a;
	sqlite3 *db;
	struct table_style style;
	unsigned limit;
	FILE *out;
};

/* One table; ?1 is the kind, ?2 the limit. Nothing is printed when it is empty. */
static int table(const struct report *r, const char *title, const char *kind, const char *sql)
{
	struct table_style style = r->style;
	struct strbuf head = {0};
	sqlite3_stmt *stmt = NULL;
	int err = 0;

	strbuf_addf(&head, style.colour ? "\n\033[1;36m%s\033[0m" : "\n%s", title);
	style.title = head.p;
	if (sqlite3_prepare_v2(r->db, sql, -1, &stmt, NULL) ||
	    (kind && sqlite3_bind_text(stmt, 1, kind, -1, SQLITE_STATIC)) ||
	    (sqlite3_bind_parameter_count(stmt) > 1 && sqlite3_bind_int64(stmt, 2, r->limit)) ||
	    table_write(stmt, &style, r->out) < 0) {
		message_error("report: %s", sqlite3_errmsg(r->db));
		err = -EIO;
	}
	sqlite3_finalize(stmt);
	strbuf_fini(&head);
	return err;
}

/* ---- what was recorded ---- */

static void line(const struct report *r, const char *what, const char *text)
{
	struct strbuf b = {0};

	strbuf_escape(&b, ESCAPE_TERMINAL, span_of(text));
	fprintf(r->out, r->style.colour ? "\033[1m%-9s\033[0m %s\n" : "%-9s %s\n", what,
		b.p ? b.p : "");
	strbuf_fini(&b);
}

static void add_when(struct strbuf *b, const struct capture *c)
{
	time_t t = c->started_ns / 1000000000;
	char when[64], buf[24];
	struct tm tm;

	if (c->started_ns && localtime_r(&t, &tm) &&
	    strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S %z", &tm))
		strbuf_addf(b, "%s, ", when);
	strbuf_addf(b, "%s", format_duration(buf, c->duration_ns));
}

static void add_state(struct strbuf *b, const struct capture *c)
{
	char damage[256];
	bool damaged = capture_damaged(c, damage, sizeof(damage));

	strbuf_addf(b, "%s: ", c->path);
	if (damaged)
		strbuf_addf(b, "%s; this report shows what is left", damage);
	else
		strbuf_addf(b, "complete%s%s", *c->stop_reason ? ", stopped by " : "",
			    c->stop_reason);
}

static void put_capture(const struct report *r, const struct capture *c)
{
	struct strbuf b = {0};

	strbuf_addf(&b, "%s, Linux %s %s", *c->host ? c->host : "unknown", c->kernel, c->arch);
	if (c->cpus)
		strbuf_addf(&b, ", %llu CPU%s", (unsigned long long)c->cpus,
			    c->cpus == 1 ? "" : "s");
	line(r, "Host", b.p);
	b.len = 0;
	add_when(&b, c);
	line(r, "When", b.p);
	if (*c->command)
		line(r, "Command", c->command);
	b.len = 0;
	strbuf_addf(&b, "%s", c->probes);
	if (c->freq)
		strbuf_addf(&b, "%s%llu Hz", b.len ? ", " : "", (unsigned long long)c->freq);
	if (b.len)
		line(r, "Probes", b.p);
	b.len = 0;
	add_state(&b, c);
	line(r, "Archive", b.p);
	strbuf_fini(&b);
}

static uint64_t number(const struct report *r, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	uint64_t v = 0;

	if (!sqlite3_prepare_v2(r->db, sql, -1, &stmt, NULL) && sqlite3_step(stmt) == SQLITE_ROW)
		v = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return v;
}

static int put_losses(const struct report *r)
{
	uint64_t lost = number(r, "SELECT sum(count) FROM loss_cause");
	char text[96], buf[24];

	if (!lost) {
		line(r, "Losses", "none");
		return 0;
	}
	snprintf(text, sizeof(text),
		 "%s events: the figures below are too low by what they stand for",
		 format_count(buf, lost));
	line(r, "Losses", text);
	return table(
		r, "Losses by cause", NULL,
		"SELECT count, source, cause FROM loss_cause ORDER BY count DESC, source, cause");
}

/* What the figures of a kind are worth. */
static void put_sampled(const struct report *r)
{
	uint64_t samples = number(r, "SELECT count FROM kind_total WHERE kind = 'cpu'");
	char text[160], buf[24];

	if (!samples)
		return;
	snprintf(text, sizeof(text),
		 "%s on-CPU samples: figures are estimates, a share of 1%% is right to +-%.2g%%",
		 format_count(buf, samples),
		 200 * sqrt(0.01 * 0.99 / samples)); /* two standard deviations */
	line(r, "Sampled", text);
}

static int put_samples(const struct report *r)
{
	int err = table(r, "Samples", NULL,
			"SELECT kind, count AS samples, value AS time_ns, 1.0 * complete_count / "
			"count AS \"complete stacks share\" "
			"FROM kind_total ORDER BY kind");

	if (err)
		return err;
	return table(r, "Incomplete stacks by cause", NULL,
		     "SELECT kind, count AS samples, share, cause FROM stack_completeness WHERE "
		     "cause <> 'complete' "
		     "ORDER BY kind, count DESC, cause");
}

/* ---- one kind ---- */

static int put_kind(const struct report *r, const char *kind)
{
	static const struct {
		const char *title, *sql;
	} tables[] = {
		{"%s: hottest functions, by what they did themselves",
		 "SELECT self_share, total_share, self_value AS self_ns, total_value AS total_ns, "
		 "binary, function "
		 "FROM hot_function WHERE kind = ?1 AND self_value > 0 ORDER BY self_value DESC, "
		 "total_value DESC, function LIMIT ?2"},
		{"%s: hottest functions, with all they called",
		 "SELECT total_share, self_share, total_value AS total_ns, self_value AS self_ns, "
		 "binary, function "
		 "FROM hot_function WHERE kind = ?1 ORDER BY total_value DESC, self_value DESC, "
		 "function LIMIT ?2"},
		{"%s: by process", "SELECT share, value AS time_ns, count AS samples, threads, "
				   "pid, comm AS process, exe FROM hot_process "
				   "WHERE kind = ?1 ORDER BY value DESC, pid LIMIT ?2"},
		{"%s: by thread", "SELECT share, value AS time_ns, count AS samples, pid, process, "
				  "tid, comm AS thread FROM hot_thread "
				  "WHERE kind = ?1 ORDER BY value DESC, tid LIMIT ?2"},
	};
	const char *what = !strcmp(kind, "cpu")	     ? "On CPU"
			   : !strcmp(kind, "offcpu") ? "Off CPU (blocked)"
						     : kind;
	int err = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !err; i++) {
		struct strbuf title = {0};

		strbuf_addf(&title, tables[i].title, what);
		err = title.p ? table(r, title.p, kind, tables[i].sql) : -ENOMEM;
		strbuf_fini(&title);
	}
	return err;
}

static int put_kinds(const struct report *r)
{
	sqlite3_stmt *stmt = NULL;
	int rc, err = 0;

	if (sqlite3_prepare_v2(r->db, "SELECT kind FROM kind_total ORDER BY kind", -1, &stmt, NULL))
		return -EIO;
	while (!err && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		err = put_kind(r, (const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	return err;
}

static int put_rest(const struct report *r)
{
	int err = table(
		r, "Binaries without full symbols", NULL,
		"SELECT self_value AS self_ns, symbols, name AS binary, why FROM binary_symbols "
		"WHERE symbols <> 'dwarf' ORDER BY self_value DESC, name LIMIT 30");

	if (err)
		return err;
	return table(r, "What recording cost in the kernel", NULL,
		     "SELECT run_ns AS time_ns, runs, ns_per_run AS each_ns, name AS program FROM "
		     "program_cost WHERE runs > 0 "
		     "ORDER BY run_ns DESC, name");
}

int report_prepare(struct load *l)
{
	static const char *const tables[] = {"capture",	 "process", "thread", "binary",
					     "function", "loss",    "program"};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (name_set_add(&l->wanted, tables[i]))
			return -ENOMEM;
	return 0;
}

int report_write(const struct analysis *a, unsigned limit, FILE *out)
{
	struct report r = {a, store__db(a->store), table_style_for(out), limit, out};
	int err;

	for (size_t i = 0; i < a->captures.cnt; i++) {
		if (i)
			fputc('\n', out);
		put_capture(&r, &a->captures.v[i]);
	}
	put_sampled(&r);
	err = put_losses(&r);
	if (!err)
		err = put_samples(&r);
	if (!err && !number(&r, "SELECT count(*) FROM kind_total"))
		fprintf(out, "\nNo samples%s.\n",
			a->load.opts.kinds || a->load.opts.from.set || a->load.opts.to.set
				? " of that kind and time"
				: "");
	if (!err)
		err = put_kinds(&r);
	if (!err)
		err = put_rest(&r);
	if (!err && (fflush(out) || ferror(out))) {
		err = errno ? -errno : -EIO;
		message_error("standard output: %s", strerror(-err));
	}
	return err;
}
