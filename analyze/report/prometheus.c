/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/report/prometheus.h"

#include <errno.h>
#include <string.h>

#include "format/text.h"

/*
 * A metric's statement gives its value first and, for histograms, the bucket's bound in
 * nanoseconds (NULL: +Inf) as column `le`; the other columns are labels by their names.
 */
static const struct metric {
	const char *name, *type, *help, *sql;
} metrics[] = {
#define WHO "role, service, peer, protocol, method"
#define METHODS " FROM figure WHERE level = 'method' ORDER BY " WHO
#define WIRE "role, service, peer, transport"
	{"obana_capture_duration_seconds", "gauge", "How long was recorded.",
	 "SELECT duration_ns / 1e9, host FROM capture ORDER BY id"},
	{"obana_lost_events_total", "counter", "Events that were not recorded, by cause.",
	 "SELECT count, source, cause FROM loss_cause ORDER BY source, cause"},
	{"obana_requests_total", "counter",
	 "Requests, scaled up where connections were sampled or thinned out.",
	 "SELECT calls, " WHO METHODS},
	{"obana_request_errors_total", "counter", "Requests that failed.",
	 "SELECT errors, " WHO METHODS},
	{"obana_unpaired_requests_total", "counter",
	 "Requests of which only one half was seen: they have no duration.",
	 "SELECT unpaired, " WHO METHODS},
	{"obana_request_bytes_total", "counter", "Size of requests.",
	 "SELECT request_bytes, " WHO METHODS},
	{"obana_response_bytes_total", "counter", "Size of responses.",
	 "SELECT response_bytes, " WHO METHODS},
	{"obana_request_duration_seconds", "histogram",
	 "From a request's last byte to its response's, as the recorded process saw it.", NULL},
	{"obana_connections_total", "counter", "Connections.",
	 "SELECT connections, " WIRE " FROM peer_traffic ORDER BY " WIRE},
	{"obana_connection_bytes_total", "counter", "Bytes of connections, by direction.",
	 "SELECT in_bytes, " WIRE ", 'received' AS direction FROM peer_traffic UNION ALL SELECT "
	 "out_bytes, " WIRE ", 'sent' FROM peer_traffic ORDER BY " WIRE ", direction"},
	{"obana_connection_calls_total", "counter", "System calls that received or sent.",
	 "SELECT receives, " WIRE ", 'received' AS direction FROM peer_traffic UNION ALL SELECT "
	 "sends, " WIRE ", 'sent' FROM peer_traffic ORDER BY " WIRE ", direction"},
	{"obana_retransmits_total", "counter", "TCP segments sent again.",
	 "SELECT retransmits, " WIRE " FROM peer_traffic WHERE transport = 'tcp' ORDER BY " WIRE},
};

static const char durations[] = "SELECT f.rowid, f.timed, f.sum_ns, " WHO
				" FROM figure f WHERE level = 'method' AND timed > 0 ORDER BY " WHO;
static const char buckets[] =
	"SELECT high_ns, count FROM figure_bucket WHERE figure_id = ? ORDER BY high_ns";

int prometheus_prepare(struct load *l)
{
	static const char *const tables[] = {"capture",	      "connection", "figure",
					     "figure_bucket", "loss",	    NULL};

	return name_set_add_all(&l->wanted, tables);
}

/* Backslash, quote and newline are escaped; control bytes and broken UTF-8 are shown as \xNN. */
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

/* {name="value",...} of the columns from `from` on; left open, so that more can follow. */
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

int prometheus_write(const struct analysis *a, FILE *out)
{
	sqlite3 *db = store__db(a->store);
	int err = 0;

	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics) && !err; i++) {
		const struct metric *m = &metrics[i];

		fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", m->name, m->help, m->name, m->type);
		err = m->sql ? write_metric(db, m, out) : write_histogram(db, m, out);
	}
	if (err)
		message_error("prometheus: %s", sqlite3_errmsg(db));
	return err;
}
