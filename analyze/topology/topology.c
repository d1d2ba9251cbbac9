/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/topology/topology.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "analyze/base/intern.h"
#include "analyze/traffic/services.h"
#include "analyze/traffic/traffic_note.h"

static bool node_equal(const void *owner, uint32_t i, const void *key)
{
	return !strcmp(((const struct topology *)owner)->nodes[i].name, key);
}

static int node_of(struct topology *t, const char *name, uint32_t *node)
{
	uint64_t hash;
	int err;

	name = name ? name : "";
	hash = intern_hash(span_of(name), index_seed);
	if (index_find(&t->by_name, node_equal, t, hash, name, node))
		return 0;
	*node = t->node_cnt;
	err = array_reserve(&t->nodes, &t->node_cap, t->node_cnt + 1);
	if (err)
		return err;
	t->nodes[*node] = (struct topology_node){.name = strdup(name), .shown = true};
	if (!t->nodes[*node].name)
		return -ENOMEM;
	t->node_cnt++;
	return index_add(&t->by_name, hash, *node);
}

static int64_t number_or(sqlite3_stmt *s, int col)
{
	return sqlite3_column_type(s, col) == SQLITE_NULL ? -1 : sqlite3_column_int64(s, col);
}

static void add_sums(struct topology *t, const struct topology_edge *e)
{
	struct topology_node *client = &t->nodes[e->client], *server = &t->nodes[e->server];

	client->calls_out = topology_add(client->calls_out, e->calls);
	client->bytes = topology_add(client->bytes, topology_bytes(e));
	server->calls_in = topology_add(server->calls_in, e->calls);
	server->errors_in = topology_add(server->errors_in, e->errors);
	if (client != server)
		server->bytes = topology_add(server->bytes, topology_bytes(e));
}

static int add_edge(struct topology *t, sqlite3_stmt *s)
{
	const char *protocol = (const char *)sqlite3_column_text(s, 2);
	struct topology_edge e = {
		.protocol = protocol ? strdup(protocol) : NULL,
		.calls = sqlite3_column_int64(s, 3),
		.errors = sqlite3_column_int64(s, 4),
		.request_bytes = sqlite3_column_int64(s, 5),
		.response_bytes = sqlite3_column_int64(s, 6),
		.p50_ns = number_or(s, 7),
		.p99_ns = number_or(s, 8),
		.client_ns = number_or(s, 9),
		.server_ns = number_or(s, 10),
		.unpaired = sqlite3_column_int64(s, 11),
		.shown = true,
	};
	const char *side = (const char *)sqlite3_column_text(s, 12);
	int err = node_of(t, (const char *)sqlite3_column_text(s, 0), &e.client);

	snprintf(e.side, sizeof(e.side), "%s", side ? side : "");
	if (!err)
		err = node_of(t, (const char *)sqlite3_column_text(s, 1), &e.server);
	if (!err)
		err = array_reserve(&t->edges, &t->edge_cap, t->edge_cnt + 1);
	if (err) {
		free(e.protocol);
		return err;
	}
	t->edges[t->edge_cnt++] = e;
	add_sums(t, &e);
	return 0;
}

/* Adds a region or cluster to the list of a service, which may be in several. */
static void add_part(char **list, const char *part)
{
	size_t len = strlen(part);
	char *longer;

	if (!len)
		return;
	for (const char *p = *list; p; p = strchr(p, '+') ? strchr(p, '+') + 1 : NULL)
		if (!strncmp(p, part, len) && (!p[len] || p[len] == '+'))
			return;
	if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? "+" : "", part) < 0)
		return;
	free(*list);
	*list = longer;
}

static void add_place(void *ctx, const struct service *service)
{
	struct topology *t = ctx;
	uint32_t node;

	if (!index_find(&t->by_name, node_equal, t, intern_hash(span_of(service->name), index_seed),
			service->name, &node))
		return;
	t->placed |= *service->region || *service->cluster;
	add_part(&t->nodes[node].region, service->region);
	add_part(&t->nodes[node].cluster, service->cluster);
}

int topology__load(struct topology *t, const struct analysis *a)
{
	sqlite3 *db = store__db(a->store);
	sqlite3_stmt *s = NULL;
	int err = 0;

	*t = (struct topology){.seconds = traffic_seconds(&a->load)};
	if (sqlite3_prepare_v2(
		    db,
		    "SELECT client, server, protocol, calls, errors, "
		    "request_bytes, response_bytes, p50_ns, p99_ns, client_ns, server_ns, "
		    "unpaired, side FROM flow "
		    "ORDER BY calls DESC, client, server, protocol",
		    -1, &s, NULL)) {
		message_error("topology: %s", sqlite3_errmsg(db));
		return -EIO;
	}
	while (!err && sqlite3_step(s) == SQLITE_ROW)
		err = add_edge(t, s);
	sqlite3_finalize(s);
	services__each(a->load.opts.traffic.services, add_place, t);
	if (err)
		message_error("topology: %s", strerror(-err));
	return err;
}

static void free_node(struct topology_node *n)
{
	free(n->name);
	free(n->region);
	free(n->cluster);
}

void topology__fini(struct topology *t)
{
	for (size_t i = 0; i < t->node_cnt; i++)
		free_node(&t->nodes[i]);
	for (size_t i = 0; i < t->edge_cnt; i++)
		free(t->edges[i].protocol);
	index_fini(&t->by_name);
	free(t->nodes);
	free(t->edges);
	*t = (struct topology){0};
}

/* Nodes called by other nodes. */
static bool *find_called(const struct topology *t)
{
	bool *called = calloc(t->node_cnt + 1, sizeof(*called));

	for (size_t i = 0; called && i < t->edge_cnt; i++)
		called[t->edges[i].server] |= t->edges[i].client != t->edges[i].server;
	return called;
}

/* Extends the selection by one hop; with `both`, against the direction of edges, too. False: no
 * node was added. */
static bool spread(struct topology *t, bool both)
{
	bool *near = calloc(t->node_cnt + 1, sizeof(*near)), grown = false;

	for (size_t i = 0; near && i < t->edge_cnt; i++) {
		const struct topology_edge *e = &t->edges[i];

		near[e->server] |= t->nodes[e->client].shown;
		near[e->client] |= both && t->nodes[e->server].shown;
	}
	for (size_t i = 0; near && i < t->node_cnt; i++) {
		grown |= near[i] && !t->nodes[i].shown;
		t->nodes[i].shown |= near[i];
	}
	free(near);
	return grown;
}

/* Also matches the part after a slash: "nginx" matches the nginx of a container. */
static bool is_named(const struct topology_node *n, const char *pattern)
{
	const char *slash = strrchr(n->name, '/');

	return !fnmatch(pattern, n->name, FNM_CASEFOLD) ||
	       (slash && !fnmatch(pattern, slash + 1, FNM_CASEFOLD));
}

int topology__narrow(struct topology *t, const char *focus, unsigned depth)
{
	bool found = false, *called = find_called(t);

	for (uint32_t i = 0; i < t->node_cnt; i++) {
		struct topology_node *n = &t->nodes[i];

		n->shown = focus ? is_named(n, focus) : !(called && called[i]);
		n->focus = focus && n->shown;
		n->calls_in = n->calls_out = n->errors_in = n->bytes = 0; /* of the shown part */
		found |= n->shown;
	}
	free(called);
	if (focus && !found)
		return -ENOENT;
	for (size_t i = 0; i < t->node_cnt && !found; i++) /* all nodes are called: cycles only */
		t->nodes[i].shown = true;
	for (unsigned hop = 0; hop < (depth ? depth : t->node_cnt); hop++)
		if (!spread(t, focus != NULL))
			break;
	for (size_t i = 0; i < t->edge_cnt; i++) {
		struct topology_edge *e = &t->edges[i];

		e->shown = t->nodes[e->client].shown && t->nodes[e->server].shown;
		if (e->shown)
			add_sums(t, e);
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
		strbuf_addf(b, " %s", format_bytes(x, topology_bytes(e)));
		return;
	}
	strbuf_addf(b, " %s/s", topology_rate(x, e->calls / t->seconds));
	if (e->errors)
		strbuf_addf(b, ", %.3g%% errors", 100.0 * e->errors / e->calls);
	if (e->unpaired)
		strbuf_addf(b, ", %.3g%% unpaired", 100.0 * e->unpaired / e->calls);
	if (e->p50_ns >= 0)
		strbuf_addf(b, ", p50 %s p99 %s", format_duration(x, e->p50_ns),
			    format_duration(y, e->p99_ns));
}
