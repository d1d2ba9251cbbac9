/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes connections and aggregated messages as rows. */
#include <math.h>

#include "format/text.h"
#include "analyze/traffic/traffic.h"
#include "analyze/traffic/traffic_note.h"
#include "analyze/traffic/traffic_twice.h"

static const char *transport_name(uint32_t transport)
{
	switch (transport) {
	case TRANSPORT_TCP:
		return "tcp";
	case TRANSPORT_UDP:
		return "udp";
	case TRANSPORT_UNIX_STREAM:
		return "unix";
	case TRANSPORT_UNIX_DGRAM:
		return "unix-dgram";
	}
	return NULL;
}

const char *traffic_role(const struct conn *c)
{
	return c->rec.role == ROLE_CLIENT ? "client" : c->rec.role == ROLE_SERVER ? "server" : NULL;
}

static void bind_span(struct insert *in, struct span s)
{
	if (s.len)
		insert_span(in, s);
	else
		insert_null(in);
}

static int64_t conn_row(const struct conn *c)
{
	return traffic_row(c);
}

static void seq_or_null(struct insert *in, const struct conn *c, enum l7_dir dir)
{
	if (c->anchored[dir])
		insert_int(in, c->anchor[dir]);
	else
		insert_null(in);
}

static void optional_time(struct insert *in, const struct conn *c, uint64_t ns)
{
	if (ns)
		insert_int(in, ns + c->traffic->load->captures->v[c->capture].to_realtime);
	else
		insert_null(in);
}

/* A connection with its parts in other archives. Times: of the archive of the best part. */
struct whole {
	uint64_t opened_ns, closed_ns, bytes[2], calls[2], retransmits;
	uint32_t protocol, other;
	bool tls;
};

static struct whole whole_of(const struct conn *c)
{
	struct whole w = {0};

	for (const struct conn *d = c;; d = c->traffic->conns[d->worse - 1]) {
		for (int i = 0; i < 2; i++) {
			w.bytes[i] += d->bytes[i];
			w.calls[i] += d->calls[i];
		}
		w.retransmits += d->retransmits;
		w.opened_ns = w.opened_ns ? w.opened_ns : d->rec.opened_ns;
		w.closed_ns = w.closed_ns ? w.closed_ns : d->closed_ns;
		w.protocol = w.protocol ? w.protocol : d->protocol;
		w.other = w.other ? w.other : d->other;
		w.tls |= d->tls;
		if (!d->worse)
			return w;
	}
}

static int write_connection(struct insert *in, const struct conn *c)
{
	const struct strings *names = c->traffic->strings;
	const struct conn *own = c->shares ? c->traffic->conns[c->shares - 1] : c;
	const struct whole w = whole_of(c);

	insert_int(in, conn_row(c));
	insert_int(in, capture_id(c->capture));
	if (c->rec.process)
		insert_int(in, capture_row(c->capture, c->rec.process));
	else
		insert_null(in);
	insert_text(in, transport_name(c->rec.transport));
	bind_span(in, c->rec.local_addr);
	insert_int(in, c->rec.local_port);
	bind_span(in, c->rec.remote_addr);
	insert_int(in, c->rec.remote_port);
	insert_text(in, traffic_role(c));
	insert_text(in, strings__get(names, own == c ? w.protocol : own->protocol));
	insert_int(in, w.tls);
	optional_time(in, c, w.opened_ns);
	optional_time(in, c, w.closed_ns);
	insert_int(in, w.bytes[0]);
	insert_int(in, w.bytes[1]);
	insert_int(in, w.calls[0]);
	insert_int(in, w.calls[1]);
	insert_int(in, w.retransmits);
	insert_int(in, c->srtt_us);
	insert_int(in, c->rec.peer_pid);
	insert_int(in, c->rec.netns);
	insert_int(in, c->rec.sampled);
	insert_text(in, strings__get(names, c->service));
	insert_text(in, strings__get(names, c->peer));
	if (w.other)
		insert_int(in, conn_row(c->traffic->conns[w.other - 1]));
	else
		insert_null(in);
	insert_int(in, traffic_counted(c));
	seq_or_null(in, c, L7_SENT);
	seq_or_null(in, c, L7_RECEIVED);
	if (own != c)
		insert_int(in, conn_row(own));
	else
		insert_null(in);
	return insert_run(in);
}

int traffic_write_connections(struct traffic *t)
{
	struct insert in;
	int err = insert_open(&in, t->load->store,
			      "INSERT INTO connection VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
			      "?,?,?,?,?,?,?,?,?,?)");

	for (size_t i = 0; i < t->conn_cnt && !err; i++)
		if (!t->conns[i]->better)
			err = write_connection(&in, t->conns[i]);
	insert_close(&in);
	return err;
}

/* ---- aggregates ---- */

static const struct {
	const char *name;
	unsigned parts;
} levels[] = {
	{"protocol", BY_ROLE | BY_SERVICE | BY_PROTOCOL},
	{"peer", BY_ROLE | BY_SERVICE | BY_PEER | BY_PROTOCOL},
	{"endpoint", 0}, /* merge_endpoints */
	{"method", BY_ROLE | BY_SERVICE | BY_PEER | BY_PROTOCOL | BY_METHOD},
	{"call", BY_ALL & ~BY_SLOT},
};

static void latency_or_null(struct insert *in, const struct latency *l)
{
	const uint64_t v[] = {
		l->min,
		l->cnt ? l->sum / l->cnt : 0,
		latency__percentile(l, 50),
		latency__percentile(l, 95),
		latency__percentile(l, 99),
		l->max,
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++)
		if (l->cnt)
			insert_int(in, v[i]);
		else
			insert_null(in);
}

/* Scales a value that was counted without weights. */
static int64_t scaled(const struct figure *g, uint64_t v)
{
	return g->calls == g->seen || !g->seen ? (int64_t)v : llround(v * (g->calls / g->seen));
}

static int write_figure(struct traffic *t, struct insert *in, const char *level,
			const struct figure *g)
{
	const struct figure_key *k = &g->key;
	const uint32_t names[] = {k->role, k->service, k->peer, k->protocol, k->method, k->target};
	const double sums[] = {g->calls, g->errors, g->unpaired, g->request_bytes,
			       g->response_bytes};

	insert_text(in, level);
	if (k->slot)
		insert_int(in, t->start_ns + (k->slot - 1) * t->load->opts.traffic.interval_ns);
	else
		insert_null(in);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		insert_text(in, strings__get(t->strings, names[i]));
	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
		insert_int(in, llround(sums[i]));
	latency_or_null(in, &g->latency);
	insert_int(in, g->first_ns);
	insert_int(in, g->last_ns);
	insert_int(in, g->connection_id);
	insert_int(in, scaled(g, g->latency.cnt));
	insert_int(in, scaled(g, g->latency.sum));
	insert_int(in, g->repeated);
	return insert_run(in);
}

/* Usual bucket bounds for request durations; the last one holds all. */
static const uint64_t steps_us[] = {50,	    100,     250,     500,     1000,	2500,
				    5000,   10000,   25000,   50000,   100000,	250000,
				    500000, 1000000, 2500000, 5000000, 10000000};

static int write_buckets(struct traffic *t, const struct figure *g)
{
	int64_t figure = sqlite3_last_insert_rowid(store__db(t->load->store));
	struct insert in;
	int err = insert_open(&in, t->load->store, "INSERT INTO figure_bucket VALUES(?,?,?)");

	for (size_t i = 0; i < sizeof(steps_us) / sizeof(*steps_us) && !err; i++) {
		insert_int(&in, figure);
		insert_int(&in, 1000 * steps_us[i]);
		insert_int(&in, scaled(g, latency__at_most(&g->latency, 1000 * steps_us[i])));
		err = insert_run(&in);
	}
	insert_close(&in);
	return err;
}

/* An endpoint belongs to the service that serves it: for outgoing calls, the other end. */
static int merge_endpoints(struct figures **out, const struct traffic *t)
{
	uint32_t server = strings__add(t->strings, span_of("server"));
	int err = figures__new(out);

	for (size_t i = 0; !err && i < figures__cnt(t->figures); i++) {
		const struct figure *g = figures__get(t->figures, i);
		struct figure_key key = g->key;

		if (key.role != server)
			key.service = key.peer;
		key.peer = 0;
		err = figures__put(*out, &key, g);
	}
	return err;
}

static int write_level(struct traffic *t, struct insert *in, const char *name, unsigned parts)
{
	struct figures *f = NULL;
	int err = parts ? figures__merge(&f, t->figures, parts | BY_SLOT) : merge_endpoints(&f, t);
	bool buckets = !strcmp(name, "method");

	for (size_t i = 0; !err && i < figures__cnt(f); i++) {
		err = write_figure(t, in, name, figures__get(f, i));
		if (!err && buckets)
			err = write_buckets(t, figures__get(f, i));
	}
	figures__free(f);
	return err;
}

int traffic_write_figures(struct traffic *t)
{
	struct insert in;
	int err = insert_open(
		&in, t->load->store,
		"INSERT INTO figure VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");

	if (!err)
		err = traffic_mark_repeats(t);
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels) && !err; i++)
		err = write_level(t, &in, levels[i].name, levels[i].parts);
	insert_close(&in);
	return err;
}
