/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/event_tables.h"
#include "analyze/report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/text.h"
#include "analyze/traffic/traffic_note.h"

struct report {
	const struct analysis *a;
	const struct report_page *page;
	sqlite3 *db;
	unsigned limit;
};

/* One table; ?1 is the kind, ?2 the limit. Nothing is shown when it is empty. */
static int table(const struct report *r, const char *title, const char *kind, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int err = 0;

	if (sqlite3_prepare_v2(r->db, sql, -1, &stmt, NULL) ||
	    (kind && sqlite3_bind_text(stmt, 1, kind, -1, SQLITE_STATIC)) ||
	    (sqlite3_bind_parameter_count(stmt) > 1 && sqlite3_bind_int64(stmt, 2, r->limit)) ||
	    r->page->table(r->page->ctx, title, stmt) < 0) {
		message_error("report: %s", sqlite3_errmsg(r->db));
		err = -EIO;
	}
	sqlite3_finalize(stmt);
	return err;
}

/* ---- what was recorded ---- */

static void fact(const struct report *r, const char *what, const char *text)
{
	r->page->fact(r->page->ctx, what, text);
}

static void warning(const struct report *r, const char *what, const char *text)
{
	r->page->warning(r->page->ctx, what, text);
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

static void put_state(const struct report *r, const struct capture *c)
{
	char damage[256];
	struct strbuf b = {0};
	bool damaged = capture_damaged(c, damage, sizeof(damage));

	strbuf_addf(&b, "%s: ", c->path);
	if (damaged)
		strbuf_addf(&b, "%s; this report shows what is readable", damage);
	else
		strbuf_addf(&b, "complete%s%s", *c->stop_reason ? ", stopped by " : "",
			    c->stop_reason);
	(damaged ? warning : fact)(r, "Archive", b.p);
	strbuf_fini(&b);
}

/* "cpu" of "cpu,l4", not of "offcpu". */
static bool in_list(const char *list, const char *name)
{
	size_t len = strlen(name), n;

	for (; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n == len && !memcmp(list, name, len))
			return true;
	}
	return false;
}

static void put_capture(const struct report *r, const struct capture *c)
{
	struct strbuf b = {0};

	strbuf_addf(&b, "%s, Linux %s %s", *c->host ? c->host : "unknown", c->kernel, c->arch);
	if (c->cpus)
		strbuf_addf(&b, ", %llu CPU%s", (unsigned long long)c->cpus,
			    c->cpus == 1 ? "" : "s");
	fact(r, "Host", b.p);
	b.len = 0;
	add_when(&b, c);
	fact(r, "When", b.p);
	if (*c->command)
		fact(r, "Command", c->command);
	b.len = 0;
	strbuf_addf(&b, "%s", c->probes);
	if (c->freq && (!*c->probes || in_list(c->probes, "cpu")))
		strbuf_addf(&b, "%s%llu Hz", b.len ? ", " : "", (unsigned long long)c->freq);
	if (b.len)
		fact(r, "Probes", b.p);
	strbuf_fini(&b);
	put_state(r, c);
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
		fact(r, "Losses", "none");
		return 0;
	}
	snprintf(text, sizeof(text), "%s events lost: the counts below are lower bounds",
		 format_count(buf, lost));
	warning(r, "Losses", text);
	return table(
		r, "Losses by cause", NULL,
		"SELECT count, source, cause FROM loss_cause ORDER BY count DESC, source, cause");
}

static void put_unkept(const struct report *r)
{
	for (size_t i = 0; i < r->a->captures.cnt; i++) {
		struct strbuf b = {0};

		if (traffic_unkept_text(r->a, i, &b))
			warning(r, "Payload", b.p);
		strbuf_fini(&b);
		if (traffic_unnamed_text(r->a, i, &b))
			warning(r, "Payload", b.p);
		strbuf_fini(&b);
	}
}

/* How accurate a share of the samples is. */
static void put_sampled(const struct report *r)
{
	uint64_t samples = number(r, "SELECT count FROM kind_total WHERE kind = 'cpu'");
	char text[160], buf[24];

	if (!samples)
		return;
	snprintf(text, sizeof(text),
		 "%s on-CPU samples; 95 %% confidence interval of a share: 1 %% +- %.2g %%",
		 format_count(buf, samples),
		 200 * sqrt(0.01 * 0.99 / samples)); /* two standard deviations */
	fact(r, "Sampled", text);
}

#define FROM_KINDS " FROM kind_total JOIN sample_kind ON name = kind ORDER BY sample_kind.rowid"

static int put_samples(const struct report *r)
{
	int err = table(r, "Samples", NULL,
			number(r, "SELECT count(*) FROM kind_total JOIN sample_kind ON name = kind "
				  "WHERE unit <> 'ns'")
				? "SELECT kind, count AS samples, CASE unit WHEN 'ns' THEN value "
				  "END AS time_ns, CASE WHEN unit NOT IN ('ns', '') THEN value || "
				  "' ' || unit END AS value, 1.0 * complete_count / count AS "
				  "\"complete stacks share\"" FROM_KINDS
				: "SELECT kind, count AS samples, value AS time_ns, 1.0 * "
				  "complete_count / count AS \"complete stacks share\"" FROM_KINDS);

	if (err)
		return err;
	return table(r, "Incomplete stacks by cause", NULL,
		     "SELECT kind, count AS samples, share, cause FROM stack_completeness WHERE "
		     "cause <> 'complete' "
		     "ORDER BY kind, count DESC, cause");
}

/* ---- one kind ---- */

/* $UNIT: the ending of a column of the kind's values, $VALUE: a column of them, $COUNT: of its
 * counts. */
static char *kind_sql(const char *sql, const struct named_kind *kind)
{
	struct strbuf b = {0};

	for (const char *p = sql; *p;) {
		size_t len = strcspn(p, "$");

		strbuf_add(&b, p, len);
		p += len;
		if (!strncmp(p, "$UNIT", 5)) {
			strbuf_addf(&b, "%s%s", *kind->unit ? "_" : "", kind->unit);
			p += 5;
		} else if (!strncmp(p, "$VALUE", 6)) {
			strbuf_addf(&b, "%s%s%s", strcmp(kind->unit, "ns") ? "value" : "time",
				    *kind->unit ? "_" : "", kind->unit);
			p += 6;
		} else if (!strncmp(p, "$COUNT", 6)) {
			strbuf_addf(&b, "\"%s\"", kind->count_name);
			p += 6;
		} else if (*p) {
			strbuf_add(&b, p++, 1);
		}
	}
	strbuf_add(&b, "", 1);
	if (b.failed)
		strbuf_fini(&b);
	return b.p;
}

static int put_kind(const struct report *r, uint32_t index)
{
	static const struct {
		const char *title, *sql;
	} tables[] = {
		{"Hottest functions by self time",
		 "SELECT self_share, total_share, self_value AS self$UNIT, total_value AS "
		 "total$UNIT, "
		 "binary, function "
		 "FROM hot_function WHERE kind = ?1 AND self_value > 0 ORDER BY self_value DESC, "
		 "total_value DESC, function LIMIT ?2"},
		{"Hottest functions by total time",
		 "SELECT total_share, self_share, total_value AS total$UNIT, self_value AS "
		 "self$UNIT, "
		 "binary, function "
		 "FROM hot_function WHERE kind = ?1 ORDER BY total_value DESC, self_value DESC, "
		 "function LIMIT ?2"},
		{"By process", "SELECT share, value AS $VALUE, count AS $COUNT, threads, pid, "
			       "comm AS process, exe FROM hot_process "
			       "WHERE kind = ?1 ORDER BY value DESC, pid LIMIT ?2"},
		{"By thread", "SELECT share, value AS $VALUE, count AS $COUNT, pid, process, "
			      "tid, comm AS thread FROM hot_thread "
			      "WHERE kind = ?1 ORDER BY value DESC, tid LIMIT ?2"},
	};
	const struct named_kind *kind = sample_kinds__get(r->a->load.kinds, index);
	int err = 0;

	r->page->heading(r->page->ctx, kind->title);
	if (r->page->graph)
		err = r->page->graph(r->page->ctx, index);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !err; i++) {
		char *sql = kind_sql(tables[i].sql, kind);

		err = sql ? table(r, tables[i].title, kind->name, sql) : -ENOMEM;
		free(sql);
	}
	return err;
}

static bool has_traffic(const struct report *r)
{
	return number(r, "SELECT EXISTS (SELECT 1 FROM connection)");
}

static bool has_counts(const struct report *r)
{
	return number(r, "SELECT EXISTS (SELECT 1 FROM series)");
}

/* A capture of traffic alone has no samples to be missed. */
static bool samples_asked_for(const struct report *r)
{
	const struct captures *c = &r->a->captures;

	for (size_t i = 0; i < c->cnt; i++) {
		if (!*c->v[i].probes)
			return true;
		for (size_t k = 0; k < sample_kinds__cnt(r->a->load.kinds); k++)
			if (in_list(c->v[i].probes, sample_kinds__get(r->a->load.kinds, k)->name))
				return true;
	}
	return r->a->load.opts.kinds;
}

static bool has_samples(const struct report *r, const char *kind)
{
	sqlite3_stmt *stmt = NULL;
	bool found = !sqlite3_prepare_v2(r->db, "SELECT 1 FROM kind_total WHERE kind = ?", -1,
					 &stmt, NULL) &&
		     !sqlite3_bind_text(stmt, 1, kind, -1, SQLITE_STATIC) &&
		     sqlite3_step(stmt) == SQLITE_ROW;

	sqlite3_finalize(stmt);
	return found;
}

static int put_kinds(const struct report *r)
{
	bool filtered = r->a->load.opts.kinds || r->a->load.opts.from.set || r->a->load.opts.to.set,
	     none = true;
	int err = 0;

	for (size_t k = 0; k < sample_kinds__cnt(r->a->load.kinds) && !err; k++) {
		const char *name = sample_kinds__get(r->a->load.kinds, k)->name;

		if (!has_samples(r, name))
			continue;
		none = false;
		err = put_kind(r, k);
	}
	if (none && !has_counts(r) && (samples_asked_for(r) || !has_traffic(r)))
		r->page->note(r->page->ctx,
			      filtered ? "No samples of that kind and time." : "No samples.");
	return err;
}

/* ---- sections ---- */

/* 1,203,444 */
static const char *whole(char buf[32], uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n), at = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = 0;
	return buf;
}

static bool has_section(const char *probe)
{
	for (size_t i = 0; i < section_cnt; i++)
		if (!strcmp(sections[i].probe, probe))
			return true;
	return false;
}

/* Of each kind of event: what was recorded singly, and how many there were. */
static void put_events(const struct report *r)
{
	const struct event_tables *t = r->a->load.events;

	for (size_t i = 0; i < event_tables__cnt(t); i++) {
		const struct event_table *e = event_tables__get(t, i);
		char sql[256], text[192], some[32], all[32];
		uint64_t shown, total;

		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", e->name);
		shown = number(r, sql);
		snprintf(sql, sizeof(sql),
			 "SELECT sum(count) FROM counter WHERE probe = '%s' AND series = 'events'",
			 e->kind);
		total = number(r, sql);
		if (shown && !has_section(e->kind)) {
			snprintf(text, sizeof(text), "%s: %s; see obana query \"SELECT * FROM %s\"",
				 e->kind, format_count(some, shown), e->name);
			fact(r, "Events", text);
			continue;
		}
		if (total <= shown)
			continue;
		snprintf(text, sizeof(text),
			 "%s: %s of %s shown; counts and percentiles are of all",
			 e->kind, whole(some, shown), whole(all, total));
		fact(r, "Events", text);
	}
}

static bool has_rows(const struct report *r, const struct section *s)
{
	sqlite3_stmt *stmt = NULL;
	bool found = false;

	if (!sqlite3_prepare_v2(r->db, s->sql, -1, &stmt, NULL)) {
		section_bind(stmt, 1, 0);
		found = sqlite3_step(stmt) == SQLITE_ROW;
	}
	sqlite3_finalize(stmt);
	return found;
}

static int put_section(const struct report *r, const struct section *s)
{
	sqlite3_stmt *stmt = NULL;
	long rc = -EIO;

	if (!sqlite3_prepare_v2(r->db, s->sql, -1, &stmt, NULL)) {
		section_bind(stmt, r->limit, 0);
		rc = s->as == SECTION_TABLE ? r->page->table(r->page->ctx, s->title, stmt)
					    : r->page->drawn(r->page->ctx, s, stmt);
	}
	if (rc < 0)
		message_error("report: %s: %s", s->name, sqlite3_errmsg(r->db));
	sqlite3_finalize(stmt);
	return rc < 0 ? (int)rc : 0;
}

static int put_sections(const struct report *r)
{
	const char *heading = NULL;
	int err = 0;

	for (size_t i = 0; i < section_cnt && !err; i++) {
		const struct section *s = &sections[i];

		if (s->as == SECTION_LISTING || !has_rows(r, s))
			continue;
		if (!heading || strcmp(heading, s->heading))
			r->page->heading(r->page->ctx, heading = s->heading);
		err = put_section(r, s);
	}
	return err;
}

/* ---- traffic ---- */

/* What --cpu-budget left out, and whether that was made up for. */
static void put_thinning(const struct report *r)
{
	static const struct {
		const char *what, *text;
	} whats[] = {
		{"cpu",
		 "on-CPU samples were throttled down to %.3g%% for --cpu-budget (%.0f steps): "
		 "samples are weighted, values are scaled"},
		{"offcpu",
		 "off-CPU waits were throttled down to %.3g%% for --cpu-budget (%.0f steps): "
		 "values are scaled, except for times at 0%%, when none were recorded"},
		{"processes",
		 "process events were read less often, down to %.3g%%, for --cpu-budget (%.0f "
		 "steps): stacks of new processes may be incomplete"},
	};
	char sql[160], text[320];

	for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++) {
		uint64_t steps, kept;

		snprintf(sql, sizeof(sql), "SELECT count(*) FROM thinning WHERE what = '%s'",
			 whats[i].what);
		steps = number(r, sql);
		if (!steps)
			continue;
		snprintf(sql, sizeof(sql),
			 "SELECT CAST(min(kept) * 1000000 AS INTEGER) FROM thinning WHERE what = "
			 "'%s'",
			 whats[i].what);
		kept = number(r, sql);
		snprintf(text, sizeof(text), whats[i].text, kept / 1e4, (double)steps);
		warning(r, "Throttled", text);
	}
}

static void put_scaled(const struct report *r)
{
	for (size_t i = 0; i < r->a->captures.cnt; i++) {
		struct strbuf b = {0};

		if (traffic_scaled_text(r->a, i, &b))
			fact(r, "Sampled", b.p ? b.p : "");
		strbuf_fini(&b);
	}
}

static int put_traffic(const struct report *r)
{
#define RATES                                                                                      \
	"calls, errors, 1.0 * errors / nullif(calls, 0) AS error_share, " TRAFFIC_UNPAIRED         \
	"p50_ns, p95_ns, p99_ns, request_bytes, response_bytes, "
	static const struct {
		const char *title, *sql;
	} tables[] = {
		{"Protocols", "SELECT role, " RATES "protocol, service FROM figure WHERE ?1 = '' "
			      "AND level = 'protocol' ORDER BY calls DESC, role, service, protocol "
			      "LIMIT ?2"},
		{"Busiest endpoints, as server",
		 "SELECT " RATES "protocol, service, method, target FROM figure WHERE ?1 = '' AND "
		 "level = 'endpoint' AND role = 'server' ORDER BY calls DESC, service, protocol, "
		 "method, target LIMIT ?2"},
		{"Busiest endpoints, as client",
		 "SELECT " RATES "protocol, service AS called, method, target FROM figure WHERE ?1 "
		 "= '' AND level = 'endpoint' AND role = 'client' ORDER BY calls DESC, service, "
		 "protocol, method, target LIMIT ?2"},
		{"Peers", "SELECT role, connections, in_bytes, out_bytes, receives, sends, "
			  "retransmits, rtt_ns, transport, service, peer FROM peer_traffic WHERE "
			  "?1 = '' ORDER BY in_bytes + out_bytes DESC, role, service, peer LIMIT "
			  "?2"},
	};
	int err = 0;

	if (!has_traffic(r))
		return 0;
	r->page->heading(r->page->ctx, "Traffic");
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !err; i++) {
		char *sql = traffic_sql(r->a, tables[i].sql);

		err = sql ? table(r, tables[i].title, "", sql) : -ENOMEM;
		free(sql);
	}
	return err;
}

static int put_rest(const struct report *r)
{
	int err;

	r->page->heading(r->page->ctx, "Capture");
	err = table(
		r, "Binaries without full symbols", NULL,
		"SELECT 1.0 * self_value / nullif((SELECT sum(self_value) FROM binary_symbols), 0) "
		"AS self_share, self_value AS self_ns, symbols, name AS binary, why FROM "
		"binary_symbols "
		"WHERE symbols <> 'dwarf' OR why <> '' ORDER BY self_value DESC, name LIMIT 30");

	if (err)
		return err;
	return table(r, "BPF program cost", NULL,
		     "SELECT run_ns AS time_ns, runs, ns_per_run AS each_ns, name AS program FROM "
		     "program_cost WHERE runs > 0 "
		     "ORDER BY run_ns DESC, name");
}

int report_prepare(struct load *l)
{
	static const char *const tables[] = {"capture", "sample_kind", "process",    "thread",
					     "binary",	"function",    "connection", "figure",
					     "series",	"loss",	       "program",    "thinning",
					     "unkept",	"scaling",     NULL};

	int err = name_set_add_all(&l->wanted, tables);

	for (size_t i = 0; i < section_cnt && !err; i++)
		err = store__tables_of(l->store, sections[i].sql, &l->wanted);
	for (size_t i = 0; i < event_tables__cnt(l->events) && !err; i++)
		err = name_set_add(&l->wanted, event_tables__get(l->events, i)->name);
	if (err)
		message_error("report: %s", sqlite3_errmsg(store__db(l->store)));
	return err;
}

int report_prepare_all(struct load *l)
{
	return store__tables(l->store, &l->wanted);
}

int report_write(const struct analysis *a, const struct report_page *page, unsigned limit)
{
	struct report r = {a, page, store__db(a->store), limit};
	int err;

	for (size_t i = 0; i < a->captures.cnt; i++)
		put_capture(&r, &a->captures.v[i]);
	put_sampled(&r);
	put_thinning(&r);
	put_scaled(&r);
	put_unkept(&r);
	put_events(&r);
	err = put_losses(&r);
	if (!err)
		err = put_samples(&r);
	if (!err)
		err = put_kinds(&r);
	if (!err)
		err = put_sections(&r);
	if (!err)
		err = put_traffic(&r);
	return err ? err : put_rest(&r);
}
