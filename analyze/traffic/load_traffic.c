/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads connections and messages. The stream `net` of all captures is read first, so that every
 * connection and its other end are known when payload comes. So is `health`, for the share of
 * payload that was captured.
 */
#include <errno.h>

#include "format/text.h"
#include "analyze/traffic/payload_order.h"
#include "analyze/traffic/rates.h"
#include "analyze/traffic/traffic.h"
#include "analyze/traffic/traffic_note.h"
#include "analyze/traffic/traffic_twice.h"

/* ---- messages ---- */

static int start_l7(struct conn *c)
{
	const struct l7_conn_opts opts = {
		.role = c->rec.role == ROLE_CLIENT   ? L7_CLIENT
			: c->rec.role == ROLE_SERVER ? L7_SERVER
						     : L7_ROLE_UNKNOWN,
		.server_port = c->rec.role == ROLE_SERVER ? c->rec.local_port : c->rec.remote_port,
		.late = !c->rec.opened_ns,
		.open = !c->closed_ns,
		.sink = traffic_message,
		.ctx = c,
		.arena = &c->traffic->arena,
		.args = c->traffic->load->opts.traffic.args,
		.arg_cnt = c->traffic->load->opts.traffic.arg_cnt,
	};

	return l7_conn__new(&c->l7, &opts);
}

static struct budget *budget_of(const struct conn *c)
{
	return &c->traffic->load->captures->v[c->capture].traffic_budget;
}

/* If there are more connections than this, those silent for AWAKE_NS are compacted. Few of them
 * send anything within that time. */
#define AWAKE_NS 1000000000ull
enum { AWAKE_CNT = 4096 };

static void put_to_rest(struct conn *c, uint64_t now_ns)
{
	struct l7_rest *rest;

	if (c->resting || !c->l7 || l7_conn__now_ns(c->l7) + AWAKE_NS > now_ns)
		return;
	rest = l7_conn__rest(c->l7);
	if (!rest)
		return;
	c->rest = rest;
	c->resting = true;
	if (c->l7_held > l7_rest__held(rest)) {
		budget_release(budget_of(c), c->l7_held - l7_rest__held(rest));
		c->l7_held = l7_rest__held(rest);
	}
}

/* 0 or -ENOMEM. */
static int wake(struct conn *c)
{
	struct l7_conn *l7 = c->resting ? l7_rest__wake(c->rest) : c->l7;

	if (c->resting && !l7)
		return -ENOMEM;
	c->l7 = l7;
	c->resting = false;
	return 0;
}

/* Frees the parser of a finished connection. */
static void finish_l7(struct conn *c)
{
	if (!c->l7)
		return;
	if (wake(c)) {
		c->traffic->err = -ENOMEM;
		return;
	}
	c->ended = !c->spent;
	l7_conn__finish(c->l7);
	if (!c->protocol && l7_conn__protocol(c->l7))
		traffic_learn(c);
	if (traffic_add_unkept(c->traffic, c) && !c->traffic->err)
		c->traffic->err = -ENOMEM;
	l7_conn__free(c->l7);
	c->l7 = NULL;
	budget_release(budget_of(c), c->l7_held);
	c->l7_held = 0;
}

/* Is the parser's memory within the archive's budget? */
static bool hold_l7(struct conn *c)
{
	size_t sz = l7_conn__held(c->l7);

	budget_release(budget_of(c), c->l7_held);
	c->l7_held = 0;
	if (!budget_hold(budget_of(c), sz))
		return false;
	c->l7_held = sz;
	return true;
}

static int feed(void *conn, const struct l7_piece *piece)
{
	struct conn *c = conn;
	struct traffic *t = c->traffic;
	size_t names = strings__held(t->strings);
	int err = 0;

	if (c->spent) {
		budget_of(c)->rows_left_out++;
		return t->err;
	}
	if (!c->l7) {
		err = array_reserve(&t->live, &t->live_cap, t->live_cnt + 1);
		if (!err)
			err = start_l7(c);
		if (!err)
			t->live[t->live_cnt++] = c;
	}
	if (!err)
		err = wake(c);
	if (!err)
		err = l7_conn__feed(c->l7, piece);
	budget_add(budget_of(c), strings__held(t->strings) - names);
	if (!err && !hold_l7(c)) {
		c->spent = true;
		finish_l7(c); /* stays in the live list, with nothing to finish */
	}
	return err ? err : t->err;
}

/* Finishes connections closed for long, whose payload has been passed on. Others may be
 * compacted. */
static void finish_closed(struct traffic *t, uint64_t before_ns, uint64_t now_ns)
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
	for (size_t i = 0; i < left && left > AWAKE_CNT; i++)
		put_to_rest(t->live[i], now_ns);
}

/* ---- payload ---- */

#define LINGER_NS 2000000000ull

static int end_capture(struct traffic *t)
{
	int err = payload_order__release(t->order, true);

	finish_closed(t, UINT64_MAX, 0);
	while (t->live_cnt)
		finish_l7(t->live[--t->live_cnt]);
	return err ? err : t->err;
}

static enum l7_unread unread_of(uint32_t flags)
{
	return flags & PAYLOAD_UNREAD	  ? L7_UNREAD_SOME
	       : flags & PAYLOAD_ALL_READ ? L7_UNREAD_NONE
					  : L7_UNREAD_UNKNOWN;
}

static int hold(struct conn *c, const struct rec_payload *r)
{
	struct traffic *t = c->traffic;
	const struct l7_piece piece = {
		.dir = r->direction ? L7_RECEIVED : L7_SENT,
		.unread = unread_of(r->flags),
		.pos = r->position,
		.len = r->len,
		.ts_ns = r->ts_ns,
		.data = r->data,
		.datagram = r->flags & PAYLOAD_DATAGRAM,
		.peer = r->peer.len ? strings__add(t->strings, r->peer) : 0,
	};

	return payload_order__hold(t->order, c, &piece);
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
		struct conn *c = traffic_conn(t, capture, rows[i].connection);

		if (!c) {
			err = t->err;
			continue;
		}
		if (!c->service) /* its connection record was lost */
			c->service = c->peer = strings__add(t->strings, span_of("[unknown]"));
		c->tls |= !!(rows[i].flags & PAYLOAD_TLS);
		/* Never use both streams: handshakes and other encrypted data carry no messages. */
		if (c->rec.tls && !(rows[i].flags & PAYLOAD_TLS))
			continue;
		if (c->twice)
			continue;
		traffic_anchor(c, &rows[i]);
		err = hold(c, &rows[i]);
		if (!err && payload_order__full(t->order))
			err = payload_order__release(t->order, false);
	}
	if (!err)
		err = payload_order__release(t->order, false);
	newest_ns = payload_order__newest_ns(t->order);
	if (newest_ns > LINGER_NS)
		finish_closed(t, newest_ns - LINGER_NS, newest_ns);
	return err ? err : t->err;
}

/* ---- the loader ---- */

static bool wants_figures(const struct load *l)
{
	return load__wants(l, "figure") || load__wants(l, "figure_bucket");
}

/* Rows of messages are written as they are found. */
static bool traffic_can_be_apart(const struct load *l)
{
	return !load__wants(l, "message");
}

static int traffic_begin_apart(struct load *l, void *state)
{
	return traffic_find_sides(state);
}

static int traffic_begin(struct load *l, void **state)
{
	struct traffic *t = calloc(1, sizeof(*t));
	int err;

	*state = t;
	if (!t)
		return -ENOMEM;
	t->load = l;
	t->start_ns = traffic_start_ns(l->captures);
	t->rows = load__wants(l, "message");
	t->filtered = message_filter_any(&l->opts.traffic.filter);
	t->spans = calloc(l->captures->cnt + 1, sizeof(*t->spans));
	t->scales = calloc(l->captures->cnt + 1, sizeof(*t->scales));
	t->boot = calloc(l->captures->cnt + 1, sizeof(*t->boot));
	t->several = calloc(l->captures->cnt + 1, sizeof(*t->several));
	if (!t->spans || !t->scales || !t->boot || !t->several || strings__new(&t->strings) ||
	    intern__new(&t->addresses) || payload_order__new(&t->order, feed) ||
	    (wants_figures(l) &&
	     (figures__new(&t->figures) || name_shapes__new(&t->shapes))) ||
	    ((wants_figures(l) || load__wants(l, "flow")) && figures__new(&t->edges)) ||
	    ((load__wants(l, "rate") || load__wants(l, "surge")) &&
	     rates__new(&t->rates, t->start_ns)))
		return -ENOMEM;
	traffic_find_several(t);
	for (size_t i = 0; i < l->captures->cnt; i++)
		load__span(l, i, t->spans[i]);
	if (sqlite3_prepare_v2(store__db(l->store),
			       "SELECT comm, container_id, pid, cgroup FROM process WHERE id = ?",
			       -1, &t->process, NULL) ||
	    sqlite3_prepare_v2(
		    store__db(l->store),
		    "SELECT comm, container_id, pid, cgroup FROM process WHERE pid = ? AND "
		    "capture_id = ? ORDER BY started_ns DESC LIMIT 1",
		    -1, &t->process_of_pid, NULL))
		return -EIO;
	err = bulk_open(&t->message, l->store,
			"INSERT INTO message VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
	return err ? err
		   : bulk_open(&t->stat, l->store,
			       "INSERT INTO connection_stat VALUES(?,?,?,?,?,?,?,?)");
}

static int add_thinning(struct traffic *t, uint32_t capture, const struct rec_thinning *rows,
			size_t cnt)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++)
		err = scale_add(&t->scales[capture], &rows[i]);
	return err;
}

static int traffic_rows(struct load *l, void *state, uint32_t capture, enum rec_kind kind,
			const void *rows, size_t cnt)
{
	struct traffic *t = state;
	int err = 0;

	if ((int)kind == REC_payload)
		return add_payload(t, capture, rows, cnt);
	if ((int)kind == REC_thinning)
		return add_thinning(t, capture, rows, cnt);
	for (size_t i = 0; i < cnt && !err; i++) {
		struct conn *c;

		switch ((int)kind) {
		case REC_connection: {
			const struct rec_connection *r = (const struct rec_connection *)rows + i;

			c = traffic_conn(t, capture, r->id);
			err = c ? traffic_add_connection(c, r) : t->err;
			break;
		}
		case REC_connection_stat: {
			const struct rec_connection_stat *r =
				(const struct rec_connection_stat *)rows + i;

			c = traffic_conn(t, capture, r->connection);
			err = c ? traffic_add_stat(c, r) : t->err;
			break;
		}
		case REC_connection_close: {
			const struct rec_connection_close *r =
				(const struct rec_connection_close *)rows + i;

			c = traffic_conn(t, capture, r->connection);
			if (c)
				traffic_close(c, r);
			err = t->err;
			break;
		}
		default:
			return 0;
		}
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
	if (!err)
		err = bulk_flush(&t->message);
	if (!err)
		err = bulk_flush(&t->stat);
	traffic_check_sides(t);
	if (t->figures && figures__merged(t->figures))
		message_warn("too many distinct requests: later ones are counted without their "
			     "target%s",
			     figures__merged(t->figures) & BY_METHOD ? ", some without method"
								     : "");
	if (!err && load__wants(l, "connection"))
		err = traffic_write_connections(t);
	if (!err && load__wants(l, "unkept"))
		err = traffic_write_unkept(t);
	if (!err && load__wants(l, "late"))
		err = traffic_write_late(t);
	if (!err && load__wants(l, "twice"))
		err = traffic_write_twice(t);
	if (!err && load__wants(l, "scaling"))
		err = traffic_write_scaling(t);
	if (!err && load__wants(l, "clock_offset"))
		err = traffic_write_offsets(t);
	if (!err && t->figures)
		err = traffic_fold_targets(t);
	if (!err && t->figures)
		err = traffic_write_figures(t);
	if (!err && load__wants(l, "flow"))
		err = traffic_write_flows(t);
	if (!err && t->rates)
		err = traffic_write_rates(t);
	return err;
}

static void traffic_free(void *state)
{
	struct traffic *t = state;

	if (!t)
		return;
	for (size_t i = 0; i < t->conn_cnt; i++) {
		struct conn *c = t->conns[i];

		if (!wake(c))
			l7_conn__free(c->l7);
		free(c->marks);
		free(c);
	}
	arena_fini(&t->arena);
	free(t->conns);
	index_fini(&t->by_id);
	index_fini(&t->by_port);
	free(t->live);
	payload_order__free(t->order);
	free(t->spans);
	for (size_t i = 0; t->scales && i < t->load->captures->cnt; i++)
		scale_fini(&t->scales[i]);
	free(t->scales);
	free(t->boot);
	free(t->several);
	free(t->held);
	free(t->unkept);
	figures__free(t->figures);
	name_shapes__free(t->shapes);
	figures__free(t->edges);
	rates__free(t->rates);
	strings__free(t->strings);
	intern__free(t->addresses);
	sqlite3_finalize(t->process);
	sqlite3_finalize(t->process_of_pid);
	bulk_close(&t->message);
	bulk_close(&t->stat);
	free(t);
}

const struct loader load_traffic_entry = {
	.streams = (const char *const[]){"net", "health", "payload", NULL},
	.tables = (const char *const[]){"connection", "connection_stat", "message", "figure",
					"figure_bucket", "flow", "clock_offset", "unkept", "late",
					"scaling", "twice", "rate", "surge", NULL},
	.needs = (const char *const[]){"process", NULL},
	.begin = traffic_begin,
	.rows = traffic_rows,
	.finish = traffic_finish,
	.free = traffic_free,
	.apart = "payload",
	.can_be_apart = traffic_can_be_apart,
	.begin_apart = traffic_begin_apart,
};
