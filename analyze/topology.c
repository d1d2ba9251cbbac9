/* SPDX-License-Identifier: BSD-2-Clause */
#include "topology.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "../format/text.h"
#include "intern.h"
#include "traffic_note.h"

static uint64_t node_hash(const void *owner, uint32_t i)
{
	return intern_hash(span_of(((const struct topology *)owner)->nodes[i].name), index_seed);
}

static bool node_equal(const void *owner, uint32_t i, const void *key)
{
	return !strcmp(((const struct topology *)owner)->nodes[i].name, key);
}

static const struct index_ops node_ops = {node_hash, node_equal};

static int node_of(struct topology *t, const char *name, uint32_t *node)
{
	uint64_t hash;
	int err;

	name = name ? name : "";
	hash = intern_hash(span_of(name), index_seed);
	if (index_find(&t->by_name, &node_ops, t, hash, name, node))
		return 0;
	*node = t->node_cnt;
	err = array_reserve(&t->nodes, &t->node_cap, t->node_cnt + 1);
	if (err)
		return err;
	t->nodes[*node] = (struct topology_node){.name = strdup(name), .shown = true};
	if (!t->nodes[*node].name)
		return -ENOMEM;
	t->node_cnt++;
	return index_add(&t->by_name, &node_ops, t, hash, *node);
}

bool topology__shows(const struct topology *t, const char *name)
{
	uint32_t node;

	name = name ? name : "";
	return index_find(&t->by_name, &node_ops, t, intern_hash(span_of(name), index_seed), name,
			  &node) &&
	       t->nodes[node].shown;
}

static int64_t number_or(sqlite3_stmt *s, int col)
{
	return sqlite3_column_type(s, col) == SQLITE_NULL ? -1 : sqlite3_column_int64(s, col);
}

static int add_edge(struct topology *t, sqlite3_stmt *s)
{
	const char *protocol = (const char *)sqlite3_column_text(s, 2);
	struct topology_edge e = {
		.protocol = protocol ? strdup(protocol) : NULL,
		.calls = sqlite3_column_int64(s, 3),
		.errors = sqlite3_column_int64(s, 4),
		.bytes = sqlite3_column_int64(s, 5),
		.p50_ns = number_or(s, 6),
		.p99_ns = number_or(s, 7),
		.client_ns = number_or(s, 8),
		.server_ns = number_or(s, 9),
		.shown = true,
	};
	int err = node_of(t, (const char *)sqlite3_column_text(s, 0), &e.client);

	if (!err)
		err = node_of(t, (const char *)sqlite3_column_text(s, 1), &e.server);
	if (!err)
		err = array_reserve(&t->edges, &t->edge_cap, t->edge_cnt + 1);
	if (err) {
		free(e.protocol);
		return err;
	}
	t->edges[t->edge_cnt++] = e;
	t->nodes[e.client].calls_out += e.calls;
	t->nodes[e.server].calls_in += e.calls;
	t->nodes[e.server].errors_in += e.errors;
	return 0;
}

int topology__load(struct topology *t, const struct analysis *a)
{
	sqlite3 *db = store__db(a->store);
	sqlite3_stmt *s = NULL;
	int err = 0;

	*t = (struct topology){.seconds = traffic_seconds(&a->load)};
	if (sqlite3_prepare_v2(db,
			       "SELECT client, server, protocol, calls, errors, request_bytes + "
			       "response_bytes, p50_ns, p99_ns, client_ns, server_ns FROM flow "
			       "ORDER BY calls DESC, client, server, protocol",
			       -1, &s, NULL)) {
		message_error("topology: %s", sqlite3_errmsg(db));
		return -EIO;
	}
	while (!err && sqlite3_step(s) == SQLITE_ROW)
		err = add_edge(t, s);
	sqlite3_finalize(s);
	if (err)
		message_error("topology: %s", strerror(-err));
	return err;
}

void topology__fini(struct topology *t)
{
	for (size_t i = 0; i < t->node_cnt; i++)
		free(t->nodes[i].name);
	for (size_t i = 0; i < t->edge_cnt; i++)
		free(t->edges[i].protocol);
	index_fini(&t->by_name);
	free(t->nodes);
	free(t->edges);
	*t = (struct topology){0};
}

/* Those somebody else calls. */
static bool *find_called(const struct topology *t)
{
	bool *called = calloc(t->node_cnt + 1, sizeof(*called));

	for (size_t i = 0; called && i < t->edge_cnt; i++)
		called[t->edges[i].server] |= t->edges[i].client != t->edges[i].server;
	return called;
}

/* One hop further; with `both`, against the edges as well. */
static void spread(struct topology *t, bool both)
{
	bool *near = calloc(t->node_cnt + 1, sizeof(*near));

	for (size_t i = 0; near && i < t->edge_cnt; i++) {
		const struct topology_edge *e = &t->edges[i];

		near[e->server] |= t->nodes[e->client].shown;
		near[e->client] |= both && t->nodes[e->server].shown;
	}
	for (size_t i = 0; near && i < t->node_cnt; i++)
		t->nodes[i].shown |= near[i];
	free(near);
}

int topology__narrow(struct topology *t, const char *focus, unsigned depth)
{
	bool found = false, *called = find_called(t);

	for (uint32_t i = 0; i < t->node_cnt; i++) {
		struct topology_node *n = &t->nodes[i];

		n->shown = focus ? !fnmatch(focus, n->name, FNM_CASEFOLD) : !(called && called[i]);
		found |= n->shown;
	}
	free(called);
	if (focus && !found)
		return -ENOENT;
	for (size_t i = 0; i < t->node_cnt && !found; i++) /* all are called, in circles */
		t->nodes[i].shown = true;
	for (unsigned hop = 0; hop < (depth ? depth : t->node_cnt); hop++)
		spread(t, focus != NULL);
	for (size_t i = 0; i < t->edge_cnt; i++) {
		struct topology_edge *e = &t->edges[i];

		e->shown = t->nodes[e->client].shown && t->nodes[e->server].shown;
	}
	return 0;
}

char *topology_rate(char *buf, double rate)
{
	if (rate >= 1000)
		return format_count(buf, rate);
	snprintf(buf, 24, "%.3g", rate);
	return buf;
}

void topology_label(struct strbuf *b, const struct topology *t, const struct topology_edge *e)
{
	char x[24], y[24];

	strbuf_escape(b, ESCAPE_TERMINAL, span_of(e->protocol ? e->protocol : "bytes"));
	if (!e->calls) {
		strbuf_addf(b, " %s", format_bytes(x, e->bytes));
		return;
	}
	strbuf_addf(b, " %s/s", topology_rate(x, e->calls / t->seconds));
	if (e->errors)
		strbuf_addf(b, ", %.3g%% errors", 100.0 * e->errors / e->calls);
	if (e->p50_ns >= 0)
		strbuf_addf(b, ", p50 %s p99 %s", format_duration(x, e->p50_ns),
			    format_duration(y, e->p99_ns));
}

/* ---- DOT ---- */

/* As DOT's quoted strings want it. */
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

static void write_dot(const struct topology *t, const char *subtitle, FILE *out)
{
	fputs("digraph topology {\n\trankdir=LR;\n\tnode [shape=box, style=rounded];\n\tlabel=",
	      out);
	put_dot(out, subtitle);
	fputs(";\n", out);
	for (size_t i = 0; i < t->node_cnt; i++) {
		if (!t->nodes[i].shown)
			continue;
		fprintf(out, "\tn%zu [label=", i);
		put_dot(out, t->nodes[i].name);
		fputs("];\n", out);
	}
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
	put_number(out, "bytes", e->bytes);
	put_number(out, "p50_ns", e->p50_ns);
	put_number(out, "p99_ns", e->p99_ns);
	put_number(out, "client_ns", e->client_ns);
	put_number(out, "server_ns", e->server_ns);
	if (e->client_ns >= 0 && e->server_ns >= 0)
		fprintf(out, ",\"network_ns\":%lld", (long long)(e->client_ns - e->server_ns));
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
	fputs("]}\n", out);
}

const struct topology_writer topology_json = {"json", write_json};
