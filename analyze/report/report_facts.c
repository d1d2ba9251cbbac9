/* SPDX-License-Identifier: BSD-2-Clause */
/* The first lines of a report: what was recorded, how, and what was lost. */
#include "analyze/load/event_tables.h"
#include "analyze/load/loss_effects.h"
#include "analyze/report/report_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/text.h"
#include "analyze/traffic/traffic_note.h"

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
	if (c->freq && (!*c->probes || list_has(c->probes, "cpu")))
		strbuf_addf(&b, "%s%llu Hz", b.len ? ", " : "", (unsigned long long)c->freq);
	if (b.len)
		fact(r, "Probes", b.p);
	strbuf_fini(&b);
	put_state(r, c);
}

uint64_t report_number(const struct report *r, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	uint64_t v = 0;

	if (!sqlite3_prepare_v2(r->db, sql, -1, &stmt, NULL) && sqlite3_step(stmt) == SQLITE_ROW)
		v = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return v;
}

/* Writes the losses with one effect. */
static uint64_t put_loss(const struct report *r, const char *effect)
{
	struct strbuf text = {0};
	char sql[96];
	uint64_t lost;

	snprintf(sql, sizeof(sql), "SELECT sum(count) FROM loss WHERE affects = '%s'", effect);
	lost = report_number(r, sql);
	if (!lost)
		return 0;
	loss_text(&text, effect, lost);
	warning(r, "Losses", text.p ? text.p : "");
	strbuf_fini(&text);
	return lost;
}

static void put_losses(const struct report *r)
{
	bool samples = report_number(r, "SELECT EXISTS (SELECT 1 FROM kind_total)");
	uint64_t lost = 0;

	for (const char *const *e = loss_effects; *e; e++)
		if (samples || strcmp(loss_effect_on(*e), "samples"))
			lost += put_loss(r, *e);
	if (!lost)
		fact(r, "Losses",
		     report_number(r, "SELECT sum(count) FROM loss")
			     ? "none of what is shown; see losses by cause"
			     : "none");
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
		if (traffic_late_text(r->a, i, &b))
			warning(r, "Pairing", b.p);
		strbuf_fini(&b);
		if (traffic_twice_text(r->a, i, &b))
			fact(r, "Twice", b.p);
		strbuf_fini(&b);
	}
}

static void put_overlap(const struct report *r)
{
	const struct captures *c = &r->a->captures;
	char buf[24];

	for (size_t i = 0; i < c->cnt; i++) {
		struct strbuf b = {0};
		uint64_t cnt = overlap__left_out(r->a->load.overlap, i);

		strbuf_addf(&b,
			    "%s samples and events of %s are not counted: an archive given before "
			    "it has these threads at the same time",
			    format_count(buf, cnt), c->v[i].path);
		if (cnt)
			fact(r, "Twice", b.p ? b.p : "");
		strbuf_fini(&b);
	}
}

/* Confidence interval of a share of the samples. */
static void put_sampled(const struct report *r)
{
	uint64_t samples = report_number(r, "SELECT count FROM kind_total WHERE kind = 'cpu'");
	char text[160], buf[24];

	if (!samples)
		return;
	snprintf(text, sizeof(text),
		 "%s on-CPU samples; 95 %% confidence interval of a share: 1 %% +- %.2g %%",
		 format_count(buf, samples),
		 200 * sqrt(0.01 * 0.99 / samples)); /* two standard deviations */
	fact(r, "Sampled", text);
}

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

/* Waits on futexes: the tables by address and owner are of those recorded singly, others of all. */
static bool put_waits(const struct report *r, const char *kind, uint64_t rows)
{
	char text[224], some[32], all[32], some_ns[32], all_ns[32];
	uint64_t total;

	if (strcmp(kind, "lock"))
		return false;
	total = report_number(r, "SELECT sum(count) FROM counter_total WHERE probe = 'lock' AND "
				 "series = 'ended'");
	if (total <= rows)
		return true;
	format_duration(some_ns, report_number(r, "SELECT sum(wait_ns) FROM lock"));
	format_duration(all_ns, report_number(r, "SELECT sum(sum) FROM counter_total WHERE probe = "
						 "'lock' AND series = 'ended'"));
	snprintf(text, sizeof(text),
		 "lock: %s of %s waits, %s of %s, recorded singly (the longer ones): tables with "
		 "addresses or owners are of these, others of all waits",
		 whole(some, rows), whole(all, total), some_ns, all_ns);
	fact(r, "Events", text);
	return true;
}

/* Events of the kind, also those without a row. A probe counts those of its first kind in the
 * series `events`, those of others in NAME_events, where the name may lack that of the probe. */
static uint64_t all_events(const struct report *r, const char *kind)
{
	/* Kinds that are not called as their probe, whose first they are. */
	static const struct {
		const char *kind, *probe;
	} first[] = {{"tcp_connect", "tcp"}, {"stall", "reclaim"}};
	const char *probe = kind;
	char sql[256];

	for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
		if (!strcmp(first[i].kind, kind))
			probe = first[i].probe;
	snprintf(sql, sizeof(sql),
		 "SELECT sum(count) FROM counter_total WHERE (probe = '%s' AND series = 'events') "
		 "OR series = '%s_events' OR probe || '_' || series = '%s_events'",
		 probe, kind, kind);
	return report_number(r, sql);
}

/* A table of rows of the kind alone. */
static bool is_of_rows(const struct section *s, const char *kind)
{
	return !strcmp(s->probe, kind) && s->as == SECTION_TABLE && !strstr(s->sql, " counter") &&
	       !strstr(s->sql, " histogram");
}

static void put_thinned(const struct report *r, const char *kind, uint64_t rows, uint64_t total)
{
	char some[32], all[32];
	const char *lead = ", only these are in ", *of = "counts";
	struct strbuf b = {0};

	strbuf_addf(&b, "%s: %s of %s recorded singly", kind, whole(some, rows), whole(all, total));
	for (size_t i = 0; i < section_cnt; i++) {
		if (!is_of_rows(&sections[i], kind))
			continue;
		strbuf_addf(&b, "%s\"%s\"", lead, sections[i].title);
		lead = ", ";
		of = "other counts";
	}
	strbuf_addf(&b, "; %s and percentiles are of all", of);
	if (!b.failed)
		fact(r, "Events", b.p);
	strbuf_fini(&b);
}

/* For each kind of event: individual records and total number of events. */
static void put_events(const struct report *r)
{
	const struct event_tables *t = r->a->load.events;

	for (size_t i = 0; i < event_tables__cnt(t); i++) {
		const struct event_table *e = event_tables__get(t, i);
		char sql[256], text[192], some[32];
		uint64_t shown, total;

		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", e->name);
		shown = report_number(r, sql);
		if (put_waits(r, e->kind, shown))
			continue;
		total = all_events(r, e->kind);
		if (shown && !has_section(e->kind)) {
			snprintf(text, sizeof(text), "%s: %s; see obana query \"SELECT * FROM %s\"",
				 e->kind, format_count(some, shown), e->name);
			fact(r, "Events", text);
			continue;
		}
		if (total > shown)
			put_thinned(r, e->kind, shown, total);
	}
}

static void put_filter(const struct report *r)
{
	const struct load *l = &r->a->load;
	struct strbuf b = {0};
	char shown[32], all[32];

	if (!sample_filter_any(&l->opts.samples))
		return;
	sample_filter_text(&l->opts.samples, &b);
	strbuf_addf(&b, ": %s of %s samples", whole(shown, l->samples_admitted),
		    whole(all, l->samples_seen));
	fact(r, "Only", b.p ? b.p : "");
	strbuf_fini(&b);
}

/* What --cpu-budget skipped, and whether values are scaled to compensate. */
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
		{"func",
		 "rows of functions and USDT probes were throttled down to %.3g%% for --cpu-budget "
		 "(%.0f steps): counts and times are of all calls"},
		{"mem",
		 "page faults and mappings were throttled down to %.3g%% for --cpu-budget (%.0f "
		 "steps): values are scaled"},
		{"alloc",
		 "allocations were followed for as little as %.3g%% of the time for --cpu-budget "
		 "(%.0f steps): programs allocate more while that does not slow them; totals are "
		 "lower bounds, shares hold"},
		{"processes",
		 "process events were read less often, down to %.3g%%, for --cpu-budget (%.0f "
		 "steps): stacks of new processes may be incomplete"},
	};
	char sql[160], text[320];

	for (size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++) {
		uint64_t steps, kept;

		snprintf(sql, sizeof(sql), "SELECT count(*) FROM thinning WHERE what = '%s'",
			 whats[i].what);
		steps = report_number(r, sql);
		if (!steps)
			continue;
		snprintf(sql, sizeof(sql),
			 "SELECT CAST(min(kept) * 1000000 AS INTEGER) FROM thinning WHERE what = "
			 "'%s'",
			 whats[i].what);
		kept = report_number(r, sql);
		snprintf(text, sizeof(text), whats[i].text, kept / 1e4, (double)steps);
		warning(r, "Throttled", text);
	}
}

static void put_leaks(const struct report *r)
{
	char text[SECTION_EMPTY_SZ];

	for (size_t i = 0; i < r->a->captures.cnt; i++)
		if (section_leaks_short(&r->a->captures.v[i], text))
			fact(r, "Leaks", text);
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

/* "10.0.0.13 -> shop, http: 60 -> 120 requests/s at 14:32:40". */
static void put_surge(const struct report *r, sqlite3_stmt *stmt)
{
	const char *names[] = {(const char *)sqlite3_column_text(stmt, 0),
			       (const char *)sqlite3_column_text(stmt, 1),
			       (const char *)sqlite3_column_text(stmt, 2)};
	time_t at = sqlite3_column_int64(stmt, 3) / 1000000000;
	struct strbuf b = {0};
	char when[16];
	struct tm tm;

	if (!localtime_r(&at, &tm) || !strftime(when, sizeof(when), "%H:%M:%S", &tm))
		return;
	strbuf_addf(&b, "%s -> %s, %s: %.4g -> %.4g requests/s at %s",
		    names[0] ? names[0] : "(other)", names[1] ? names[1] : "(other)",
		    names[2] ? names[2] : "unknown", sqlite3_column_double(stmt, 4),
		    sqlite3_column_double(stmt, 5), when);
	warning(r, "Surge", b.p ? b.p : "");
	strbuf_fini(&b);
}

/* The largest ones; section "surges" has the others. */
static void put_surges(const struct report *r)
{
	sqlite3_stmt *stmt = NULL;

	if (!sqlite3_prepare_v2(r->db,
				"SELECT client, server, protocol, start_ns, qps_before, qps_after "
				"FROM surge ORDER BY calls DESC, start_ns, client, server, "
				"protocol LIMIT 3",
				-1, &stmt, NULL))
		while (sqlite3_step(stmt) == SQLITE_ROW)
			put_surge(r, stmt);
	sqlite3_finalize(stmt);
}

/* What to do about code that `exe` generates. */
static const char *naming_of(const char *exe)
{
	static const struct {
		const char *exe, *text;
	} runtimes[] = {
#define RUNTIME(exe, text) {exe, text},
#include "analyze/report/runtimes.def"
#undef RUNTIME
	};
	const char *slash = strrchr(exe, '/'), *name = slash ? slash + 1 : exe;
	size_t i = 0;

	while (strncmp(name, runtimes[i].exe, strlen(runtimes[i].exe)))
		i++;
	return runtimes[i].text;
}

/* Processes much of whose time is spent in generated code without names, which makes their graphs
 * useless. */
static void put_unnamed(const struct report *r)
{
	static const char sql[] =
		"WITH hot AS MATERIALIZED (SELECT self_share, CAST(substr(function, 6) AS INTEGER) AS "
		"pid FROM hot_function WHERE kind = 'cpu' AND self_share >= 0.05 AND binary = function "
		"AND function GLOB '[[]jit *') "
		"SELECT h.self_share, p.pid, p.comm, p.exe, max(p.started_ns) FROM hot h JOIN process p "
		"ON p.pid = h.pid GROUP BY p.pid ORDER BY 1 DESC, 2 "
		"LIMIT 3"; /* what it executed last, which has the row of the latest start */
	sqlite3_stmt *stmt = NULL;

	if (!sqlite3_prepare_v2(r->db, sql, -1, &stmt, NULL))
		while (sqlite3_step(stmt) == SQLITE_ROW) {
			const char *comm = (const char *)sqlite3_column_text(stmt, 2),
				   *exe = (const char *)sqlite3_column_text(stmt, 3);
			struct strbuf b = {0};

			strbuf_addf(&b,
				    "%.0f %% of the on-CPU time is in generated code without "
				    "names, of %s "
				    "(%lld): %s",
				    100 * sqlite3_column_double(stmt, 0), comm ? comm : "unknown",
				    (long long)sqlite3_column_int64(stmt, 1),
				    naming_of(exe ? exe : ""));
			warning(r, "Names", b.p ? b.p : "");
			strbuf_fini(&b);
		}
	sqlite3_finalize(stmt);
}

void report_facts(const struct report *r)
{
	for (size_t i = 0; i < r->a->captures.cnt; i++)
		put_capture(r, &r->a->captures.v[i]);
	put_filter(r);
	put_sampled(r);
	put_unnamed(r);
	put_overlap(r);
	put_thinning(r);
	put_leaks(r);
	if (!sample_filter_any(&r->a->load.opts.samples)) {
		put_scaled(r);
		put_unkept(r);
		put_events(r);
	}
	put_losses(r);
	if (!sample_filter_any(&r->a->load.opts.samples))
		put_surges(r);
}

/* Adds the tables that these lines read in addition to those of the sections. */
int report_facts_prepare(struct load *l)
{
	static const char *const tables[] = {
		"capture", "series",   "counter_total", "loss",	 "thinning", "unkept", "late",
		"scaling", "function", "sample_kind",	"surge", "twice",    NULL};
	int err = name_set_add_all(&l->wanted, tables);

	for (size_t i = 0; i < event_tables__cnt(l->events) && !err; i++)
		err = name_set_add(&l->wanted, event_tables__get(l->events, i)->name);
	return err;
}
