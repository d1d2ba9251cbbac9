/* SPDX-License-Identifier: BSD-2-Clause */
/* Edges between services. Messages of connections with both ends in the archives count once; the
 * difference between the two ends is the network time. */
#include <math.h>

#include "format/text.h"
#include "analyze/traffic/traffic.h"
#include "analyze/traffic/traffic_twice.h"

enum { CLIENT, SERVER, SIDES };

struct flows {
	struct figures *counted;
	struct figures *both[SIDES];  /* same calls, of connections with both ends */
	struct figures *alone[SIDES]; /* calls of which only this end was recorded */
};

static void flows_free(struct flows *f)
{
	figures__free(f->counted);
	for (int side = 0; side < SIDES; side++) {
		figures__free(f->both[side]);
		figures__free(f->alone[side]);
	}
}

/* service is the client, peer the server. */
static struct figure_key edge_key(const struct figure_key *k, bool server)
{
	return (struct figure_key){
		.service = server ? k->peer : k->service,
		.peer = server ? k->service : k->peer,
		.protocol = k->protocol,
	};
}

/* If both ends were recorded, one of them counts. Datagrams have no connection: they count at the
 * client's socket. Ends found not to match count separately. */
static bool is_counted(const struct conn *c, bool served)
{
	if (!c || c->other)
		return !c || traffic_counted(c);
	return c->rec.transport != TRANSPORT_UDP || !served || !c->messages;
}

static bool both_ends(const struct traffic *t, const struct conn *c)
{
	if (!c || c->other)
		return c && t->conns[c->other - 1]->messages;
	return c->rec.transport == TRANSPORT_UDP && c->messages;
}

static int add_messages(struct traffic *t, struct flows *f)
{
	uint32_t server = strings__add(t->strings, span_of("server"));
	int err = 0;

	for (size_t i = 0; i < figures__cnt(t->edges) && !err; i++) {
		const struct figure *g = figures__get(t->edges, i);
		const struct conn *c = g->key.connection ? t->conns[g->key.connection - 1] : NULL;
		bool served = g->key.role == server;
		struct figure_key key = edge_key(&g->key, served);

		if (is_counted(c, served))
			err = figures__put(f->counted, &key, g);
		if (!err && both_ends(t, c))
			err = figures__put(f->both[served ? SERVER : CLIENT], &key, g);
		else if (!err && is_counted(c, served))
			err = figures__put(f->alone[served ? SERVER : CLIENT], &key, g);
	}
	return err;
}

/* Adds connections without messages (encrypted, unrecognized or not parsed) for their bytes. */
static int add_silent(struct traffic *t, struct flows *f)
{
	int err = 0;

	for (size_t i = 0; i < t->conn_cnt && !err; i++) {
		const struct conn *c = t->conns[i], *d = c->other ? t->conns[c->other - 1] : NULL;
		bool served = c->rec.role == ROLE_SERVER ||
			      (!c->rec.role && c->rec.local_port < c->rec.remote_port);
		struct figure silent = {
			.key = {.service = c->service, .peer = c->peer},
			.request_bytes = c->bytes[served ? L7_RECEIVED : L7_SENT],
			.response_bytes = c->bytes[served ? L7_SENT : L7_RECEIVED],
		};
		struct figure_key key = edge_key(&silent.key, served);
		struct span addr;

		if (!c->other)
			traffic_datagram_peer(c, 0, 0, &addr, &d);
		if (c->shares && t->conns[c->shares - 1]->messages)
			continue;
		if (c->twice || traffic_has_messages(c) ||
		    (d && (d->messages || (c->other && d->number < c->number))) ||
		    (!c->bytes[0] && !c->bytes[1]))
			continue;
		key.protocol = strings__add(t->strings, span_of(c->tls ? "tls" : ""));
		err = figures__put(f->counted, &key, &silent);
	}
	return err;
}

static void int_or_null(struct insert *in, bool known, int64_t v)
{
	if (known)
		insert_int(in, v);
	else
		insert_null(in);
}

/* What the latency of an edge is taken from: TOPOLOGY_RULE. */
struct timed {
	const char *side; /* NULL: no call has a latency */
	struct latency latency;
	double unpaired;
};

static int add_timed(struct timed *d, const struct figure *g, int side)
{
	static const char *const names[SIDES] = {"client", "server"};

	if (!g)
		return 0;
	d->unpaired += g->unpaired;
	if (g->latency.cnt)
		d->side = d->side && d->side != names[side] ? "both" : names[side];
	return latency__merge(&d->latency, &g->latency);
}

/* Of the calls of connections with both ends, one end's. */
static int side_of(const struct figure *client, const struct figure *server)
{
	if (!client || !server)
		return client ? CLIENT : SERVER;
	return server->latency.cnt && server->latency.cnt >= 2 * client->latency.cnt ? SERVER
										     : CLIENT;
}

static int find_timed(struct timed *d, const struct flows *f, const struct figure_key *key)
{
	const struct figure *both[SIDES] = {figures__find(f->both[CLIENT], key),
					    figures__find(f->both[SERVER], key)};
	int side = side_of(both[CLIENT], both[SERVER]), err = add_timed(d, both[side], side);

	for (side = 0; side < SIDES && !err; side++)
		err = add_timed(d, figures__find(f->alone[side], key), side);
	return err;
}

static int64_t mean_of(const struct figure *g)
{
	return g && g->latency.cnt ? (int64_t)(g->latency.sum / g->latency.cnt) : -1;
}

static int write_flow(const struct traffic *t, struct insert *in, const struct flows *f,
		      const struct figure *g)
{
	const struct figure *ends[SIDES] = {figures__find(f->both[CLIENT], &g->key),
					    figures__find(f->both[SERVER], &g->key)};
	/* means of other calls would differ by more than the network's time */
	bool alike = ends[CLIENT] && ends[SERVER] && side_of(ends[CLIENT], ends[SERVER]) == CLIENT;
	int64_t client = alike ? mean_of(ends[CLIENT]) : -1,
		server = alike ? mean_of(ends[SERVER]) : -1;
	const char *protocol = strings__get(t->strings, g->key.protocol);
	struct timed d = {0};
	const struct latency *l = &d.latency;
	int err = find_timed(&d, f, &g->key);

	insert_text(in, strings__get(t->strings, g->key.service));
	insert_text(in, strings__get(t->strings, g->key.peer));
	insert_text(in, protocol && *protocol ? protocol : NULL);
	insert_int(in, llround(g->calls));
	insert_int(in, llround(g->errors));
	insert_int(in, llround(g->request_bytes));
	insert_int(in, llround(g->response_bytes));
	int_or_null(in, l->cnt, latency__percentile(l, 50));
	int_or_null(in, l->cnt, latency__percentile(l, 95));
	int_or_null(in, l->cnt, latency__percentile(l, 99));
	int_or_null(in, l->cnt, l->cnt ? l->sum / l->cnt : 0);
	int_or_null(in, client >= 0, client);
	int_or_null(in, server >= 0, server);
	insert_int(in, llround(d.unpaired < g->calls ? d.unpaired : g->calls));
	insert_text(in, d.side);
	latency__fini(&d.latency);
	return err ? err : insert_run(in);
}

int traffic_write_flows(struct traffic *t)
{
	struct flows f = {0};
	struct insert in = {0};
	int err = figures__new(&f.counted);

	for (int side = 0; side < SIDES && !err; side++) {
		err = figures__new(&f.both[side]);
		if (!err)
			err = figures__new(&f.alone[side]);
	}
	if (!err)
		err = add_messages(t, &f);
	if (!err && !t->filtered)
		err = add_silent(t, &f);
	if (!err)
		err = insert_open(&in, t->load->store,
				  "INSERT INTO flow VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
	for (size_t i = 0; !err && i < figures__cnt(f.counted); i++)
		err = write_flow(t, &in, &f, figures__get(f.counted, i));
	insert_close(&in);
	flows_free(&f);
	return err;
}
