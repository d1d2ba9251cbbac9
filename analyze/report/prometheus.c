/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/report/prometheus.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"

/*
 * The statement of a metric returns the value first. For histograms, column `le` is the upper bound
 * in nanoseconds (NULL: +Inf). All other columns are labels.
 */
static const struct metric {
	const char *name, *type, *help, *sql;
} metrics[] = {
#define WHO "role, service, peer, protocol, method"
#define METHODS " FROM figure WHERE level = 'method' ORDER BY " WHO
#define WIRE "role, service, peer, transport"
	{"obana_capture_duration_seconds", "gauge", "Duration of the capture.",
	 "SELECT duration_ns / 1e9, host FROM capture ORDER BY id"},
	{"obana_lost_events_total", "counter", "Events lost, by cause.",
	 "SELECT count, source, cause FROM loss_cause ORDER BY source, cause"},
	{"obana_requests_total", "counter",
	 "Requests, scaled up where connections were sampled or throttled.",
	 "SELECT calls, " WHO METHODS},
	{"obana_request_errors_total", "counter", "Requests that failed.",
	 "SELECT errors, " WHO METHODS},
	{"obana_unpaired_requests_total", "counter",
	 "Requests with only one half captured, without duration.",
	 "SELECT unpaired, " WHO METHODS},
	{"obana_request_bytes_total", "counter", "Size of requests.",
	 "SELECT request_bytes, " WHO METHODS},
	{"obana_response_bytes_total", "counter", "Size of responses.",
	 "SELECT response_bytes, " WHO METHODS},
	{"obana_request_duration_seconds", "histogram",
	 "Latency from the last byte of a request to the last byte of its response, in the "
	 "recorded process.",
	 NULL},
	{"obana_connections_total", "counter", "Connections.",
	 "SELECT connections, " WIRE " FROM peer_traffic ORDER BY " WIRE},
	{"obana_connection_bytes_total", "counter", "Bytes of connections, by direction.",
	 "SELECT in_bytes, " WIRE ", 'received' AS direction FROM peer_traffic UNION ALL SELECT "
	 "out_bytes, " WIRE ", 'sent' FROM peer_traffic ORDER BY " WIRE ", direction"},
	{"obana_connection_calls_total", "counter", "System calls that received or sent.",
	 "SELECT receives, " WIRE ", 'received' AS direction FROM peer_traffic UNION ALL SELECT "
	 "sends, " WIRE ", 'sent' FROM peer_traffic ORDER BY " WIRE ", direction"},
	{"obana_retransmits_total", "counter", "TCP segments retransmitted.",
	 "SELECT retransmits, " WIRE " FROM peer_traffic WHERE transport = 'tcp' ORDER BY " WIRE},
};

static const char durations[] = "SELECT f.rowid, f.timed, f.sum_ns, " WHO
				" FROM figure f WHERE level = 'method' AND timed > 0 ORDER BY " WHO;
static const char buckets[] =
	"SELECT high_ns, count FROM figure_bucket WHERE figure_id = ? ORDER BY high_ns";

int prometheus_prepare(struct load *l)
{
	static const char *const tables[] = {"capture",	      "connection", "figure",
					     "figure_bucket", "loss",	    "series",
					     "counter",	      "histogram",  NULL};

	return name_set_add_all(&l->wanted, tables);
}

/* Escapes backslash, quote and newline. Control bytes and invalid UTF-8 are written as \xNN. */
static void add_label_value(struct strbuf *b, const char *s)
{
	struct strbuf clean = {0};

	strbuf_escape(&clean, ESCAPE_TERMINAL, span_of(s ? s : ""));
	for (const char *p = clean.p ? clean.p : ""; *p; p++) {
		if (*p == '\\' || *p == '"')
			strbuf_add(b, "\\", 1);
		strbuf_add(b, p, 1);
	}
	strbuf_fini(&clean);
}

/* Writes {name="value",...} for the columns from `from` on, without the closing brace, so that more
 * labels can follow. */
static void add_labels(struct strbuf *b, sqlite3_stmt *s, int from)
{
	for (int c = from; c < sqlite3_column_count(s); c++) {
		strbuf_addf(b, "%s%s=\"", c > from ? "," : "{", sqlite3_column_name(s, c));
		add_label_value(b, (const char *)sqlite3_column_text(s, c));
		strbuf_addf(b, "\"");
	}
}

static void write_value(struct strbuf *b, sqlite3_stmt *s, const struct metric *m, FILE *out)
{
	b->len = 0;
	strbuf_addf(b, "%s", m->name);
	add_labels(b, s, 1);
	if (sqlite3_column_type(s, 0) == SQLITE_FLOAT)
		strbuf_addf(b, "} %.9g\n", sqlite3_column_double(s, 0));
	else
		strbuf_addf(b, "} %lld\n", (long long)sqlite3_column_int64(s, 0));
	fwrite(b->p, 1, b->len, out);
}

static int write_metric(sqlite3 *db, const struct metric *m, FILE *out)
{
	sqlite3_stmt *s = NULL;
	struct strbuf b = {0};
	int rc = sqlite3_prepare_v2(db, m->sql, -1, &s, NULL);

	while (!rc && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		write_value(&b, s, m, out);
		rc = SQLITE_OK;
	}
	strbuf_fini(&b);
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? 0 : -EIO;
}

static void write_buckets(sqlite3_stmt *s, sqlite3_stmt *bucket, const char *name, FILE *out)
{
	long long all = sqlite3_column_int64(s, 1);
	struct strbuf b = {0};

	add_labels(&b, s, 3);
	sqlite3_bind_int64(bucket, 1, sqlite3_column_int64(s, 0));
	while (sqlite3_step(bucket) == SQLITE_ROW)
		fprintf(out, "%s_bucket%s,le=\"%g\"} %lld\n", name, b.p,
			sqlite3_column_int64(bucket, 0) / 1e9,
			(long long)sqlite3_column_int64(bucket, 1));
	sqlite3_reset(bucket);
	fprintf(out, "%s_bucket%s,le=\"+Inf\"} %lld\n", name, b.p, all);
	fprintf(out, "%s_sum%s} %.9f\n", name, b.p, sqlite3_column_int64(s, 2) / 1e9);
	fprintf(out, "%s_count%s} %lld\n", name, b.p, all);
	strbuf_fini(&b);
}

static int write_histogram(sqlite3 *db, const struct metric *m, FILE *out)
{
	sqlite3_stmt *s = NULL, *bucket = NULL;
	int rc = sqlite3_prepare_v2(db, durations, -1, &s, NULL);

	if (!rc)
		rc = sqlite3_prepare_v2(db, buckets, -1, &bucket, NULL);
	while (!rc && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		write_buckets(s, bucket, m->name, out);
		rc = SQLITE_OK;
	}
	sqlite3_finalize(bucket);
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? 0 : -EIO;
}

/* ---- series of probes: a metric per series, with the parts of its key as labels ---- */

static const char all_series[] =
	"SELECT probe, series, kind, unit, keys FROM series GROUP BY probe, "
	"series ORDER BY probe, series";
static const char keys_of[] =
	"SELECT DISTINCT key FROM %s WHERE probe = ?1 AND series = ?2 ORDER BY 1";
#define OF_KEY " FROM counter WHERE probe = ?1 AND series = ?2 AND key = ?3"
static const char count_of[] = "SELECT nullif(sum(count), 0)" OF_KEY;
static const char sum_of[] = "SELECT sum(sum)" OF_KEY;
static const char mean_of[] = "SELECT 1.0 * sum(sum) / sum(count)" OF_KEY;
#undef OF_KEY
static const char cells_of[] =
	"SELECT high, sum(sum(count)) OVER (ORDER BY high), sum(sum(sum)) OVER "
	"() FROM histogram WHERE probe = ?1 AND series = ?2 AND key = ?3 GROUP "
	"BY high ORDER BY high";

/* The metrics of a series. */
static const struct form {
	const char *kind, *type, *suffix, *sql;
	bool in_unit; /* of values; only if the series has a unit */
} forms[] = {
	{"counter", "counter", "_total", count_of, false},
	{"counter", "counter", "_total", sum_of, true},
	{"gauge", "gauge", "", mean_of, true},
	{"histogram", "histogram", "", cells_of, true},
};

/* Appends a valid part of a metric or label name, made from any string. */
static void add_word(struct strbuf *b, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		strbuf_add(b, isalnum((unsigned char)s[i]) ? &s[i] : "_", 1);
}

/* Appends labels for the parts of a key: process="server",disk="sda". Parts not named by `keys` are
 * labelled part3="...". */
static void add_parts(struct strbuf *b, const char *keys, const char *key)
{
	for (unsigned i = 1; key; i++) {
		size_t len = strcspn(key, "\t"), name = keys ? strcspn(keys, "\t") : 0;
		char *value = strndup(key, len);

		strbuf_addf(b, "%s", i > 1 ? "," : "");
		if (name && isalpha((unsigned char)*keys))
			add_word(b, keys, name);
		else
			strbuf_addf(b, "part%u", i);
		strbuf_addf(b, "=\"");
		add_label_value(b, value);
		strbuf_addf(b, "\"");
		free(value);
		key = key[len] ? key + len + 1 : NULL;
		keys = name && keys[name] ? keys + name + 1 : NULL;
	}
}

static void write_number(sqlite3_stmt *s, const struct form *f, const char *name,
			 const char *labels, double unit, FILE *out)
{
	if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_type(s, 0) != SQLITE_NULL)
		fprintf(out, "%s%s{%s} %.15g\n", name, f->suffix, labels,
			sqlite3_column_double(s, 0) / unit);
}

static void write_cells(sqlite3_stmt *s, const char *name, const char *labels, double unit,
			FILE *out)
{
	long long count = 0;
	double sum = 0;

	while (sqlite3_step(s) == SQLITE_ROW) {
		count = sqlite3_column_int64(s, 1);
		sum = sqlite3_column_double(s, 2);
		fprintf(out, "%s_bucket{%s,le=\"%.9g\"} %lld\n", name, labels,
			sqlite3_column_int64(s, 0) / unit, count);
	}
	fprintf(out, "%s_bucket{%s,le=\"+Inf\"} %lld\n%s_sum{%s} %.9g\n%s_count{%s} %lld\n", name,
		labels, count, name, labels, sum / unit, name, labels, count);
}

static int prepare_series(sqlite3 *db, sqlite3_stmt **stmt, const char *sql, sqlite3_stmt *series)
{
	int rc = sqlite3_prepare_v2(db, sql, -1, stmt, NULL);

	for (int i = 1; i <= 2 && !rc; i++)
		rc = sqlite3_bind_value(*stmt, i, sqlite3_column_value(series, i - 1));
	return rc;
}

static int write_keys(sqlite3 *db, sqlite3_stmt *series, const struct form *f, const char *name,
		      FILE *out)
{
	const char *unit = (const char *)sqlite3_column_text(series, 3),
		   *parts = (const char *)sqlite3_column_text(series, 4);
	double scale = f->in_unit && !strcmp(unit, "ns") ? 1e9 : 1;
	bool histogram = f->sql == cells_of;
	sqlite3_stmt *keys = NULL, *cells = NULL;
	char sql[128];
	int rc;

	snprintf(sql, sizeof(sql), keys_of, histogram ? "histogram" : "counter");
	rc = prepare_series(db, &keys, sql, series);
	if (!rc)
		rc = prepare_series(db, &cells, f->sql, series);
	while (!rc && sqlite3_step(keys) == SQLITE_ROW) {
		struct strbuf labels = {0};

		add_parts(&labels, parts, (const char *)sqlite3_column_text(keys, 0));
		sqlite3_bind_value(cells, 3, sqlite3_column_value(keys, 0));
		if (histogram)
			write_cells(cells, name, labels.p ? labels.p : "", scale, out);
		else
			write_number(cells, f, name, labels.p ? labels.p : "", scale, out);
		sqlite3_reset(cells);
		strbuf_fini(&labels);
	}
	sqlite3_finalize(keys);
	sqlite3_finalize(cells);
	return rc;
}

/* obana_PROBE_SERIES_UNIT */
static void add_name(struct strbuf *b, sqlite3_stmt *series, bool in_unit)
{
	const char *unit = (const char *)sqlite3_column_text(series, 3);

	strbuf_addf(b, "obana_");
	for (int i = 0; i < 2; i++) {
		add_word(b, (const char *)sqlite3_column_text(series, i),
			 sqlite3_column_bytes(series, i));
		strbuf_addf(b, "%s", i ? "" : "_");
	}
	if (in_unit && *unit) {
		strbuf_addf(b, "_");
		add_word(b, strcmp(unit, "ns") ? unit : "seconds",
			 strcmp(unit, "ns") ? strlen(unit) : 7);
	}
	strbuf_add(b, "", 1);
}

static bool has_form(sqlite3_stmt *series, const struct form *f)
{
	return !strcmp(f->kind, (const char *)sqlite3_column_text(series, 2)) &&
	       (f->sql != sum_of || *(const char *)sqlite3_column_text(series, 3));
}

static int write_form(sqlite3 *db, sqlite3_stmt *series, const struct form *f, FILE *out)
{
	struct strbuf name = {0};
	int rc = SQLITE_NOMEM;

	add_name(&name, series, f->in_unit);
	if (!name.failed) {
		fprintf(out, "# HELP %s%s What a probe counted.\n# TYPE %s%s %s\n", name.p,
			f->suffix, name.p, f->suffix, f->type);
		rc = write_keys(db, series, f, name.p, out);
	}
	strbuf_fini(&name);
	return rc;
}

static int write_series(sqlite3 *db, FILE *out)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db, all_series, -1, &s, NULL);

	while (!rc && sqlite3_step(s) == SQLITE_ROW)
		for (size_t i = 0; !rc && i < sizeof(forms) / sizeof(*forms); i++)
			if (has_form(s, &forms[i]))
				rc = write_form(db, s, &forms[i], out);
	sqlite3_finalize(s);
	return rc ? -EIO : 0;
}

int prometheus_write(const struct analysis *a, FILE *out)
{
	sqlite3 *db = store__db(a->store);
	int err = 0;

	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics) && !err; i++) {
		const struct metric *m = &metrics[i];

		fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", m->name, m->help, m->name, m->type);
		err = m->sql ? write_metric(db, m, out) : write_histogram(db, m, out);
	}
	if (!err)
		err = write_series(db, out);
	if (err)
		message_error("prometheus: %s", sqlite3_errmsg(db));
	return err;
}
