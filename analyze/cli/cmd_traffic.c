/* SPDX-License-Identifier: BSD-2-Clause */
/* obana traffic: bytes, calls, errors and latencies by service, peer and request. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cli/common_options.h"
#include "format/text.h"
#include "analyze/load/analysis.h"
#include "analyze/cli/command.h"
#include "analyze/store/table.h"
#include "analyze/traffic/traffic_note.h"

enum { OPT_INTERVAL, OPT_RARE, OPT_LIMIT, OPT_BY, OPT_CSV, OPT_JSON };

#define LIMIT 20
#define LIMIT_AN_INTERVAL 5

struct opts {
	struct common_opts common;
	struct table_style style;
	uint64_t limit; /* 0: not given */
	bool rare, by_given;
	unsigned by; /* bit per section */
};

/*
 * Available tables. ?1: maximum rows (per interval, if there are intervals), ?2: total seconds, ?3:
 * length of an interval in nanoseconds or NULL, ?4: start of the first interval.
 */
static const struct section {
	const char *name, *title, *text, *data;
} sections[] = {
#define L4_COLUMNS                                                                                 \
	"count(DISTINCT c.id) AS connections, sum(s.bytes_received) AS in_bytes, "                 \
	"sum(s.bytes_sent) AS out_bytes, sum(s.receives) AS receives, sum(s.sends) AS sends, "     \
	"sum(s.retransmits) AS retransmits, "                                                      \
	"CAST(1000 * avg(nullif(s.srtt_us, 0)) AS INTEGER) AS rtt_ns"
#define L4_WANTED                                                                                  \
	" FROM connection c LEFT JOIN connection_stat s ON s.connection_id = c.id "                \
	"WHERE side_wanted(c.role, c.service, c.peer, c.remote_addr, c.protocol, c.id) "
#define L4_FROM L4_WANTED "GROUP BY 1, role, service, peer, transport"
/* A statistics row covers the second before it, or less if the connection is younger. It belongs to
 * the interval that contains its middle. */
#define SLOT "(max(s.ts_ns - 500000000, ifnull(c.opened_ns, 0), ?4) - ?4) / ?3 * ?3 + ?4"
#define RANKED(columns, order)                                                                     \
	"SELECT " columns                                                                          \
	" FROM (SELECT *, row_number() OVER (PARTITION BY start_ns ORDER BY " order                \
	") AS rank FROM figures) WHERE rank <= ?1 ORDER BY start_ns, rank"
#define TIME "strftime('%H:%M:%f', start_ns / 1e9, 'unixepoch', 'localtime') AS time, "
#define FIRST "strftime('%H:%M:%f', first_ns / 1e9, 'unixepoch', 'localtime') AS first, "
#define RATE "round(calls / ?2, 1) AS qps, "
#define CALLS                                                                                      \
	RATE "calls, errors, 1.0 * errors / nullif(calls, 0) AS error_share, " TRAFFIC_UNPAIRED(   \
		"figure") "p50_ns, p95_ns, p99_ns, max_ns, request_bytes, response_bytes, "
#define DATA                                                                                       \
	"start_ns, role, service, peer, protocol, method, target, " RATE "calls, errors, "         \
	"unpaired, request_bytes, response_bytes, min_ns, mean_ns, p50_ns, p95_ns, p99_ns, "       \
	"max_ns, first_ns, last_ns, connection_id"
#define LEVEL(name) "WITH figures AS (SELECT * FROM figure WHERE level = '" name "') "
/* Without rows that have only unpaired halves of other rows' calls. */
#define CALLED(name)                                                                               \
	"WITH figures AS (SELECT * FROM figure WHERE level = '" name "' AND calls > 0) "
	{"peer", "Connections by peer",
	 "WITH figures AS (SELECT " SLOT " AS start_ns, role, " L4_COLUMNS ", transport, service, "
	 "peer" L4_FROM ") " RANKED(TIME "role, connections, in_bytes, out_bytes, receives, "
					 "sends, retransmits, rtt_ns, transport, service, peer",
				    "in_bytes + out_bytes DESC, role, service, peer"),
	 "WITH figures AS (SELECT " SLOT
	 " AS start_ns, role, service, peer, transport, " L4_COLUMNS L4_FROM
	 ") " RANKED("start_ns, role, service, peer, transport, connections, in_bytes, "
		     "out_bytes, receives, sends, retransmits, rtt_ns",
		     "in_bytes + out_bytes DESC, role, service, peer")},
	{"protocol", "Requests by protocol",
	 LEVEL("protocol") RANKED(TIME "role, " CALLS "protocol, service",
				  "calls DESC, role, service, protocol"),
	 LEVEL("protocol") RANKED(DATA, "calls DESC, role, service, protocol")},
	{"endpoint", "Requests by endpoint",
	 LEVEL("endpoint") RANKED(TIME "role, " CALLS "protocol, service, method, target",
				  "calls DESC, role, service, protocol, method, target"),
	 LEVEL("endpoint") RANKED(DATA, "calls DESC, role, service, protocol, method, target")},
	{"caller", "Requests by peer",
	 LEVEL("peer") RANKED(TIME "role, " CALLS "protocol, service, peer",
			      "calls DESC, role, service, peer, protocol"),
	 LEVEL("peer") RANKED(DATA, "calls DESC, role, service, peer, protocol")},
	{"call", "Requests by endpoint and peer",
	 LEVEL("call") RANKED(TIME "role, " CALLS "protocol, service, peer, method, target",
			      "calls DESC, role, service, peer, protocol, method, target"),
	 LEVEL("call") RANKED(DATA, "calls DESC, role, service, peer, protocol, method, target")},
};
#define SECTION_CNT (sizeof(sections) / sizeof(*sections))

/* Peers without known calls: only connected, or an unknown protocol. */
#define SILENT                                                                                     \
	"WITH figures AS (SELECT NULL AS start_ns, min(ifnull(c.opened_ns, s.ts_ns)) AS "          \
	"first_ns, "                                                                               \
	"role, " L4_COLUMNS ", min(c.id) AS connection, transport, service, peer" L4_WANTED        \
	"AND c.protocol IS NULL AND (ifnull(role, ''), ifnull(service, ''), ifnull(peer, '')) "    \
	"NOT IN (SELECT ifnull(role, ''), ifnull(service, ''), ifnull(peer, '') "                  \
	"FROM figure WHERE level = 'peer') GROUP BY role, service, peer, transport) "
static const struct section rare[] = {
	{"caller", "Rarest callers and callees",
	 CALLED("peer") RANKED(
		 FIRST "calls, errors, connection_id AS connection, role, protocol, service, "
		       "peer",
		 "calls, first_ns, role, service, peer"),
	 CALLED("peer") RANKED(DATA, "calls, first_ns, role, service, peer")},
	{"silent", "Rarest peers of unknown protocol",
	 SILENT RANKED(FIRST "connections, in_bytes, out_bytes, connection, role, transport, "
			     "service, peer",
		       "connections, first_ns, role, service, peer"),
	 SILENT RANKED("first_ns, role, service, peer, transport, connections, in_bytes, "
		       "out_bytes, receives, sends, retransmits, rtt_ns, connection",
		       "connections, first_ns, role, service, peer")},
	{"call", "Rarest requests",
	 CALLED("call") RANKED(
		 FIRST "calls, errors, connection_id AS connection, role, protocol, service, "
		       "peer, method, target",
		 "calls, first_ns, role, service, peer, method, target"),
	 CALLED("call") RANKED(DATA, "calls, first_ns, role, service, peer, method, target")},
};

static int set_by(struct opts *o, const struct option_def *def, const char *arg)
{
	bool any = false;

	for (size_t len; *arg; arg += len + (arg[len] == ',')) {
		int i;

		len = strcspn(arg, ",");
		any = true;
		if (common_is_caller_key((struct span){arg, len})) {
			int err = common_set_by(&o->common, def, (struct span){arg, len});

			if (err)
				return err;
			continue;
		}
		i = option_choice(def, arg, len);
		if (i < 0)
			return i;
		o->by |= 1u << i;
	}
	o->by_given = o->by;
	return any ? 0 : option_error(def, "needs a name");
}

static int set(void *ctx, const struct option_def *def, const char *arg)
{
	struct opts *o = ctx;

	switch (def->data) {
	case OPT_INTERVAL:
		if (parse_duration_ns(arg, &o->common.load.traffic.interval_ns) ||
		    o->common.load.traffic.interval_ns < 1000000)
			return option_error(def, "'%s' is not a time of at least 1ms", arg);
		return 0;
	case OPT_RARE:
		o->rare = true;
		return 0;
	case OPT_BY:
		return set_by(o, def, arg);
	case OPT_CSV:
		o->style.format = TABLE_CSV;
		return 0;
	case OPT_JSON:
		o->style.format = TABLE_JSON;
		return 0;
	}
	if (parse_u64(arg, &o->limit) || !o->limit || o->limit > 1000000000)
		return option_error(def, "'%s' is not a number of rows", arg);
	return 0;
}

static const struct option_def options[] = {
	{.help = "Output"},
	{"by", 0, ARG_REQUIRED, "LIST",
	 "print only these tables: peer (bytes and connections), protocol, endpoint, caller, "
	 "call; " BY_HELP,
	 set, OPT_BY, .values = "peer, protocol, endpoint, caller, call, " CALLER_KEYS,
	 .list = true},
	{"interval", 'i', ARG_REQUIRED, "TIME",
	 "print rows per interval, to show a surge and its source", set, OPT_INTERVAL},
	{"rare", 0, ARG_NONE, NULL,
	 "print the rarest callers, peers of unknown protocol, and requests, rarest first", set,
	 OPT_RARE},
	{"limit", 'n', ARG_REQUIRED, "N",
	 "maximum rows per table (default 20) or per interval "
	 "(default 5)",
	 set, OPT_LIMIT},
	{"csv", 0, ARG_NONE, NULL,
	 "print one table (default: call) as CSV, with all rows and plain numbers", set, OPT_CSV},
	{"json", 0, ARG_NONE, NULL,
	 "print a JSON object of tables, with all rows and plain "
	 "numbers",
	 set, OPT_JSON},
	THRIFT_OPTION,
	MESSAGE_OPTIONS,
	SERVICES_OPTION,
	{0},
};

static const struct cli cli = {
	.program = "obana traffic",
	.synopsis = "ARCHIVE.obz ... [options]",
	.summary = "show traffic: bytes, requests, errors, latencies",
	.details =
		"Bytes, calls and connections are complete, whatever was sampled. Latency is "
		"measured from the last byte of a request to the last byte of its response, "
		"in the recorded process; the error of percentiles is at most 0.4 %. A call "
		"with only its request or only its response captured counts once, as "
		"unpaired, without latency. A connection recorded at both ends appears twice: "
		"as client and as server. A process recorded in several archives of one host, as "
		"with obrec -a and -p at the same time, counts once: from the archive that saw "
		"more of each connection.",
	.options = options,
	.exit_status = cli_exit_status,
};

static void side_wanted(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const struct message_filter *f = sqlite3_user_data(ctx);
	const struct message_facts facts = {
		.role = span_of((const char *)sqlite3_value_text(argv[0])),
		.service = span_of((const char *)sqlite3_value_text(argv[1])),
		.peer = span_of((const char *)sqlite3_value_text(argv[2])),
		.peer_addr = span_of((const char *)sqlite3_value_text(argv[3])),
		.protocol = span_of((const char *)sqlite3_value_text(argv[4])),
		.connection = sqlite3_value_int64(argv[5]),
	};

	sqlite3_result_int(ctx, message_filter_wants_side(f, &facts));
}

/* Filters by message properties do not apply to statistics of whole connections. */
static bool about_messages(const struct message_filter *f)
{
	return f->method || f->target || f->status || f->errors || f->slower_ns;
}

static bool of_connections(const struct section *s)
{
	return strstr(s->text, "FROM connection ");
}

/* SQL with a time column only if there are intervals. Malloc'ed. */
static char *sql_of(const struct opts *o, const struct section *s)
{
	char *sql = strdup(o->style.format == TABLE_TEXT ? s->text : s->data), *at;

	if (sql && !o->common.load.traffic.interval_ns && (at = strstr(sql, TIME)))
		memmove(at, at + strlen(TIME), strlen(at + strlen(TIME)) + 1);
	return sql;
}

static int prepare(const struct opts *o, struct analysis *a, const char *sql, uint64_t limit,
		   sqlite3_stmt **stmt)
{
	uint64_t interval = o->common.load.traffic.interval_ns;
	double seconds = interval ? interval / 1e9 : traffic_seconds(&a->load);

	if (sqlite3_prepare_v2(store__db(a->store), sql, -1, stmt, NULL) ||
	    sqlite3_bind_int64(*stmt, 1, limit) ||
	    (sqlite3_bind_parameter_count(*stmt) > 1 && sqlite3_bind_double(*stmt, 2, seconds)) ||
	    (sqlite3_bind_parameter_count(*stmt) > 2 && interval &&
	     (sqlite3_bind_int64(*stmt, 3, interval) ||
	      sqlite3_bind_int64(*stmt, 4, traffic_start_ns(&a->captures)))))
		return -EIO;
	return 0;
}

/* Number of rows without the limit. */
static long count_all(const struct opts *o, struct analysis *a, const char *sql)
{
	struct strbuf b = {0};
	sqlite3_stmt *stmt = NULL;
	long cnt = -1;

	strbuf_addf(&b, "SELECT count(*) FROM (%s)", sql);
	if (!prepare(o, a, b.p, INT64_MAX, &stmt) && sqlite3_step(stmt) == SQLITE_ROW)
		cnt = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	strbuf_fini(&b);
	return cnt;
}

static uint64_t limit_of(const struct opts *o)
{
	if (o->limit)
		return o->limit;
	if (o->style.format != TABLE_TEXT)
		return INT64_MAX;
	return o->common.load.traffic.interval_ns ? LIMIT_AN_INTERVAL : LIMIT;
}

static int show(const struct opts *o, struct analysis *a, const struct section *s, bool first)
{
	bool text = o->style.format == TABLE_TEXT;
	uint64_t limit = limit_of(o);
	struct table_style style = o->style;
	sqlite3_stmt *stmt = NULL;
	char title[128], *sql = sql_of(o, s);
	long rows, all;

	if (!sql)
		return -ENOMEM;
	snprintf(title, sizeof(title), "\n%s%s%s", style.colour ? "\033[1;36m" : "", s->title,
		 style.colour ? "\033[0m" : "");
	style.title = text ? title : NULL;
	style.human = text;
	if (style.format == TABLE_JSON)
		printf("%s\"%s\": ", first ? "{" : ",", s->name);
	rows = prepare(o, a, sql, limit, &stmt) ? -EIO : table_write(stmt, &style, stdout);
	if (rows < 0)
		message_error("traffic: %s", sqlite3_errmsg(store__db(a->store)));
	sqlite3_finalize(stmt);
	if (text && rows >= (long)limit && (all = count_all(o, a, sql)) > rows)
		printf("and %ld more: see --limit\n", all - rows);
	free(sql);
	return rows < 0 ? -EIO : 0;
}

/* CSV can hold only one table. */
static unsigned chosen(const struct opts *o, size_t cnt)
{
	unsigned all = (1u << cnt) - 1, last = 1u << (cnt - 1);

	if (o->style.format == TABLE_CSV && !o->by_given)
		return last;
	if (o->rare)
		return all;
	return o->by_given ? o->by : o->style.format == TABLE_TEXT ? all & ~last : all;
}

static int show_all(const struct opts *o, struct analysis *a)
{
	const struct section *from = o->rare ? rare : sections;
	size_t cnt = o->rare ? sizeof(rare) / sizeof(*rare) : SECTION_CNT;
	unsigned by = chosen(o, cnt);
	bool first = true;
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		if (!(by & 1u << i))
			continue;
		if (of_connections(&from[i]) && !o->by_given &&
		    about_messages(&o->common.load.traffic.filter))
			continue;
		err = show(o, a, &from[i], first);
		first = false;
	}
	if (o->style.format == TABLE_JSON)
		puts(first ? "{}" : "}");
	if (!err && (fflush(stdout) || ferror(stdout))) {
		err = errno ? -errno : -EIO;
		if (err != -EPIPE)
			message_error("standard output: %s", strerror(-err));
	}
	return err == -EPIPE ? 0 : err;
}

static int traffic(const struct opts *o, struct analysis *a)
{
	static const char *const tables[] = {"connection", "connection_stat", "figure",
					     "loss",	   "unkept",	      "late",
					     "scaling",	   "twice",	      NULL};
	int err = name_set_add_all(&a->load.wanted, tables);

	if (!err && sqlite3_create_function(store__db(a->store), "side_wanted", 6, SQLITE_UTF8,
					    (void *)&o->common.load.traffic.filter, side_wanted,
					    NULL, NULL))
		err = -ENOMEM;
	if (!err)
		err = load__run(&a->load);
	if (err)
		return err;
	analysis__warn(a);
	traffic_note(a, o->style.format == TABLE_TEXT ? stdout : stderr);
	return show_all(o, a);
}

static bool check(const struct opts *o, int archives)
{
	if (!archives)
		message_error("traffic: no archive given; see obana traffic --help");
	else if (o->rare && (o->by_given || o->common.load.traffic.interval_ns))
		message_error("traffic: --rare excludes tables of --by, and --interval");
	else if (o->style.format == TABLE_CSV && o->by & (o->by - 1))
		message_error("traffic: --csv prints one table; --by names several");
	else
		return true;
	return false;
}

static int run(int argc, char **argv)
{
	struct opts o = {.style = table_style_for(stdout)};
	struct analysis a;
	int rest, code, err = cli_parse(&cli, &o, argc, argv, true, &rest, NULL);

	if (!err && !check(&o, argc - rest))
		err = -EINVAL;
	if (!err)
		err = common_check_by(&o.common, "traffic");
	/* the rarest values of what is asked for */
	if (o.rare && !o.common.by_cnt)
		o.common.load.traffic.by_args = UINT32_MAX;
	if (!err)
		err = analysis__open(&a, &o.common, argv + rest, argc - rest, NULL);
	code = err ? exit_code(err) : analysis__close(&a, traffic(&o, &a));
	common_opts_fini(&o.common);
	return code;
}

const struct command cmd_traffic_entry = {.name = "traffic", .cli = &cli, .run = run};
