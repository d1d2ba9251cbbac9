/* SPDX-License-Identifier: BSD-2-Clause */
/* Services and the edges between them, as input for drawing. Owns its strings. */
#ifndef ANALYZE_TOPOLOGY_H
#define ANALYZE_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/load/analysis.h"
#include "analyze/base/index.h"

struct topology_node {
	char *name;
	char *region, *cluster; /* from --services; several are joined with +; NULL: not known */
	int64_t calls_in, calls_out, errors_in, bytes;
	uint32_t merged; /* number of services this node stands for; 0: one */
	bool shown, focus;
};

struct topology_edge {
	uint32_t client, server; /* node indexes */
	char *protocol;		 /* NULL: not known */
	int64_t calls, errors, unpaired, request_bytes, response_bytes;
	int64_t p50_ns, p99_ns;	      /* -1: not known */
	int64_t client_ns, server_ns; /* mean latencies at both ends; -1: not known */
	char side[8];		      /* where p50_ns and p99_ns were measured; empty: not known */
	bool shown;
};

/* Which end's latency an edge shows. */
#define TOPOLOGY_RULE "client's, or server's if it paired twice the calls"

/* Saturating: a malicious archive may contain any numbers. */
static inline int64_t topology_add(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? a < 0 ? INT64_MIN : INT64_MAX : sum;
}

static inline int64_t topology_bytes(const struct topology_edge *e)
{
	return topology_add(e->request_bytes, e->response_bytes);
}

/* Mean time in the network; -1: not known. Where one end missed calls it may be below 0: not known,
 * either. */
static inline int64_t topology_network_ns(const struct topology_edge *e)
{
	return e->server_ns >= 0 && e->client_ns >= e->server_ns ? e->client_ns - e->server_ns : -1;
}

struct topology {
	struct topology_node *nodes;
	struct topology_edge *edges; /* by calls, descending */
	size_t node_cnt, node_cap, edge_cnt, edge_cap;
	double seconds;
	bool placed;	 /* at least one node has a region or cluster */
	uint32_t merged; /* services merged into other nodes */
	struct index by_name;
};

/* Reads the table flow, once it is loaded. 0 or negative errno, reported. */
int topology__load(struct topology *t, const struct analysis *a);
void topology__fini(struct topology *t);

/* Keeps the nodes within `depth` hops (0: any number) of `focus` or, if that is NULL, of the
 * services that nobody calls. -ENOENT: there is no such service. */
int topology__narrow(struct topology *t, const char *focus, unsigned depth);

/* Keeps at most `limit` of the services shown, those with the most calls. The others are merged:
 * into one node for pure clients, one for pure servers, one for the rest. 0 or -ENOMEM. */
int topology__merge(struct topology *t, size_t limit);

struct topology_writer {
	const char *name;
	void (*write)(const struct topology *t, const char *subtitle, FILE *out);
};
extern const struct topology_writer topology_dot, topology_svg, topology_json;

char *topology_rate(char *buf, double rate); /* calls per second; buf of 24 bytes */
/* Appends "1.2k/s 0.3% errors p50 1.2 ms p99 3 ms" to b. */
struct strbuf;
void topology_label(struct strbuf *b, const struct topology *t, const struct topology_edge *e);

#endif
