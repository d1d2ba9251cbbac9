/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/pcap/pcap_import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/redact/redact.h"
#include "analyze/pcap/pcap_server.h"

#define SECOND 1000000000ULL
/* Up to year 2255: the tables hold signed nanoseconds. */
#define TIME_MAX (9000000000ULL * SECOND)

const struct flow_limits import_limits = {
	.max_cnt = 200000,
	.idle_ns = 900 * SECOND,
	.closed_ns = 60 * SECOND,
};

struct import {
	struct import_opts opts;
	struct flow_records records;
	struct import_counts counts;
	struct flow_table flows;
	struct servers servers;
	struct tcp_pool pool;
	uint64_t now_ns, tick_ns;
	uint32_t last_id;
	bool begun;
};

/* ---- connections ---- */

struct emit_to {
	struct import *im;
	struct flow *flow;
	int dir;
};

static int on_bytes(void *ctx, uint64_t pos, const struct tcp_segment *s)
{
	const struct emit_to *to = ctx;

	return flow_put_payload(&to->im->records, to->flow, to->dir, pos, s);
}

static int flush_sides(struct import *im, struct flow *f)
{
	int err = 0;

	for (int dir = 0; dir < 2 && !err; dir++) {
		struct emit_to to = {im, f, dir};
		const struct tcp_sink sink = {&im->pool, on_bytes, &to};

		err = tcp_side__flush(&f->side[dir], &sink);
	}
	return err;
}

static int close_flow(struct import *im, struct flow *f)
{
	const struct rec_connection_close r = {f->id, f->last_ns};
	int err = flush_sides(im, f);

	if (!err && f->changed_at)
		err = flow_put_stat(&im->records, f, f->last_ns);
	/* Again, as a reader may have lost the chunk with the first. */
	if (!err)
		err = flow_put_connection(&im->records, f);
	if (!err)
		err = im->records.sink.put(im->records.sink.ctx, REC_connection_close, &r);
	flow_table__close(&im->flows, f);
	return err;
}

/* Before the table frees it. Its end is not known, so no close is told. */
static int on_gone(void *ctx, struct flow *f)
{
	struct import *im = ctx;
	int err = flush_sides(im, f);

	if (!err && f->changed_at)
		err = flow_put_stat(&im->records, f, f->last_ns);
	flow_unlist(f);
	for (int dir = 0; dir < 2; dir++) {
		im->counts.missing += f->side[dir].missing;
		tcp_side__fini(&f->side[dir], &im->pool);
	}
	redact_conn__free(f->redact);
	f->redact = NULL;
	return err;
}

static int open_flow(struct import *im, const struct packet *pk, struct flow **out)
{
	bool sure, sender = servers__is_sender(&im->servers, pk, &sure);
	struct flow *f;
	int err = flow_table__add(&im->flows, sender ? &pk->from : &pk->to,
				  sender ? &pk->to : &pk->from, pk->proto, &f);

	if (err)
		return err;
	f->id = ++im->last_id;
	f->role = sure ? ROLE_SERVER : ROLE_UNKNOWN; /* then the messages may tell */
	if (pk->proto == TRANSPORT_UDP) {
		im->counts.flows++;
	} else {
		im->counts.connections++;
		if (pk->flags & TCP_SYN)
			f->opened_ns = pk->ts_ns;
		if ((pk->flags & (TCP_SYN | TCP_ACK)) == TCP_SYN) {
			f->has_syn = true;
			f->first_seq = pk->seq;
		}
	}
	*out = f;
	return flow_put_connection(&im->records, f);
}

static int dir_of(const struct flow *f, const struct packet *pk)
{
	return endpoint_equal(&f->end[0], &pk->from) && endpoint_equal(&f->end[1], &pk->to) ? 0 : 1;
}

/* The file's order is better than its clock: packets of one connection never go back in time,
 * unless the clock was set. */
static void keep_order(const struct flow *f, struct packet *pk)
{
	if (pk->ts_ns < f->last_ns && f->last_ns - pk->ts_ns < SECOND)
		pk->ts_ns = f->last_ns;
}

static int on_udp(struct import *im, struct packet *pk)
{
	struct flow *f = flow_table__find(&im->flows, pk);
	int dir, err = f ? 0 : open_flow(im, pk, &f);

	if (err)
		return err;
	keep_order(f, pk);
	flow_table__touch(&im->flows, f, pk->ts_ns);
	dir = dir_of(f, pk);
	const struct tcp_segment s = {0, pk->len, pk->data, pk->ts_ns};

	err = flow_put_payload(&im->records, f, dir, f->position[dir], &s);
	f->position[dir] += pk->len;
	return err;
}

/* A SYN that does not belong to the connection known: its ports are used again. One that was
 * captured behind its first bytes does. */
static bool is_reopened(const struct flow *f, const struct packet *pk)
{
	const struct tcp_side *t = &f->side[dir_of(f, pk)];

	if ((pk->flags & (TCP_SYN | TCP_ACK)) != TCP_SYN)
		return false;
	if (f->closed)
		return true;
	if (f->has_syn)
		return pk->seq != f->first_seq;
	return t->begun && pk->seq + 1 != t->next - (uint32_t)t->pos;
}

static int add_segment(struct import *im, struct flow *f, const struct packet *pk)
{
	int dir = dir_of(f, pk), err = 0;
	struct tcp_side *t = &f->side[dir];
	struct emit_to mine = {im, f, dir}, other = {im, f, !dir};
	const struct tcp_sink sink = {&im->pool, on_bytes, &mine},
			      other_sink = {&im->pool, on_bytes, &other};
	bool syn = pk->flags & TCP_SYN;
	struct tcp_segment s = {pk->seq + syn, pk->len, pk->data, pk->ts_ns};

	if (syn && !t->begun)
		tcp_side__begin(t, s.seq);
	if (pk->flags & TCP_ACK)
		err = tcp_side__ack(&f->side[!dir], pk->ack, pk->ts_ns, &other_sink);
	if (!err && pk->flags & TCP_RST) { /* its payload is text for people (RFC 9293, 3.5.2) */
		bool fits = !t->begun || !tcp_is_old(pk->seq, t->next);

		return fits ? close_flow(im, f) : 0;
	}
	if (!err)
		err = tcp_side__segment(t, &s, &sink);
	if (pk->flags & TCP_FIN)
		tcp_side__fin(t, s.seq + s.len);
	if (!err && f->side[0].finished && f->side[1].finished)
		err = close_flow(im, f);
	return err;
}

static int on_tcp(struct import *im, struct packet *pk)
{
	struct flow *f = flow_table__find(&im->flows, pk);
	int err = 0;

	if (f && is_reopened(f, pk)) {
		err = flow_table__remove(&im->flows, f);
		f = NULL;
	}
	if (f && f->closed)
		return 0;
	/* What remains of a connection that ended before the capture says nothing. */
	if (!f && !(pk->flags & TCP_SYN) && (!pk->len || pk->flags & TCP_RST))
		return 0;
	if (!err && !f)
		err = open_flow(im, pk, &f);
	if (err)
		return err;
	keep_order(f, pk);
	flow_table__touch(&im->flows, f, pk->ts_ns);
	return add_segment(im, f, pk);
}

/* ---- packets ---- */

static int begin(struct import *im, uint64_t ts_ns)
{
	const struct span name = {im->opts.name, strlen(im->opts.name)}, none = {"", 0};
	const struct rec_process process = {
		.id = PROCESS_ID,
		.started_ns = ts_ns,
		.comm = name,
		.exe = none,
		.cmdline = none,
		.cgroup = none,
		.container_id = none,
	};
	const struct rec_thread thread = {.id = THREAD_ID, .process = PROCESS_ID, .comm = name};
	int err;

	im->begun = true;
	im->counts.first_ns = im->counts.last_ns = im->now_ns = ts_ns;
	im->tick_ns = ts_ns + SECOND;
	err = im->records.sink.begin(im->records.sink.ctx, ts_ns);
	if (!err)
		err = im->records.sink.put(im->records.sink.ctx, REC_process, &process);
	return err ? err : im->records.sink.put(im->records.sink.ctx, REC_thread, &thread);
}

static int advance(struct import *im, uint64_t ts_ns)
{
	int err;

	if (ts_ns > im->now_ns)
		im->now_ns = ts_ns;
	im->counts.last_ns = im->now_ns;
	if (im->now_ns < im->tick_ns)
		return 0;
	err = flow_put_stats(&im->records, im->tick_ns);
	im->tick_ns += (im->now_ns - im->tick_ns) / SECOND * SECOND + SECOND;
	return err ? err : flow_table__expire(&im->flows, im->now_ns);
}

static int on_packet(struct import *im, int link, const struct pcap_pkthdr *h, const u_char *data)
{
	uint64_t sec = h->ts.tv_sec < 0 ? 0 : h->ts.tv_sec, ts_ns;
	struct packet pk;
	int err = 0;

	ts_ns = sec < TIME_MAX / SECOND ? sec * SECOND + (uint32_t)h->ts.tv_usec % SECOND
					: TIME_MAX;
	if (!im->begun)
		err = begin(im, ts_ns);
	if (!err)
		err = advance(im, ts_ns);
	im->counts.packets++;
	if (err)
		return err;
	switch (packet_parse(&pk, link, data, h->caplen, h->len)) {
	case PACKET_OK:
		pk.ts_ns = ts_ns;
		return pk.proto == TRANSPORT_TCP ? on_tcp(im, &pk) : on_udp(im, &pk);
	case PACKET_OTHER:
		im->counts.others++;
		break;
	case PACKET_FRAGMENT:
		im->counts.fragments++;
		break;
	case PACKET_SHORT:
		im->counts.cut++;
		break;
	}
	return 0;
}

int import__read(struct import *im, pcap_t *p)
{
	int link = pcap_datalink(p), got, err = 0;
	struct pcap_pkthdr *h;
	const u_char *data;

	while (!err && (got = pcap_next_ex(p, &h, &data)) == 1)
		err = on_packet(im, link, h, data);
	return err ? err : got == PCAP_ERROR ? -EBADMSG : 0;
}

static int put_losses(struct import *im)
{
	struct rec_loss r = {.ts_ns = im->now_ns, .source = {"pcap", 4}};
	int err = 0;

	im->counts.forgotten = im->flows.forced;
#define X(name, text)                                                                              \
	r.cause = (struct span){text, sizeof(text) - 1};                                           \
	r.count = im->counts.name;                                                                 \
	if (!err && r.count)                                                                       \
		err = im->records.sink.put(im->records.sink.ctx, REC_loss, &r);
	IMPORT_LOSSES(X)
#undef X
	return err;
}

int import__finish(struct import *im)
{
	int err = im->begun ? 0 : begin(im, 0);

	if (!err)
		err = flow_put_stats(&im->records, im->now_ns);
	if (!err)
		err = flow_table__clear(&im->flows);
	return err ? err : put_losses(im);
}

const struct import_counts *import__counts(const struct import *im)
{
	return &im->counts;
}

int import__new(struct import **out, const struct import_opts *o, const struct import_sink *sink)
{
	struct import *im = calloc(1, sizeof(*im));
	int err;

	if (!im)
		return -ENOMEM;
	im->opts = *o;
	im->records.sink = *sink;
	im->records.payload = o->payload;
	im->records.redact = o->redact;
	im->records.redact_sql = o->redact_sql;
	err = flow_table__init(&im->flows, &o->limits, on_gone, im);
	if (!err)
		err = servers__init(&im->servers);
	if (err)
		import__free(im);
	else
		*out = im;
	return err;
}

void import__free(struct import *im)
{
	if (!im)
		return;
	flow_table__fini(&im->flows);
	servers__fini(&im->servers);
	free(im);
}
