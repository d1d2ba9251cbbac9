/* SPDX-License-Identifier: BSD-2-Clause */
/* obana topology: shows services and the calls between them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cli/common_options.h"
#include "format/text.h"
#include "analyze/load/analysis.h"
#include "analyze/cli/command.h"
#include "analyze/cli/output.h"
#include "analyze/store/table.h"
#include "analyze/topology/topology.h"
#include "analyze/traffic/traffic_note.h"

enum { OPT_DOT, OPT_SVG, OPT_JSON, OPT_FOCUS, OPT_DEPTH, OPT_OUTPUT, OPT_LIMIT };

#define LIMIT_SVG 60 /* maximum boxes in a drawing */

struct opts {
	struct common_opts common;
	const struct topology_writer *writer; /* NULL: text */
	const char *focus, *output;
	uint64_t depth, limit;
	bool limited; /* --limit was given */
};

static int set(void *ctx, const struct option_def *def, const char *arg)
{
	static const struct topology_writer *const writers[] = {&topology_dot, &topology_svg,
								&topology_json};
	struct opts *o = ctx;

	switch (def->data) {
	case OPT_FOCUS:
		o->focus = arg;
		return 0;
	case OPT_OUTPUT:
		o->output = arg;
		return 0;
	case OPT_LIMIT:
		o->limited = true;
		if (parse_u64(arg, &o->limit) || (o->limit && o->limit < 4))
			return option_error(def, "'%s' is neither 0 nor a number of at least 4",
					    arg);
		return 0;
	case OPT_DEPTH:
		if (parse_u64(arg, &o->depth) || !o->depth || o->depth > 1000)
			return option_error(def, "'%s' is not a number of hops", arg);
		return 0;
	}
	o->writer = writers[def->data];
	return 0;
}

static const struct option_def options[] = {
	{.help = "Output"},
	{"dot", 0, ARG_NONE, NULL, "print a graph for Graphviz", set, OPT_DOT},
	{"svg", 0, ARG_NONE, NULL, "draw an SVG image", set, OPT_SVG},
	{"json", 0, ARG_NONE, NULL, "print nodes and edges as JSON, with plain numbers", set,
	 OPT_JSON},
	{"output", 'o', ARG_REQUIRED, "FILE", "output file (default: stdout)", set, OPT_OUTPUT},
	{"focus", 0, ARG_REQUIRED, "SERVICE",
	 "show only the neighbourhood of this service (* and ? are wildcards; a prefix up to a "
	 "slash may be omitted)",
	 set, OPT_FOCUS},
	{"depth", 0, ARG_REQUIRED, "N", "show at most N hops from there, or from the first callers",
	 set, OPT_DEPTH},
	{"limit", 'n', ARG_REQUIRED, "N",
	 "show at most N services; those with the fewest calls are merged into one (default: 60 "
	 "with --svg, else all; 0: all)",
	 set, OPT_LIMIT},
	BY_OPTION,
	THRIFT_OPTION,
	MESSAGE_OPTIONS,
	SERVICES_OPTION,
	{0},
};

static const struct cli cli = {
	.program = "obana topology",
	.synopsis = "ARCHIVE.obz ... [options]",
	.summary = "show services and the calls between them",
	.details = "A service is the name --services gives an address, else a container and "
		   "process, else the address. A connection recorded at both ends, in one "
		   "archive or in two, is one edge. Its latency is the " TOPOLOGY_RULE
		   ", or of the end that was recorded (column SIDE); network time is distinguished "
		   "from server time.",
	.options = options,
	.exit_status = cli_exit_status,
};

/* Filters and merges the edges to be shown into temporary tables. */
static const char shown_sql[] =
	"CREATE TEMP TABLE shown_edge(client, server, protocol, calls, errors, request_bytes, "
	"response_bytes, p50_ns, p99_ns, client_ns, server_ns, network_ns, "
	"unpaired, side);"
	"CREATE TEMP TABLE shown_node(service, region, cluster, calls_in, errors, calls_out, "
	"bytes);";

static const char edges_sql[] =
	"SELECT round(calls / ?1, 1) AS qps, calls, errors, 1.0 * errors / nullif(calls, 0) AS "
	"error_share, " TRAFFIC_UNPAIRED(
		"shown_edge") "p50_ns, p99_ns, side, server_ns AS server_mean_ns, "
			      "network_ns AS network_mean_ns, request_bytes, response_bytes, "
			      "protocol, client, "
			      "server FROM shown_edge "
			      "ORDER BY rowid";

#define NODE_COLUMNS                                                                               \
	"round(calls_in / ?1, 1) AS \"qps in\", round(calls_out / ?1, 1) AS \"qps out\", "         \
	"calls_in, "                                                                               \
	"errors, calls_out, bytes"
#define NODE_ORDER " FROM shown_node ORDER BY calls_in + calls_out DESC, service"
static const char nodes_sql[] = "SELECT " NODE_COLUMNS ", service" NODE_ORDER;
static const char placed_sql[] = "SELECT " NODE_COLUMNS ", region, cluster, service" NODE_ORDER;

static const char offsets_sql[] =
	"SELECT a.host, b.host AS other, CASE WHEN offset_ns < 0 THEN 'behind' ELSE 'ahead' END AS "
	"clock, abs(offset_ns) AS offset_ns, CASE WHEN delay_ns >= 0 THEN delay_ns END "
	"AS delay_ns, pairs AS calls FROM clock_offset o "
	"JOIN capture a ON a.id = o.capture_id JOIN capture b ON b.id = o.other_id "
	"ORDER BY capture_id, o.other_id";

static void int_or_null(struct insert *in, int64_t v)
{
	if (v < 0)
		insert_null(in);
	else
		insert_int(in, v);
}

static int add_node_rows(const struct topology *t, struct insert *in)
{
	int err = 0;

	for (size_t i = 0; i < t->node_cnt && !err; i++) {
		const struct topology_node *n = &t->nodes[i];

		if (!n->shown)
			continue;
		insert_text(in, n->name);
		insert_text(in, n->region);
		insert_text(in, n->cluster);
		insert_int(in, n->calls_in);
		insert_int(in, n->errors_in);
		insert_int(in, n->calls_out);
		insert_int(in, n->bytes);
		err = insert_run(in);
	}
	return err;
}

static int add_edge_rows(const struct topology *t, struct insert *in)
{
	int err = 0;

	for (size_t i = 0; i < t->edge_cnt && !err; i++) {
		const struct topology_edge *e = &t->edges[i];

		if (!e->shown)
			continue;
		insert_text(in, t->nodes[e->client].name);
		insert_text(in, t->nodes[e->server].name);
		insert_text(in, e->protocol);
		insert_int(in, e->calls);
		insert_int(in, e->errors);
		insert_int(in, e->request_bytes);
		insert_int(in, e->response_bytes);
		int_or_null(in, e->p50_ns);
		int_or_null(in, e->p99_ns);
		int_or_null(in, e->client_ns);
		int_or_null(in, e->server_ns);
		int_or_null(in, topology_network_ns(e));
		insert_int(in, e->unpaired);
		insert_text(in, *e->side ? e->side : NULL);
		err = insert_run(in);
	}
	return err;
}

static int make_tables(struct store *store, const struct topology *t)
{
	struct insert nodes = {0}, edges = {0};
	int err = store__exec(store, shown_sql);

	if (!err)
		err = insert_open(&nodes, store, "INSERT INTO shown_node VALUES(?,?,?,?,?,?,?)");
	if (!err)
		err = insert_open(&edges, store,
				  "INSERT INTO shown_edge VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
	if (!err)
		err = add_node_rows(t, &nodes);
	if (!err)
		err = add_edge_rows(t, &edges);
	insert_close(&nodes);
	insert_close(&edges);
	return err;
}

static int table(const struct analysis *a, const char *sql, const char *title, double seconds,
		 FILE *out)
{
	sqlite3 *db = store__db(a->store);
	struct table_style style = table_style_for(out);
	sqlite3_stmt *stmt = NULL;
	char head[128];
	int err = 0;

	snprintf(head, sizeof(head), "\n%s%s%s", style.colour ? "\033[1;36m" : "", title,
		 style.colour ? "\033[0m" : "");
	style.title = head;
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) ||
	    (sqlite3_bind_parameter_count(stmt) && sqlite3_bind_double(stmt, 1, seconds)) ||
	    table_write(stmt, &style, out) < 0) {
		message_error("topology: %s", sqlite3_errmsg(db));
		err = -EIO;
	}
	sqlite3_finalize(stmt);
	return err;
}

static int write_text(const struct analysis *a, struct topology *t, FILE *out)
{
	int err;

	traffic_note(a, out);
	if (t->merged)
		fprintf(out, "Merged    the %u services with the fewest calls (--limit)\n",
			t->merged);
	if (t->edge_cnt)
		fputs("Latency   " TOPOLOGY_RULE "\n", out);
	err = make_tables(a->store, t);
	if (!err)
		err = table(a, t->placed ? placed_sql : nodes_sql, "Services", t->seconds, out);
	if (!err)
		err = table(a, edges_sql, "Edges", t->seconds, out);
	if (!err)
		err = table(a, offsets_sql,
			    "Clock offsets, estimated from calls captured at "
			    "both ends",
			    0, out);
	if (!err && !t->edge_cnt)
		fputs("No connections.\n", out);
	return err;
}

static char *subtitle_of(const struct analysis *a, const struct topology *t)
{
	char *plain = analysis__subtitle(a, "traffic");
	struct strbuf b = {0};

	if (!plain)
		return NULL;
	strbuf_addf(&b, "%s", plain);
	free(plain);
	if (t->merged)
		strbuf_addf(&b, "; the %u services with the fewest calls are merged", t->merged);
	strbuf_addf(&b, "; latency " TOPOLOGY_RULE);
	if (b.failed)
		strbuf_fini(&b);
	return b.p;
}

static int write_it(const struct opts *o, const struct analysis *a, struct topology *t)
{
	char *subtitle = subtitle_of(a, t);
	struct output out;
	int err = subtitle ? output_open(&out, o->output ? o->output : "-", "", "", OUTPUT_STREAM)
			   : -ENOMEM;

	if (!err) {
		if (o->writer)
			o->writer->write(t, subtitle, out.file);
		else
			err = write_text(a, t, out.file);
		err = output_close(&out, err);
	}
	free(subtitle);
	return err;
}

static int topology(const struct opts *o, struct analysis *a)
{
	static const char *const tables[] = {"flow", "clock_offset", "capture", "loss", "unkept",
					     "late", "scaling",	     "twice",	NULL};
	struct topology t;
	int err = name_set_add_all(&a->load.wanted, tables);

	if (!err)
		err = load__run(&a->load);
	if (err)
		return err;
	analysis__warn(a);
	err = topology__load(&t, a);
	if (!err && (o->focus || o->depth) && topology__narrow(&t, o->focus, o->depth)) {
		message_error("topology: there is no service '%s'", o->focus);
		err = -ENOENT;
	}
	if (!err)
		err = topology__merge(&t, o->limited		       ? o->limit
					  : o->writer == &topology_svg ? LIMIT_SVG
								       : 0);
	if (!err)
		err = write_it(o, a, &t);
	topology__fini(&t);
	return err;
}

static int run(int argc, char **argv)
{
	struct opts o = {0};
	struct analysis a;
	int rest, code, err = cli_parse(&cli, &o, argc, argv, true, &rest, NULL);

	if (!err && rest >= argc) {
		message_error("topology: no archive given; see obana topology --help");
		err = -EINVAL;
	}
	if (!err)
		err = common_check_by(&o.common, "topology");
	if (!err)
		err = analysis__open(&a, &o.common, argv + rest, argc - rest, NULL);
	code = err ? exit_code(err) : analysis__close(&a, topology(&o, &a));
	common_opts_fini(&o.common);
	return code;
}

const struct command cmd_topology_entry = {.name = "topology", .cli = &cli, .run = run};
