/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections and messages. The stream `net` is read first, of all captures, so that every
 * connection and its other end are known when payload comes.
 */
#include <errno.h>

#include "../format/text.h"
#include "traffic.h"
#include "traffic_note.h"

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
	c->number = t->conn_cnt;
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
	c->tls |= !!r->tls;
}

static int add_stat(struct traffic *t, struct conn *c, const struct rec_connection_stat *r)
{
	struct insert *in = &t->stat;
	uint64_t at = r->ts_ns + t->load->captures->v[c->capture].to_realtime;

	if (at < t->spans[c->capture][0] || at >= t->spans[c->capture][1])
		return 0;
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
	insert_int(in, at);
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

/* Threads may read the clock in another order than the bytes passed. */
static uint64_t latency_of(const struct l7_exchange *x)
{
	uint64_t from = x->request->last_ns, to = x->response->last_ns;

	return to > from ? to - from : 0;
}

/* The message's own (gRPC over HTTP/2), else its connection's. */
static uint32_t protocol_of(const struct conn *c, const struct l7_exchange *x)
{
	const char *own = (x->request ? x->request : x->response)->protocol;

	return own ? strings__add(c->traffic->strings, span_of(own)) : c->protocol;
}

/* The datagram's, else its connection's. */
static uint32_t peer_of(const struct conn *c, const struct l7_exchange *x, struct span *addr,
			const struct conn **other)
{
	const struct l7_message *m = x->request ? x->request : x->response;

	*addr = c->rec.remote_addr;
	*other = c->other ? c->traffic->conns[c->other - 1] : NULL;
	if (c->rec.transport != TRANSPORT_UDP || *other)
		return c->peer;
	return traffic_datagram_peer(c, m->peer, m->last_ns, addr, other);
}

static int add_row(struct conn *c, const struct l7_exchange *x, struct span status)
{
	const struct l7_message *q = x->request, *a = x->response;
	struct traffic *t = c->traffic;
	struct strbuf detail = {0};
	struct insert *in = &t->message;
	uint32_t peer = (q ? q : a)->peer;
	const struct conn *other;
	struct span addr;
	int err;

	insert_int(in, ++t->message_id);
	insert_int(in, capture_row(c->capture, c->rec.id));
	insert_text(in, strings__get(t->strings, protocol_of(c, x)));
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
	insert_text(in, peer ? strings__get(t->strings, peer_of(c, x, &addr, &other)) : NULL);
	insert_text(in, strings__get(t->strings, peer));
	err = insert_run(in);
	strbuf_fini(&detail);
	if (!err && t->load->opts.traffic.max_messages == (uint64_t)t->message_id)
		err = LOAD_ENOUGH;
	return err;
}

static uint32_t slot_of(const struct traffic *t, uint64_t at_ns)
{
	uint64_t start = traffic_start_ns(t->load->captures),
		 interval = t->load->opts.traffic.interval_ns;

	if (!interval)
		return 0;
	return at_ns > start ? (at_ns - start) / interval + 1 : 1;
}

static int add_figure(struct conn *c, const struct l7_exchange *x, uint64_t at_ns)
{
	const struct l7_message *q = x->request, *a = x->response;
	struct traffic *t = c->traffic;
	const struct conn *other;
	struct span addr;
	uint32_t peer = peer_of(c, x, &addr, &other);
	struct figure_key key = {
		.role = c->role,
		.service = c->service,
		.peer = peer,
		.protocol = protocol_of(c, x),
		.slot = slot_of(t, at_ns),
	};
	const struct figure_call call = {
		.error = (a && a->is_error) || (q && q->is_error),
		.unpaired = !x->paired && !(q && q->type == L7_ONEWAY),
		.timed = x->paired,
		.weight = 1 / t->load->captures->v[c->capture].sample,
		.at_ns = at_ns,
		.latency_ns = x->paired ? latency_of(x) : 0,
		.request_bytes = q ? q->size : 0,
		.response_bytes = a ? a->size : 0,
		.connection_id = capture_row(c->capture, c->rec.id),
	};

	if (t->flows && other) /* datagrams are told apart by their client's socket */
		key.connection = (c->other || c->rec.role == ROLE_CLIENT ? c : other)->number + 1;
	if (!t->load->opts.traffic.by_connection) {
		key.method = strings__add(t->strings, (q ? q : a)->method);
		key.target = strings__add(t->strings, (q ? q : a)->target);
	}
	return figures__add(t->figures, &key, &call);
}

static struct span name_span(const struct traffic *t, uint32_t id)
{
	return span_of(strings__get(t->strings, id));
}

static bool is_wanted(struct conn *c, const struct l7_exchange *x, struct span status)
{
	const struct l7_message *q = x->request, *a = x->response;
	struct traffic *t = c->traffic;
	const struct conn *other;
	struct span addr;
	uint32_t peer = peer_of(c, x, &addr, &other);
	const struct message_facts facts = {
		.protocol = name_span(t, protocol_of(c, x)),
		.method = (q ? q : a)->method,
		.target = (q ? q : a)->target,
		.status = status,
		.role = name_span(t, c->role),
		.service = name_span(t, c->service),
		.peer = name_span(t, peer),
		.peer_addr = addr,
		.latency_ns = x->paired ? latency_of(x) : 0,
		.timed = x->paired,
		.error = (a && a->is_error) || (q && q->is_error),
		.connection = capture_row(c->capture, c->rec.id),
	};

	return message_filter_wants(&t->load->opts.traffic.filter, &facts);
}

/* What its first message tells of a connection. */
static void learn(struct conn *c)
{
	const struct l7_protocol *p = l7_conn__protocol(c->l7);
	const char *role;

	if (c->rec.role == ROLE_UNKNOWN && p)
		c->rec.role = l7_conn__role(c->l7) == L7_CLIENT ? ROLE_CLIENT : ROLE_SERVER;
	c->speaks = p;
	role = traffic_role(c);
	c->role = role ? strings__add(c->traffic->strings, span_of(role)) : 0;
	c->protocol = p ? strings__add(c->traffic->strings, span_of(p->name)) : 0;
}

static void on_exchange(void *ctx, struct l7_conn *l7, const struct l7_exchange *x)
{
	struct conn *c = ctx;
	struct traffic *t = c->traffic;
	const struct l7_message *q = x->request, *a = x->response;
	struct span status = a ? a->status : q->status;
	uint64_t at = (q ? q : a)->last_ns + t->load->captures->v[c->capture].to_realtime;

	if (!c->messages++ || !c->protocol || c->speaks != l7_conn__protocol(l7))
		learn(c);
	c->unkept_unpaired += x->why == L7_NOT_KEPT;
	c->no_ends += x->response && x->response->no_end;
	if (t->err || at < t->spans[c->capture][0] || at >= t->spans[c->capture][1] ||
	    (t->filtered && !is_wanted(c, x, status)))
		return;
	if (t->figures)
		t->err = add_figure(c, x, at);
	if (!t->err && t->rows)
		t->err = add_row(c, x, status);
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
		.args = c->traffic->load->opts.traffic.args,
		.arg_cnt = c->traffic->load->opts.traffic.arg_cnt,
	};

	return l7_conn__new(&c->l7, &opts);
}

/* A connection that is over needs its parser no longer. */
static void finish_l7(struct conn *c)
{
	if (!c->l7)
		return;
	l7_conn__finish(c->l7);
	if (!c->protocol && l7_conn__protocol(c->l7))
		learn(c);
	if (traffic_add_unkept(c->traffic, c) && !c->traffic->err)
		c->traffic->err = -ENOMEM;
	l7_conn__free(c->l7);
	c->l7 = NULL;
}

int traffic_feed(struct conn *c, const struct l7_piece *piece)
{
	struct traffic *t = c->traffic;
	int err = 0;

	if (!c->l7) {
		err = array_reserve(&t->live, &t->live_cap, t->live_cnt + 1);
		if (!err)
			err = start_l7(c);
		if (!err)
			t->live[t->live_cnt++] = c;
	}
	if (!err)
		err = l7_conn__feed(c->l7, piece);
	return err ? err : t->err;
}

/* Those closed for long: what they carried was handed on. */
static void finish_closed(struct traffic *t, uint64_t before_ns)
{
	size_t left = 0;

	for (size_t i = 0; i < t->live_cnt; i++) {
		struct conn *c = t->live[i];

		if (c->closed_ns && c->closed_ns < before_ns)
			finish_l7(c);
		else
			t->live[left++] = c;
	}
	t->live_cnt = left;
}

/* ---- payload ---- */

#define LINGER_NS 2000000000ull

static int end_capture(struct traffic *t)
{
	int err = traffic_release(t, true);

	finish_closed(t, UINT64_MAX);
	while (t->live_cnt)
		finish_l7(t->live[--t->live_cnt]);
	return err ? err : t->err;
}

static int add_payload(struct traffic *t, uint32_t capture, const struct rec_payload *rows,
		       size_t cnt)
{
	uint64_t newest_ns;
	int err = traffic_find_sides(t);

	if (!err && capture != t->capture)
		err = end_capture(t);
	t->capture = capture;
	for (size_t i = 0; i < cnt && !err; i++) {
		struct conn *c = conn_of(t, capture, rows[i].connection);

		if (!c)
			return -ENOMEM;
		if (!c->service) /* its record was lost */
			c->service = c->peer = strings__add(t->strings, span_of("[unknown]"));
		c->tls |= !!(rows[i].flags & PAYLOAD_TLS);
		/* Never both streams: handshakes and what else was not clear text say nothing. */
		if (c->rec.tls && !(rows[i].flags & PAYLOAD_TLS))
			continue;
		traffic_anchor(c, &rows[i]);
		err = traffic_hold(t, c, &rows[i]);
	}
	if (!err)
		err = traffic_release(t, false);
	newest_ns = traffic_order__newest_ns(t->order);
	if (newest_ns > LINGER_NS)
		finish_closed(t, newest_ns - LINGER_NS);
	return err ? err : t->err;
}

/* ---- the loader ---- */

static bool wants_figures(const struct load *l)
{
	return load__wants(l, "figure") || load__wants(l, "figure_bucket") ||
	       load__wants(l, "histogram") || load__wants(l, "flow");
}

static int traffic_begin(struct load *l, void **state)
{
	struct traffic *t = calloc(1, sizeof(*t));

	*state = t;
	if (!t)
		return -ENOMEM;
	t->load = l;
	t->rows = load__wants(l, "message");
	t->flows = load__wants(l, "flow");
	t->filtered = message_filter_any(&l->opts.traffic.filter);
	t->spans = calloc(l->captures->cnt + 1, sizeof(*t->spans));
	if (!t->spans || strings__new(&t->strings) || traffic_order__new(&t->order) ||
	    (wants_figures(l) && figures__new(&t->figures)))
		return -ENOMEM;
	for (size_t i = 0; i < l->captures->cnt; i++)
		load__span(l, i, t->spans[i]);
	if (sqlite3_prepare_v2(store__db(l->store),
			       "SELECT comm, container_id, pid FROM process WHERE id = ?", -1,
			       &t->process, NULL) ||
	    insert_open(&t->message, l->store,
			"INSERT INTO message VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)") ||
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

static int traffic_finish(struct load *l, void *state)
{
	struct traffic *t = state;
	int err = traffic_find_sides(t);

	if (!err)
		err = end_capture(t);
	if (err == LOAD_ENOUGH)
		err = 0;
	traffic_check_sides(t);
	if (!err && load__wants(l, "connection"))
		err = traffic_write_connections(t);
	if (!err && load__wants(l, "unkept"))
		err = traffic_write_unkept(t);
	if (!err && load__wants(l, "clock_offset"))
		err = traffic_write_offsets(t);
	if (!err && t->figures && !l->opts.traffic.by_connection)
		err = traffic_write_figures(t);
	if (!err && load__wants(l, "histogram"))
		err = traffic_write_histogram(t);
	if (!err && load__wants(l, "flow"))
		err = traffic_write_flows(t);
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
		free(c->marks);
		free((char *)c->rec.local_addr.p);
		free((char *)c->rec.remote_addr.p);
		free(c);
	}
	free(t->conns);
	index_fini(&t->by_id);
	index_fini(&t->by_port);
	free(t->live);
	traffic_order__free(t->order);
	free(t->spans);
	free(t->unkept);
	figures__free(t->figures);
	strings__free(t->strings);
	sqlite3_finalize(t->process);
	insert_close(&t->message);
	insert_close(&t->stat);
	free(t);
}

const struct loader load_traffic_entry = {
	.streams = (const char *const[]){"net", "payload", NULL},
	.tables = (const char *const[]){"connection", "connection_stat", "message", "figure",
					"figure_bucket", "histogram", "flow", "clock_offset",
					"unkept", NULL},
	.needs = (const char *const[]){"process", NULL},
	.begin = traffic_begin,
	.rows = traffic_rows,
	.finish = traffic_finish,
	.free = traffic_free,
};
