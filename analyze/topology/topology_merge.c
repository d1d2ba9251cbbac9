/* SPDX-License-Identifier: BSD-2-Clause */
/* Merges services, so that a topology of 60,000 callers can be drawn. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/topology/topology.h"

/* The kinds of merged nodes. */
enum kind { CALLERS, CALLED, BOTH, KIND_CNT };

static const char *const kind_names[] = {"other callers", "other called", "others"};

static const struct topology *sorting; /* qsort has no context */

/* Most important first. */
static int by_weight(const void *a, const void *b)
{
	const struct topology_node *x = &sorting->nodes[*(const uint32_t *)a],
				   *y = &sorting->nodes[*(const uint32_t *)b];
	double calls = ((double)x->calls_in + x->calls_out) - ((double)y->calls_in + y->calls_out);

	if (x->focus != y->focus)
		return x->focus ? -1 : 1;
	if (calls)
		return calls > 0 ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->name, y->name);
}

static const struct topology_edge *edge_at(const void *p)
{
	return p;
}

static int by_ends(const void *a, const void *b)
{
	const struct topology_edge *x = edge_at(a), *y = edge_at(b);

	if (x->shown != y->shown)
		return x->shown ? -1 : 1;
	if (x->client != y->client)
		return x->client < y->client ? -1 : 1;
	if (x->server != y->server)
		return x->server < y->server ? -1 : 1;
	return strcmp(x->protocol ? x->protocol : "", y->protocol ? y->protocol : "");
}

static int by_calls(const void *a, const void *b)
{
	const struct topology_edge *x = edge_at(a), *y = edge_at(b);
	int order;

	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	order = strcmp(sorting->nodes[x->client].name, sorting->nodes[y->client].name);
	if (!order)
		order = strcmp(sorting->nodes[x->server].name, sorting->nodes[y->server].name);
	return order ? order : by_ends(a, b);
}

static enum kind kind_of(unsigned ends)
{
	return ends == 1 ? CALLERS : ends == 2 ? CALLED : BOTH;
}

/* By node: bit 0: it calls, bit 1: it is called. */
static unsigned char *find_ends(const struct topology *t)
{
	unsigned char *ends = calloc(t->node_cnt + 1, 1);

	for (size_t i = 0; ends && i < t->edge_cnt; i++)
		if (t->edges[i].shown) {
			ends[t->edges[i].client] |= 1;
			ends[t->edges[i].server] |= 2;
		}
	return ends;
}

/* Adds a node that represents `cnt` nodes of a kind. */
static int add_group(struct topology *t, enum kind kind, uint32_t cnt, uint32_t *node)
{
	char *name;
	int err = array_reserve(&t->nodes, &t->node_cap, t->node_cnt + 1);

	if (err || asprintf(&name, "%u %s", cnt, kind_names[kind]) < 0)
		return -ENOMEM;
	*node = t->node_cnt;
	t->nodes[t->node_cnt++] =
		(struct topology_node){.name = name, .merged = cnt, .shown = true};
	return 0;
}

static void add_node(struct topology_node *to, struct topology_node *from)
{
	to->calls_in = topology_add(to->calls_in, from->calls_in);
	to->calls_out = topology_add(to->calls_out, from->calls_out);
	to->errors_in = topology_add(to->errors_in, from->errors_in);
	to->bytes = topology_add(to->bytes, from->bytes);
	from->shown = false;
}

/* Merges the nodes of `order` from `keep` on into groups; into[node] is the node's group. */
static int make_groups(struct topology *t, const uint32_t *order, size_t keep, size_t cnt,
		       uint32_t *into)
{
	unsigned char *ends = find_ends(t);
	uint32_t size[KIND_CNT] = {0}, group[KIND_CNT] = {0};
	int err = ends ? 0 : -ENOMEM;

	for (size_t i = keep; i < cnt && !err; i++)
		size[kind_of(ends[order[i]])]++;
	for (int k = 0; k < KIND_CNT && !err; k++)
		if (size[k] > 1) { /* a single node is not merged */
			err = add_group(t, k, size[k], &group[k]);
			t->merged += size[k];
		}
	for (size_t i = keep; i < cnt && !err; i++) {
		enum kind kind = kind_of(ends[order[i]]);
		uint32_t to = group[kind];

		if (size[kind] < 2)
			continue;
		add_node(&t->nodes[to], &t->nodes[order[i]]);
		into[order[i]] = to;
	}
	free(ends);
	return err;
}

/* Adds up edges. Percentiles are dropped, because they cannot be merged. */
static void add_edge(struct topology_edge *to, struct topology_edge *from)
{
	to->calls = topology_add(to->calls, from->calls);
	to->errors = topology_add(to->errors, from->errors);
	to->unpaired = topology_add(to->unpaired, from->unpaired);
	to->request_bytes = topology_add(to->request_bytes, from->request_bytes);
	to->response_bytes = topology_add(to->response_bytes, from->response_bytes);
	to->side[0] = 0;
	to->p50_ns = to->p99_ns = to->client_ns = to->server_ns = -1;
	free(from->protocol);
}

static void merge_edges(struct topology *t, const uint32_t *into)
{
	size_t left = 0;

	for (size_t i = 0; i < t->edge_cnt; i++) {
		t->edges[i].client = into[t->edges[i].client];
		t->edges[i].server = into[t->edges[i].server];
	}
	if (t->edge_cnt)
		qsort(t->edges, t->edge_cnt, sizeof(*t->edges), by_ends);
	for (size_t i = 0; i < t->edge_cnt; i++) {
		if (left && !by_ends(&t->edges[left - 1], &t->edges[i]))
			add_edge(&t->edges[left - 1], &t->edges[i]);
		else
			t->edges[left++] = t->edges[i];
	}
	t->edge_cnt = left;
	sorting = t;
	if (left)
		qsort(t->edges, left, sizeof(*t->edges), by_calls);
}

int topology__merge(struct topology *t, size_t limit)
{
	size_t cnt = 0, keep = limit > KIND_CNT ? limit - KIND_CNT : 1;
	uint32_t *order = calloc(t->node_cnt + 1, sizeof(*order)),
		 *into = calloc(t->node_cnt + 1, sizeof(*into));
	int err = order && into ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < t->node_cnt && !err; i++) {
		into[i] = i;
		if (t->nodes[i].shown)
			order[cnt++] = i;
	}
	if (!err && limit && cnt > limit) {
		sorting = t;
		qsort(order, cnt, sizeof(*order), by_weight);
		err = make_groups(t, order, keep, cnt, into);
		if (!err)
			merge_edges(t, into);
	}
	free(order);
	free(into);
	return err;
}
