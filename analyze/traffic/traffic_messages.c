/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes messages: a row in the table, a call in the aggregates. */
#include "format/text.h"
#include "analyze/load/detail.h"
#include "analyze/traffic/traffic.h"
#include "analyze/traffic/traffic_names.h"
#include "analyze/traffic/traffic_note.h"
#include "analyze/traffic/traffic_twice.h"

static void bind_time(struct bulk *in, const struct conn *c, uint64_t ns)
{
	bulk_int(in, ns + c->traffic->load->captures->v[c->capture].to_realtime);
}

static void bind_span(struct bulk *in, struct span s)
{
	if (s.len)
		bulk_span(in, s);
	else
		bulk_null(in);
}

/* Adds the fields of the response that the request does not have. Keys contain no escapes. */
static void add_fields(struct strbuf *b, struct span x, struct span y)
{
	const char *p = y.p + 1, *end = y.p + y.len - 1;
	struct span value;

	while (p < end) {
		const char *next = detail_value_end(p, end), *colon = memchr(p, ':', next - p);

		if (!colon || !detail_find(x, (struct span){p + 1, colon - p - 2}, &value)) {
			strbuf_add(b, ",", 1);
			strbuf_add(b, p, next - p);
		}
		p = next + 1;
	}
}

/* Merges the details of both messages into one object; the request's fields take precedence. */
static void bind_detail(struct bulk *in, struct strbuf *b, const struct l7_message *q,
			const struct l7_message *a)
{
	struct span x = q ? q->detail : (struct span){"", 0},
		    y = a ? a->detail : (struct span){"", 0};

	if (x.len > 2 && y.len > 2) {
		strbuf_add(b, x.p, x.len - 1);
		add_fields(b, x, y);
		strbuf_add(b, "}", 1);
		bulk_span(in, (struct span){b->p, b->len});
	} else {
		bind_span(in, x.len > 2 ? x : y);
	}
}

static void bind_times(struct bulk *in, const struct conn *c, const struct l7_exchange *x)
{
	const struct l7_message *q = x->request, *a = x->response;

	if (q)
		bind_time(in, c, q->last_ns);
	else
		bulk_null(in);
	if (a)
		bind_time(in, c, a->last_ns);
	else
		bulk_null(in);
	/* Threads may read the clock in a different order than the bytes passed. */
	if (x->paired)
		bulk_int(in, a->last_ns > q->last_ns ? a->last_ns - q->last_ns : 0);
	else
		bulk_null(in);
	if (x->paired && !a->no_begin)
		bulk_int(in, a->first_ns > q->last_ns ? a->first_ns - q->last_ns : 0);
	else
		bulk_null(in);
}

/* 0 if the times are reversed: threads may read the clock in a different order than the bytes
 * passed. */
static uint64_t latency_of(const struct l7_exchange *x)
{
	uint64_t from = x->request->last_ns, to = x->response->last_ns;

	return to > from ? to - from : 0;
}

/* The protocol of the message (gRPC over HTTP/2), else that of its connection. */
static uint32_t protocol_of(const struct conn *c, const struct l7_exchange *x)
{
	const char *own = (x->request ? x->request : x->response)->protocol;

	return own ? strings__add(c->traffic->strings, span_of(own)) : c->protocol;
}

/* The peer of the datagram, else that of the connection. */
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

/* What became of a request. */
struct outcome {
	struct span status;
	bool error;
	bool oneway;   /* there is no response to it */
	bool unpaired; /* there may be, but which it is is not known */
	bool call;
	char text[64];
};

/* Whether all that was sent in answer is known. Of plaintext only the bytes that were captured are
 * counted. */
static bool heard_all(const struct conn *c, const struct l7_conn *l7, enum l7_dir dir)
{
	uint64_t end = l7_conn__end(l7, dir);

	return c->tls ? end > 0 : end == c->all_bytes[dir];
}

/* Datagrams to any address may find nobody. */
static bool has_peer(const struct conn *c)
{
	return c->rec.transport != TRANSPORT_UDP ||
	       (c->rec.role == ROLE_CLIENT && c->rec.remote_addr.len);
}

/* The connection ended before an answer came. */
static bool is_unanswered(const struct conn *c, const struct l7_conn *l7,
			  const struct l7_exchange *x)
{
	return x->request && !x->response && x->request->type == L7_REQUEST &&
	       x->why == L7_UNANSWERED && c->ended && c->how != CLOSE_UNSEEN &&
	       c->closed_ns >= x->request->last_ns && has_peer(c) &&
	       heard_all(c, l7, !x->request->dir);
}

static void outcome_of(struct outcome *o, const struct conn *c, const struct l7_conn *l7,
		       const struct l7_exchange *x)
{
	static const char *const ends[] = {"closed", "reset", "timed out"};
	const struct l7_message *q = x->request, *a = x->response;
	char after[24];

	o->status = a ? a->status : q->status;
	o->error = (a && a->is_error) || (q && q->is_error);
	o->oneway = q && (q->type == L7_ONEWAY || (!a && q->waits && x->why == L7_UNANSWERED));
	o->unpaired = !x->paired && !o->oneway;
	if (!o->unpaired || o->status.len || !is_unanswered(c, l7, x))
		return;
	snprintf(o->text, sizeof(o->text), "no answer: %s after %s",
		 ends[c->how < CLOSE_UNSEEN ? c->how : CLOSE_OTHER],
		 format_duration(after, c->closed_ns - q->last_ns));
	o->status = span_of(o->text);
	o->error = true;
	o->unpaired = false;
}

/*
 * Should an exchange be counted as a call? Both halves of a call may be delivered unpaired. With
 * pairing in order, an unpaired response answers one of the unpaired requests since the last pair.
 * It is unknown which one, so the response is not counted as a call. With pairing by id, unpaired
 * halves belong to different calls.
 */
static bool is_call(struct conn *c, const struct l7_exchange *x)
{
	if (x->paired)
		c->alone = 0;
	if (x->paired || x->why == L7_UNANSWERED || (c->speaks && c->speaks->pair_by_id))
		return true;
	if (x->request) {
		c->alone++;
		return true;
	}
	if (!c->alone)
		return true;
	c->alone--;
	return false;
}

static int add_row(struct conn *c, const struct l7_exchange *x, const struct outcome *o)
{
	const struct l7_message *q = x->request, *a = x->response;
	struct traffic *t = c->traffic;
	struct strbuf detail = {0};
	struct bulk *in = &t->message;
	uint32_t peer = (q ? q : a)->peer;
	const struct conn *other;
	struct span addr;
	int err;

	t->message_id++;
	bulk_null(in); /* next row id, without a uniqueness check */
	bulk_int(in, traffic_row(c));
	bulk_text(in, strings__get(t->strings, protocol_of(c, x)));
	bind_span(in, q ? q->method : a->method);
	bind_span(in, q ? q->target : a->target);
	bind_span(in, o->status);
	bulk_int(in, o->error);
	bind_times(in, c, x);
	bulk_int(in, q ? q->size : 0);
	bulk_int(in, a ? a->size : 0);
	bulk_int(in, x->paired);
	bulk_int(in, o->oneway);
	bind_detail(in, &detail, q, a);
	bulk_text(in, peer ? strings__get(t->strings, peer_of(c, x, &addr, &other)) : NULL);
	bulk_text(in, strings__get(t->strings, peer));
	bulk_int(in, o->call);
	err = bulk_row(in);
	strbuf_fini(&detail);
	if (!err && t->load->opts.traffic.max_messages == (uint64_t)t->message_id)
		err = LOAD_ENOUGH;
	return err;
}

static uint32_t slot_of(const struct traffic *t, uint64_t at_ns)
{
	uint64_t interval = t->load->opts.traffic.interval_ns;

	if (!interval)
		return 0;
	return at_ns > t->start_ns ? (at_ns - t->start_ns) / interval + 1 : 1;
}

/* Number of the text. For dimensions no longer distinguished, only of texts already known. */
static uint32_t part_of(const struct traffic *t, enum figure_part part, struct span text)
{
	if (!text.len)
		return 0;
	return figures__merged(t->figures) & part ? strings__find(t->strings, text)
						  : strings__add(t->strings, text);
}

/* Returns the number of calls that this one represents, and adds it to the connection's sum. */
static double weigh(struct conn *c, const struct l7_exchange *x, bool call)
{
	const struct traffic *t = c->traffic;
	const struct l7_message *m = x->request ? x->request : x->response;
	double weight =
		scale_weight(&t->scales[c->capture], &t->load->captures->v[c->capture], m->last_ns);

	c->sum.weight += call * weight;
	c->sum.seen += call;
	return weight;
}

/* Many names of one shape are folded before they reach the limit of aggregates. */
enum { LEARN_CNT = 1 << 16 };

int traffic_fold_targets(struct traffic *t)
{
	uint32_t server = strings__add(t->strings, span_of("server"));

	return name_shapes__learn(t->shapes, t->strings, server, &t->figures);
}

static int fold_early(struct traffic *t)
{
	size_t cnt = figures__cnt(t->figures);
	int err;

	if (cnt < LEARN_CNT || cnt < t->learn_at || figures__merged(t->figures))
		return 0;
	err = traffic_fold_targets(t);
	t->learn_at = 2 * figures__cnt(t->figures);
	return err;
}

static int add_figures(struct conn *c, const struct l7_exchange *x, uint64_t at_ns, double weight,
		       const struct outcome *o)
{
	const struct l7_message *q = x->request, *a = x->response;
	struct traffic *t = c->traffic;
	const struct conn *other;
	struct span addr;
	struct figure_key key, edge = {
				       .role = c->role,
				       .service = c->service,
				       .peer = peer_of(c, x, &addr, &other),
				       .protocol = protocol_of(c, x),
			       };
	const struct figure_call what = {
		.error = o->error,
		.unpaired = o->unpaired,
		.timed = x->paired,
		.half = !o->call,
		.weight = weight,
		.at_ns = at_ns,
		.latency_ns = x->paired ? latency_of(x) : 0,
		.request_bytes = q ? q->size : 0,
		.response_bytes = a ? a->size : 0,
		.connection_id = traffic_row(c),
	};
	uint32_t *caller = c->rec.role == ROLE_SERVER ? &edge.peer : &edge.service;
	int err = 0;

	if (t->load->opts.traffic.by_args && q)
		*caller = traffic_name_with_args(t, *caller, q->detail);
	if (t->figures) {
		key = edge;
		key.slot = slot_of(t, at_ns);
		key.method = part_of(t, BY_METHOD, (q ? q : a)->method);
		key.target =
			part_of(t, BY_TARGET,
				name_shapes__fold(
					t->shapes,
					c->rec.role == ROLE_SERVER ? key.service : key.peer,
					key.protocol, (q ? q : a)->target));
		err = figures__add(t->figures, &key, &what);
		if (!err)
			err = fold_early(t);
	}
	if (t->edges && !err) {
		if (other) /* datagrams are distinguished by the client's socket */
			edge.connection =
				(c->other || c->rec.role == ROLE_CLIENT ? c : other)->number + 1;
		err = figures__add(t->edges, &edge, &what);
	}
	if (t->rates && !err)
		err = traffic_add_rate(c, other, edge.peer, edge.protocol, at_ns, o->call * weight,
				       what.error * weight);
	return err;
}

static struct span name_span(const struct traffic *t, uint32_t id)
{
	return span_of(strings__get(t->strings, id));
}

static bool is_wanted(struct conn *c, const struct l7_exchange *x, const struct outcome *o)
{
	const struct l7_message *q = x->request, *a = x->response, *m = q ? q : a;
	struct traffic *t = c->traffic;
	const struct conn *other;
	struct span addr;
	uint32_t peer = peer_of(c, x, &addr, &other);
	const struct message_facts facts = {
		.protocol = name_span(t, protocol_of(c, x)),
		.method = m->method,
		.target = m->target,
		.status = o->status,
		.role = name_span(t, c->role),
		.service = name_span(t, c->service),
		.peer = name_span(t, peer),
		.peer_addr = addr,
		.latency_ns = x->paired ? latency_of(x) : 0,
		.timed = x->paired,
		.error = o->error,
		.connection = traffic_row(c),
		.detail = {q ? q->detail : span_of(""), a ? a->detail : span_of("")},
	};

	return message_filter_wants(&t->load->opts.traffic.filter, &facts);
}

void traffic_learn(struct conn *c)
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

void traffic_message(void *conn, struct l7_conn *l7, const struct l7_exchange *x)
{
	struct conn *c = conn;
	struct traffic *t = c->traffic;
	const struct l7_message *q = x->request, *a = x->response;
	struct outcome o;
	uint64_t at = (q ? q : a)->last_ns + t->load->captures->v[c->capture].to_realtime;
	double weight;

	if (!c->messages || !c->protocol || c->speaks != l7_conn__protocol(l7))
		traffic_learn(c);
	if (traffic_is_twice(c, (q ? q : a)->last_ns))
		return;
	c->messages++;
	outcome_of(&o, c, l7, x);
	c->whole += !o.unpaired;
	c->unkept_unpaired += x->why == L7_NOT_KEPT;
	c->no_ends += a && a->no_end;
	c->partials += (q && q->partial) + (a && a->partial);
	if (t->err || at < t->spans[c->capture][0] || at >= t->spans[c->capture][1] ||
	    (t->filtered && !is_wanted(c, x, &o)))
		return;
	o.call = is_call(c, x);
	c->late_unpaired += o.call && o.unpaired && x->why == L7_LATE;
	weight = weigh(c, x, o.call);
	if (t->figures || t->edges || t->rates)
		t->err = add_figures(c, x, at, weight, &o);
	if (!t->err && t->rows)
		t->err = add_row(c, x, &o);
}
