/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of one end of connections whose other end was recorded as well. */
#include "analyze/traffic/traffic.h"

/* The same calls at the other end. */
static const struct figure *other_end(const struct traffic *t, const struct figure *g,
				      uint32_t client, uint32_t server)
{
	const struct conn *c = g->key.connection ? t->conns[g->key.connection - 1] : NULL;
	struct figure_key key = g->key;

	if (!c)
		return NULL;
	key.role = key.role == server ? client : server;
	key.service = g->key.peer;
	key.peer = g->key.service;
	if (c->other) /* datagrams are found by the client's socket at both ends */
		key.connection = c->other;
	return figures__find(t->edges, &key);
}

/* Of two ends the server's is shown, unless the client's has more complete calls. */
static bool repeats(const struct traffic *t, const struct figure *g, uint32_t client,
		    uint32_t server)
{
	const struct figure *other = other_end(t, g, client, server);

	if (!other)
		return false;
	return g->key.role == server ? other->latency.cnt > g->latency.cnt
				     : other->latency.cnt >= g->latency.cnt;
}

static struct figure_key sides_of(const struct figure_key *k)
{
	return (struct figure_key){
		.role = k->role, .service = k->service, .peer = k->peer, .protocol = k->protocol};
}

int traffic_mark_repeats(const struct traffic *t)
{
	uint32_t client = strings__add(t->strings, span_of("client")),
		 server = strings__add(t->strings, span_of("server"));
	struct figures *own = NULL;
	int err = figures__new(&own);

	for (size_t i = 0; i < figures__cnt(t->edges) && !err; i++) {
		const struct figure *g = figures__get(t->edges, i);
		struct figure_key key = sides_of(&g->key);

		if (!repeats(t, g, client, server))
			err = figures__put(own, &key, g);
	}
	for (size_t i = 0; i < figures__cnt(t->figures) && !err; i++) {
		struct figure_key key = sides_of(&figures__get(t->figures, i)->key);

		if (!figures__find(own, &key))
			figures__set_repeated(t->figures, i);
	}
	figures__free(own);
	return err;
}
