/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections and messages. The stream `net` is read first, so that every connection is known when
 * its payload comes. Payload of different CPUs is not quite in order in the archive: it is held
 * back for half a second of record time and handed to the connections sorted.
 */
#include "load.h"

#include <errno.h>
#include <stdlib.h>

#include "../format/text.h"
#include "index.h"
#include "l7/l7.h"

#define HOLD_NS 500000000ULL

struct traffic;

struct conn {
	struct traffic *traffic;
	uint32_t capture;
	struct rec_connection rec; /* its strings are owned */
	uint64_t closed_ns, bytes[2], calls[2], retransmits;
	uint32_t srtt_us;
	bool tls;
	struct l7_conn *l7; /* NULL until payload comes */
};

/* A payload record held back, with a copy of its bytes. */
struct held {
	struct conn *conn;
	struct l7_piece piece;
	size_t data_at;
};

struct traffic {
	struct load *load;
	struct insert connection, message, stat;
	struct conn **conns;
	size_t conn_cnt, conn_cap;
	struct index by_id;
	struct held *held;
	size_t held_cnt, held_cap;
	char *data; /* of all held */
	size_t data_sz, data_cap;
	uint64_t newest_ns;
	int64_t message_id;
	bool messages; /* wanted: the table, or the protocols of connections */
	int err;
};

/* ---- connections ---- */

struct conn_key {
	uint32_t capture, id;
};

static uint64_t conn_hash(const void *owner, uint32_t entry)
{
	const struct conn *c = ((const struct traffic *)owner)->conns[entry];

	return hash_mix(capture_row(c->capture, c->rec.id));
}

static bool conn_equal(const void *owner, uint32_t entry, const void *key)
{
	const struct conn *c = ((const struct traffic *)owner)->conns[entry];
	const struct conn_key *k = key;

	return c->capture == k->capture && c->rec.id == k->id;
}

static const struct index_ops conn_ops = {conn_hash, conn_equal};

/* The connection of that id; one whose record was lost gets an empty one. NULL: out of memory. */
static struct conn *conn_of(struct traffic *t, uint32_t capture, uint32_t id)
{
	struct conn_key key = {capture, id};
	uint64_t hash = hash_mix(capture_row(capture, id));
	struct conn *c;
	uint32_t entry;

	if (index_find(&t->by_id, &conn_ops, t, hash, &key, &entry))
		return t->conns[entry];
	if (array_reserve(&t->conns, &t->conn_cap, t->conn_cnt + 1))
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->traffic = t;
	c->capture = capture;
	c->rec.id = id;
	t->conns[t->conn_cnt] = c;
	if (index_add(&t->by_id, &conn_ops, t, hash, t->conn_cnt)) {
		free(c);
		return NULL;
	}
	t->conn_cnt++;
	return c;
}

static struct span own(struct span old, struct span s)
{
	char *p = malloc(s.len + 1);

	free((char *)old.p);
	if (!p)
		return (struct span){NULL, 0};
	memcpy(p, s.p, s.len);
	return (struct span){p, s.len};
}

static void add_connection(struct conn *c, const struct rec_connection *r)
{
	struct span local = own(c->rec.local_addr, r->local_addr),
		    remote = own(c->rec.remote_addr, r->remote_addr);

	c->rec = *r;
	c->rec.local_addr = local;
	c->rec.remote_addr = remote;
}

static int add_stat(struct traffic *t, struct conn *c, const struct rec_connection_stat *r)
{
	struct insert *in = &t->stat;

	c->bytes[0] += r->bytes_sent;
	c->bytes[1] += r->bytes_received;
	c->calls[0] += r->sends;
	c->calls[1] += r->receives;
	c->retransmits += r->retransmits;
	if (r->srtt_us)
		c->srtt_us = r->srtt_us;
	if (!load__wants(t->load, "connection_stat"))
		return 0;
	insert_int(in, capture_row(c->capture, c->rec.id));
	insert_int(in, r->ts_ns + t->load->captures->v[c->capture].to_realtime);
	insert_int(in, r->bytes_sent);
	insert_int(in, r->bytes_received);
	insert_int(in, r->sends);
	insert_int(in, r->receives);
	insert_int(in, r->retransmits);
	insert_int(in, r->srtt_us);
	return insert_run(in);
}

/* ---- messages ---- */

static void bind_time(struct insert *in, const struct conn *c, uint64_t ns)
{
	insert_int(in, ns + c->traffic->load->captures->v[c->capture].to_realtime);
}

static void bind_span(struct insert *in, struct span s)
{
	if (s.len)
		insert_span(in, s);
	else
		insert_null(in);
}

/* Both sides' details in one object. */
static void bind_detail(struct insert *in, struct strbuf *b, const struct l7_message *q,
			const struct l7_message *a)
{
	struct span x = q ? q->detail : (struct span){"", 0},
		    y = a ? a->detail : (struct span){"", 0};

	if (x.len > 2 && y.len > 2) {
		strbuf_add(b, x.p, x.len - 1);
		strbuf_add(b, ",", 1);
		strbuf_add(b, y.p + 1, y.len - 1);
		insert_span(in, (struct span){b->p, b->len});
	} else {
		bind_span(in, x.len > 2 ? x : y);
	}
}

static void bind_times(struct insert *in, const struct conn *c, const struct l7_exchange *x)
{
	const struct l7_message *q = x->request, *a = x->response;

	if (q)
		bind_time(in, c, q->last_ns);
	else
		insert_null(in);
	if (a)
		bind_time(in, c, a->last_ns);
	else
		insert_null(in);
	/* Threads may read the clock in another order than the bytes passed. */
	if (x->paired)
		insert_int(in, a->last_ns > q->last_ns ? a->last_ns - q->last_ns : 0);
	else
		insert_null(in);
	if (x->paired)
		insert_int(in, a->first_ns > q->last_ns ? a->first_ns - q->last_ns : 0);
	else
		insert_null(in);
}

static void on_exchange(void *ctx, struct l7_conn *l7, const struct l7_exchange *x)
{
	struct conn *c = ctx;
	struct traffic *t = c->traffic;
	const struct l7_message *q = x->request, *a = x->response;
	struct span status = a ? a->status : q->status;
	struct strbuf detail = {0};
	struct insert *in = &t->message;

	if (t->err || !t->messages)
		return;
	insert_int(in, ++t->message_id);
	insert_int(in, capture_row(c->capture, c->rec.id));
	insert_text(in, l7_conn__protocol(l7) ? l7_conn__protocol(l7)->name : NULL);
	bind_span(in, q ? q->method : a->method);
	bind_span(in, q ? q->target : a->target);
	bind_span(in, status);
	insert_int(in, (a && a->is_error) || (q && q->is_error));
	bind_times(in, c, x);
	insert_int(in, q ? q->size : 0);
	insert_int(in, a ? a->size : 0);
	insert_int(in, x->paired);
	insert_int(in, q && q->type == L7_ONEWAY);
	bind_detail(in, &detail, q, a);
	t->err = insert_run(in);
	strbuf_fini(&detail);
}

static int start_l7(struct conn *c)
{
	const struct l7_conn_opts opts = {
		.role = c->rec.role == ROLE_CLIENT   ? L7_CLIENT
			: c->rec.role == ROLE_SERVER ? L7_SERVER
						     : L7_ROLE_UNKNOWN,
		.server_port = c->rec.role == ROLE_SERVER ? c->rec.local_port : c->rec.remote_port,
		.sink = on_exchange,
		.ctx = c,
	};

	return l7_conn__new(&c->l7, &opts);
}

/* ---- payload in the order of time ---- */

static int by_time(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	if (x->piece.ts_ns != y->piece.ts_ns)
		return x->piece.ts_ns < y->piece.ts_ns ? -1 : 1;
	/* Of one moment: what was received comes before what was sent because of it. */
	return (y->piece.dir == L7_RECEIVED) - (x->piece.dir == L7_RECEIVED);
}

/* Hands over what is older than `until_ns`. */
static int release(struct traffic *t, uint64_t until_ns)
{
	size_t n = 0, left, base;
	int err = 0;

	qsort(t->held, t->held_cnt, sizeof(*t->held), by_time);
	for (; n < t->held_cnt && t->held[n].piece.ts_ns <= until_ns && !err; n++) {
		struct held *h = &t->held[n];

		h->piece.data.p = t->data + h->data_at;
		err = h->conn->l7 ? 0 : start_l7(h->conn);
		if (!err)
			err = l7_conn__feed(h->conn->l7, &h->piece);
	}
	/* What stays moves to the front, its bytes in a new place. */
	left = t->held_cnt - n;
	memmove(t->held, t->held + n, left * sizeof(*t->held));
	t->held_cnt = left;
	if (left) {
		char *data = NULL;

		base = 0;
		for (size_t i = 0; i < left; i++)
			base += t->held[i].piece.data.len;
		data = malloc(base + 1);
		if (!data)
			return -ENOMEM;
		base = 0;
		for (size_t i = 0; i < left; i++) {
			memcpy(data + base, t->data + t->held[i].data_at,
			       t->held[i].piece.data.len);
			t->held[i].data_at = base;
			base += t->held[i].piece.data.len;
		}
		free(t->data);
		t->data = data;
		t->data_sz = base;
		t->data_cap = base + 1;
	} else {
		t->data_sz = 0;
	}
	return err ? err : t->err;
}

static int hold(struct traffic *t, uint32_t capture, const struct rec_payload *r)
{
	struct conn *c = conn_of(t, capture, r->connection);
	struct held *h;

	if (!c || array_reserve(&t->held, &t->held_cap, t->held_cnt + 1) ||
	    array_reserve(&t->data, &t->data_cap, t->data_sz + r->data.len + 1))
		return -ENOMEM;
	c->tls |= r->flags & PAYLOAD_TLS;
	h = &t->held[t->held_cnt++];
	*h = (struct held){
		.conn = c,
		.data_at = t->data_sz,
		.piece = {.dir = r->direction ? L7_RECEIVED : L7_SENT,
			  .pos = r->position,
			  .len = r->len,
			  .ts_ns = r->ts_ns,
			  .data.len = r->data.len,
			  .datagram = r->flags & PAYLOAD_DATAGRAM},
	};
	memcpy(t->data + t->data_sz, r->data.p, r->data.len);
	t->data_sz += r->data.len;
	if (r->ts_ns > t->newest_ns)
		t->newest_ns = r->ts_ns;
	return 0;
}

static int add_payload(struct traffic *t, uint32_t capture, const struct rec_payload *rows,
		       size_t cnt)
{
	int err = 0;

	/* Another capture has another clock. */
	if (t->held_cnt && t->held[0].conn->capture != capture) {
		err = release(t, UINT64_MAX);
		t->newest_ns = 0;
	}
	for (size_t i = 0; i < cnt && !err; i++)
		err = hold(t, capture, &rows[i]);
	if (!err && t->held_cnt && t->newest_ns > HOLD_NS)
		err = release(t, t->newest_ns - HOLD_NS);
	return err;
}

/* ---- the loader ---- */

static int traffic_begin(struct load *l, void **state)
{
	struct traffic *t = calloc(1, sizeof(*t));

	*state = t;
	if (!t)
		return -ENOMEM;
	t->load = l;
	t->messages = load__wants(l, "message");
	if (insert_open(
		    &t->connection, l->store,
		    "INSERT INTO connection VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)") ||
	    insert_open(&t->message, l->store,
			"INSERT INTO message VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)") ||
	    insert_open(&t->stat, l->store, "INSERT INTO connection_stat VALUES(?,?,?,?,?,?,?,?)"))
		return -EIO;
	return 0;
}

static int traffic_rows(struct load *l, void *state, uint32_t capture, enum rec_kind kind,
			const void *rows, size_t cnt)
{
	struct traffic *t = state;
	int err = 0;

	if ((int)kind == REC_payload)
		return add_payload(t, capture, rows, cnt);
	for (size_t i = 0; i < cnt && !err; i++) {
		struct conn *c;

		switch ((int)kind) {
		case REC_connection: {
			const struct rec_connection *r = (const struct rec_connection *)rows + i;

			c = conn_of(t, capture, r->id);
			if (c)
				add_connection(c, r);
			break;
		}
		case REC_connection_stat: {
			const struct rec_connection_stat *r =
				(const struct rec_connection_stat *)rows + i;

			c = conn_of(t, capture, r->connection);
			err = c ? add_stat(t, c, r) : 0;
			break;
		}
		case REC_connection_close: {
			const struct rec_connection_close *r =
				(const struct rec_connection_close *)rows + i;

			c = conn_of(t, capture, r->connection);
			if (c)
				c->closed_ns = r->closed_ns;
			break;
		}
		default:
			return 0;
		}
		if (!c)
			err = -ENOMEM;
	}
	return err;
}

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

/* What the recorder knew, else what the messages told. */
static const char *role_name(const struct conn *c)
{
	unsigned role = c->rec.role;

	if (role == ROLE_UNKNOWN && c->l7 && l7_conn__protocol(c->l7))
		role = l7_conn__role(c->l7) == L7_CLIENT ? ROLE_CLIENT : ROLE_SERVER;
	return role == ROLE_CLIENT ? "client" : role == ROLE_SERVER ? "server" : NULL;
}

static void optional_time(struct insert *in, const struct conn *c, uint64_t ns)
{
	if (ns)
		bind_time(in, c, ns);
	else
		insert_null(in);
}

static int write_connection(struct traffic *t, const struct conn *c)
{
	struct insert *in = &t->connection;

	insert_int(in, capture_row(c->capture, c->rec.id));
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
	insert_text(in, role_name(c));
	insert_text(in, c->l7 && l7_conn__protocol(c->l7) ? l7_conn__protocol(c->l7)->name : NULL);
	insert_int(in, c->tls);
	optional_time(in, c, c->rec.opened_ns);
	optional_time(in, c, c->closed_ns);
	insert_int(in, c->bytes[0]);
	insert_int(in, c->bytes[1]);
	insert_int(in, c->calls[0]);
	insert_int(in, c->calls[1]);
	insert_int(in, c->retransmits);
	insert_int(in, c->srtt_us);
	insert_int(in, c->rec.peer_pid);
	insert_int(in, c->rec.netns);
	insert_int(in, c->rec.sampled);
	return insert_run(in);
}

static int traffic_finish(struct load *l, void *state)
{
	struct traffic *t = state;
	int err = release(t, UINT64_MAX);

	for (size_t i = 0; i < t->conn_cnt && !err; i++) {
		struct conn *c = t->conns[i];

		if (c->l7)
			l7_conn__finish(c->l7);
		err = t->err ? t->err : write_connection(t, c);
	}
	return err;
}

static void traffic_free(void *state)
{
	struct traffic *t = state;

	if (!t)
		return;
	for (size_t i = 0; i < t->conn_cnt; i++) {
		struct conn *c = t->conns[i];

		l7_conn__free(c->l7);
		free((char *)c->rec.local_addr.p);
		free((char *)c->rec.remote_addr.p);
		free(c);
	}
	free(t->conns);
	index_fini(&t->by_id);
	free(t->held);
	free(t->data);
	insert_close(&t->connection);
	insert_close(&t->message);
	insert_close(&t->stat);
	free(t);
}

const struct loader load_traffic_entry = {
	.streams = (const char *const[]){"net", "payload", NULL},
	.tables = (const char *const[]){"connection", "connection_stat", "message", NULL},
	.begin = traffic_begin,
	.rows = traffic_rows,
	.finish = traffic_finish,
	.free = traffic_free,
};
