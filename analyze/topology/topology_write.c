/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a topology as Graphviz DOT and as JSON. */
#include <string.h>

#include "format/text.h"
#include "analyze/topology/topology.h"

/* ---- DOT ---- */

/* Escapes a DOT quoted string. */
static void put_dot(FILE *out, const char *s)
{
	struct strbuf b = {0};

	strbuf_escape(&b, ESCAPE_TERMINAL, span_of(s));
	fputc('"', out);
	for (const char *p = b.p ? b.p : ""; *p; p++) {
		if (*p == '"' || *p == '\\')
			fputc('\\', out);
		fputc(*p, out);
	}
	fputc('"', out);
	strbuf_fini(&b);
}

static bool same(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

/* The services of one cluster; Graphviz draws a box around a subgraph named cluster*. */
static void put_dot_place(const struct topology *t, const struct topology_node *place, FILE *out)
{
	for (size_t i = 0; i < t->node_cnt; i++) {
		const struct topology_node *n = &t->nodes[i];

		if (!n->shown || !same(n->region, place->region) ||
		    !same(n->cluster, place->cluster))
			continue;
		fprintf(out, "\tn%zu [label=", i);
		put_dot(out, n->name);
		fputs("];\n", out);
	}
}

static void begin_dot_box(FILE *out, size_t number, char level, const char *label)
{
	fprintf(out, "\tsubgraph cluster%c%zu {\n\tlabel=", level, number);
	put_dot(out, label);
	fputs(";\n", out);
}

static bool place_before(const struct topology *t, size_t i, bool region_only)
{
	for (size_t k = 0; k < i; k++)
		if (t->nodes[k].shown && same(t->nodes[k].region, t->nodes[i].region) &&
		    (region_only || same(t->nodes[k].cluster, t->nodes[i].cluster)))
			return true;
	return false;
}

/* All clusters of a region. */
static void put_dot_region(const struct topology *t, size_t first, FILE *out)
{
	const struct topology_node *r = &t->nodes[first];

	if (r->region)
		begin_dot_box(out, first, 'r', r->region);
	for (size_t i = first; i < t->node_cnt; i++) {
		const struct topology_node *n = &t->nodes[i];

		if (!n->shown || !same(n->region, r->region) || place_before(t, i, false))
			continue;
		if (n->cluster)
			begin_dot_box(out, i, 'c', n->cluster);
		put_dot_place(t, n, out);
		if (n->cluster)
			fputs("\t}\n", out);
	}
	if (r->region)
		fputs("\t}\n", out);
}

static void put_dot_nodes(const struct topology *t, FILE *out)
{
	static const struct topology_node nowhere;

	if (!t->placed) {
		put_dot_place(t, &nowhere, out);
		return;
	}
	for (size_t i = 0; i < t->node_cnt; i++)
		if (t->nodes[i].shown && !place_before(t, i, true))
			put_dot_region(t, i, out);
}

static void write_dot(const struct topology *t, const char *subtitle, FILE *out)
{
	fputs("digraph topology {\n\trankdir=LR;\n\tnode [shape=box, style=rounded];\n\tlabel=",
	      out);
	put_dot(out, subtitle);
	fputs(";\n", out);
	put_dot_nodes(t, out);
	for (size_t i = 0; i < t->edge_cnt; i++) {
		const struct topology_edge *e = &t->edges[i];
		struct strbuf label = {0};

		if (!e->shown)
			continue;
		topology_label(&label, t, e);
		fprintf(out, "\tn%u -> n%u [label=", e->client, e->server);
		put_dot(out, label.p ? label.p : "");
		fprintf(out, "%s];\n", e->errors ? ", color=\"#b91c1c\"" : "");
		strbuf_fini(&label);
	}
	fputs("}\n", out);
}

const struct topology_writer topology_dot = {"dot", write_dot};

/* ---- JSON ---- */

static void put_json(FILE *out, const char *key, const char *s)
{
	struct strbuf b = {0};

	strbuf_escape(&b, ESCAPE_JSON, span_of(s));
	if (s)
		fprintf(out, "\"%s\":\"%s\"", key, b.p ? b.p : "");
	else
		fprintf(out, "\"%s\":null", key);
	strbuf_fini(&b);
}

static void put_number(FILE *out, const char *key, int64_t v)
{
	if (v < 0)
		fprintf(out, ",\"%s\":null", key);
	else
		fprintf(out, ",\"%s\":%lld", key, (long long)v);
}

static void put_edge(const struct topology *t, const struct topology_edge *e, FILE *out)
{
	fputc('{', out);
	put_json(out, "client", t->nodes[e->client].name);
	fputc(',', out);
	put_json(out, "server", t->nodes[e->server].name);
	fputc(',', out);
	put_json(out, "protocol", e->protocol);
	fprintf(out, ",\"qps\":%.3f", e->calls / t->seconds);
	put_number(out, "calls", e->calls);
	put_number(out, "errors", e->errors);
	put_number(out, "unpaired", e->unpaired);
	put_number(out, "bytes", topology_bytes(e));
	put_number(out, "p50_ns", e->p50_ns);
	put_number(out, "p99_ns", e->p99_ns);
	put_number(out, "client_ns", e->client_ns);
	put_number(out, "server_ns", e->server_ns);
	if (topology_network_ns(e) >= 0)
		put_number(out, "network_ns", topology_network_ns(e));
	if (e->calls)
		fprintf(out, ",\"unpaired_share\":%.6f", 1.0 * e->unpaired / e->calls);
	fputc(',', out);
	put_json(out, "side", *e->side ? e->side : NULL);
	fputc('}', out);
}

static void write_json(const struct topology *t, const char *subtitle, FILE *out)
{
	bool first = true;

	fputs("{\"nodes\":[", out);
	for (size_t i = 0; i < t->node_cnt; i++) {
		const struct topology_node *n = &t->nodes[i];

		if (!n->shown)
			continue;
		fputs(first ? "{" : ",\n{", out);
		put_json(out, "name", n->name);
		if (t->placed) {
			fputc(',', out);
			put_json(out, "region", n->region);
			fputc(',', out);
			put_json(out, "cluster", n->cluster);
		}
		if (n->merged)
			put_number(out, "merged", n->merged);
		put_number(out, "calls_in", n->calls_in);
		put_number(out, "calls_out", n->calls_out);
		put_number(out, "errors_in", n->errors_in);
		fputc('}', out);
		first = false;
	}
	fputs("],\n\"edges\":[", out);
	first = true;
	for (size_t i = 0; i < t->edge_cnt; i++) {
		if (!t->edges[i].shown)
			continue;
		fputs(first ? "" : ",\n", out);
		put_edge(t, &t->edges[i], out);
		first = false;
	}
	fputs("],\n\"latency\":\"" TOPOLOGY_RULE "\"}\n", out);
}

const struct topology_writer topology_json = {"json", write_json};
