/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/pcap/pcap_conns.h"

#include <string.h>

#include "format/redact/redact.h"
#include "analyze/pcap/pcap_segment.h"

#define SECOND 1000000000ULL

/* ---- which end is the server ---- */

/* Passes on the held data, now that the ends are known. Must not be called from tcp_side__*,
 * because the sides may be swapped. */
static int settle(struct conns *c, struct flow *f, enum l7_role role)
{
	struct undecided *u = f->undecided;
	bool swap = role == L7_CLIENT;
	struct tcp_segment s;
	uint64_t pos, at_ns = 0;
	int dir, err;

	f->undecided = NULL;
	if (role != L7_ROLE_UNKNOWN)
		f->role = ROLE_SERVER;
	if (swap)
		flow_swap(f);
	if (role != L7_ROLE_UNKNOWN)
		servers__learn(&c->servers, &f->end[0]);
	err = flow_put_connection(&c->records, f);
	while (!err && undecided__next(u, &dir, &pos, &s)) {
		/* Each second has its own statistics, even if written late. */
		if (f->changed_at && s.ts_ns / SECOND != at_ns / SECOND)
			err = flow_put_stat(&c->records, f, at_ns);
		at_ns = s.ts_ns;
		if (!err)
			err = flow_put_payload(&c->records, f, dir ^ swap, pos, &s);
	}
	undecided__free(u);
	return err;
}

static int settle_at_end(struct conns *c, struct flow *f)
{
	return f->undecided ? settle(c, f, undecided__role(f->undecided)) : 0;
}

static int settle_if_over(struct conns *c, struct flow *f)
{
	return f->undecided && undecided__over(f->undecided) ? settle_at_end(c, f) : 0;
}

static int put_payload(struct conns *c, struct flow *f, int dir, uint64_t pos,
		       const struct tcp_segment *s)
{
	if (f->undecided)
		return undecided__add(f->undecided, dir, pos, s, f->proto == TRANSPORT_UDP);
	return flow_put_payload(&c->records, f, dir, pos, s);
}

/* ---- beginning and end of connections ---- */

struct emit_to {
	struct conns *conns;
	struct flow *flow;
	int dir;
};

static int on_bytes(void *ctx, uint64_t pos, const struct tcp_segment *s)
{
	const struct emit_to *to = ctx;

	return put_payload(to->conns, to->flow, to->dir, pos, s);
}

static int flush_sides(struct conns *c, struct flow *f)
{
	int err = 0;

	for (int dir = 0; dir < 2 && !err; dir++) {
		struct emit_to to = {c, f, dir};
		const struct tcp_sink sink = {&c->pool, on_bytes, &to};

		err = tcp_side__flush(&f->side[dir], &sink);
	}
	return err ? err : settle_at_end(c, f);
}

static int close_flow(struct conns *c, struct flow *f, enum close_how how)
{
	struct rec_connection_close r = {f->id, f->last_ns, how};
	int err = flush_sides(c, f);

	if (!tcp_side__is_whole(&f->side[0]) || !tcp_side__is_whole(&f->side[1]))
		r.how = CLOSE_UNSEEN;
	if (!err && f->changed_at)
		err = flow_put_stat(&c->records, f, f->last_ns);
	/* Repeated, because a reader may have lost the chunk with the first record. */
	if (!err)
		err = flow_put_connection(&c->records, f);
	if (!err)
		err = c->records.sink.put(c->records.sink.ctx, REC_connection_close, &r);
	flow_table__close(&c->flows, f);
	return err;
}

/* Called before the table frees the flow. No close is recorded, because its time is unknown. */
static int on_gone(void *ctx, struct flow *f)
{
	struct conns *c = ctx;
	int err = flush_sides(c, f);

	if (!err && f->changed_at)
		err = flow_put_stat(&c->records, f, f->last_ns);
	flow_unlist(f);
	for (int dir = 0; dir < 2; dir++) {
		c->missing += f->side[dir].missing;
		tcp_side__fini(&f->side[dir], &c->pool);
	}
	redact_conn__free(f->redact);
	f->redact = NULL;
	undecided__free(f->undecided);
	f->undecided = NULL;
	return err;
}

static int open_flow(struct conns *c, const struct packet *pk, struct flow **out)
{
	bool syn = pk->proto == TRANSPORT_TCP && pk->flags & TCP_SYN, sure;
	bool sender = servers__is_sender(&c->servers, pk, &sure);
	struct flow *f;
	int err = flow_table__add(&c->flows, pk, sender, &f);

	if (err)
		return err;
	*out = f;
	f->id = ++c->last_id;
	f->role = sure ? ROLE_SERVER : ROLE_UNKNOWN;
	err = outers__process(&c->outers, &c->records.sink, pk, &f->process);
	if (err)
		return err;
	*(pk->proto == TRANSPORT_UDP ? &c->udp_cnt : &c->tcp_cnt) += 1;
	if (!syn)
		return undecided__new(&f->undecided, &c->undecided,
				      sure ? L7_SERVER : L7_ROLE_UNKNOWN, f->end[0].port);
	f->opened_ns = pk->ts_ns;
	if (!(pk->flags & TCP_ACK)) {
		f->has_syn = true;
		f->first_seq = pk->seq;
	}
	return flow_put_connection(&c->records, f);
}

static int dir_of(const struct flow *f, const struct packet *pk)
{
	return endpoint_equal(&f->end[0], &pk->from) && endpoint_equal(&f->end[1], &pk->to) ? 0 : 1;
}

/* The order of the file is more reliable than its timestamps: time never goes backwards within a
 * connection, unless the clock was set. */
static void keep_order(const struct flow *f, struct packet *pk)
{
	if (pk->ts_ns < f->last_ns && f->last_ns - pk->ts_ns < SECOND)
		pk->ts_ns = f->last_ns;
}

/* ---- packets ---- */

int conns__udp(struct conns *c, struct packet *pk)
{
	struct flow *f = flow_table__find(&c->flows, pk);
	int dir, err = f ? 0 : open_flow(c, pk, &f);

	if (err)
		return err;
	keep_order(f, pk);
	flow_table__touch(&c->flows, f, pk->ts_ns);
	dir = dir_of(f, pk);
	const struct tcp_segment s = {0, pk->len, pk->data, pk->ts_ns};

	err = put_payload(c, f, dir, f->position[dir], &s);
	f->position[dir] += pk->len;
	return err ? err : settle_if_over(c, f);
}

static int add_segment(struct conns *c, struct flow *f, const struct packet *pk)
{
	int dir = dir_of(f, pk), err = 0;
	struct tcp_side *t = &f->side[dir];
	struct emit_to mine = {c, f, dir}, other = {c, f, !dir};
	const struct tcp_sink sink = {&c->pool, on_bytes, &mine},
			      other_sink = {&c->pool, on_bytes, &other};
	bool syn = pk->flags & TCP_SYN;
	struct tcp_segment s = {pk->seq + syn, pk->len, pk->data, pk->ts_ns};

	if (!t->begun && (syn || segment_is_probe(t, pk)))
		tcp_side__begin(t, syn ? s.seq : s.seq + 1);
	if (pk->flags & TCP_ACK)
		err = tcp_side__ack(&f->side[!dir], pk->ack, pk->ts_ns, &other_sink);
	if (!err && pk->flags & TCP_RST) /* its payload is a diagnostic text (RFC 9293, 3.5.2) */
		return close_flow(c, f, CLOSE_RESET);
	segment_note_window(&f->window[dir], pk);
	if (!err)
		err = tcp_side__segment(t, &s, &sink);
	if (pk->flags & TCP_FIN)
		tcp_side__fin(t, s.seq + s.len);
	if (!err && f->side[0].finished && f->side[1].finished)
		err = close_flow(c, f, CLOSE_OTHER);
	return err ? err : settle_if_over(c, f);
}

/* Can a packet without a connection begin one? Not the remains of a connection that ended before
 * the capture, and not a keep-alive probe. */
static bool opens(const struct packet *pk)
{
	if (pk->flags & TCP_SYN)
		return !(pk->flags & TCP_RST);
	return pk->len && !(pk->flags & TCP_RST) && !segment_is_probe(NULL, pk);
}

/* Does the packet belong to the connection of its ports? Those that do not are counted. */
static bool belongs(struct conns *c, const struct flow *f, const struct packet *pk)
{
	int dir = dir_of(f, pk);

	if (f->closed) {
		c->behind += pk->len && !segment_is_old(&f->side[dir], pk);
		return false;
	}
	if (dir == 0 && segment_is_earlier(f, pk)) {
		c->earlier++;
		return false;
	}
	if (pk->flags & TCP_RST && !segment_resets(f, dir, pk)) {
		c->resets++;
		return false;
	}
	return true;
}

/* Role of the local end: the sender of a SYN is the client, the sender of a SYN-ACK the server. */
static enum l7_role by_syn(const struct flow *f, const struct packet *pk)
{
	bool sender_serves = pk->flags & TCP_ACK, sender_local = !dir_of(f, pk);

	return sender_serves == sender_local ? L7_SERVER : L7_CLIENT;
}

int conns__tcp(struct conns *c, struct packet *pk)
{
	struct flow *f = flow_table__find(&c->flows, pk);
	int err = 0;

	if (f && segment_reopens(f, dir_of(f, pk), pk)) {
		err = flow_table__remove(&c->flows, f);
		f = NULL;
	}
	if (err || (!f && !opens(pk)) || (f && !belongs(c, f, pk)))
		return err;
	if (!f)
		err = open_flow(c, pk, &f);
	else if (f->undecided && pk->flags & TCP_SYN) /* captured after the first data */
		err = settle(c, f, by_syn(f, pk));
	if (err)
		return err;
	keep_order(f, pk);
	flow_table__touch(&c->flows, f, pk->ts_ns);
	return add_segment(c, f, pk);
}

int conns__init(struct conns *c, const struct flow_limits *limits)
{
	int err = flow_table__init(&c->flows, limits, on_gone, c);

	return err ? err : servers__init(&c->servers);
}

void conns__fini(struct conns *c)
{
	flow_table__fini(&c->flows);
	servers__fini(&c->servers);
	outers__fini(&c->outers);
	arena_fini(&c->undecided.arena);
}
