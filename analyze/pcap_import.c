/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap_import.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../format/redact.h"
#include "pcap_server.h"

enum { PROCESS_ID = 1, THREAD_ID = 1, STRING_MAX = 65535 };
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
	struct import_sink sink;
	struct import_counts counts;
	struct flow_table flows;
	struct servers servers;
	struct tcp_pool pool;
	struct flow *changed;
	uint64_t now_ns, tick_ns;
	uint32_t last_id;
	bool begun;
	uint8_t masked[STRING_MAX]; /* a segment's bytes while secrets are masked */
};

/* ---- records ---- */

static struct span address_text(const struct endpoint *e, char *buf, size_t sz)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	bool v4 = !memcmp(e->addr, mapped, 12);

	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? e->addr + 12 : e->addr, buf, sz);
	return (struct span){buf, strlen(buf)};
}

static int put_connection(struct import *im, const struct flow *f)
{
	char local[INET6_ADDRSTRLEN], remote[INET6_ADDRSTRLEN];
	const struct rec_connection r = {
		.id = f->id,
		.process = PROCESS_ID,
		.transport = f->proto,
		.local_addr = address_text(&f->end[0], local, sizeof(local)),
		.local_port = f->end[0].port,
		.remote_addr = address_text(&f->end[1], remote, sizeof(remote)),
		.remote_port = f->end[1].port,
		.role = f->role,
		.opened_ns = f->opened_ns,
		.sampled = 1,
	};

	return im->sink.put(im->sink.ctx, REC_connection, &r);
}

/* Each end's round trips reach from the place of the capture to the other end: together they are
 * the whole way, wherever it was made. */
static uint32_t round_trip(const struct flow *f)
{
	return f->side[0].srtt_us + f->side[1].srtt_us;
}

static void unlist(struct flow *f)
{
	if (!f->changed_at)
		return;
	*f->changed_at = f->next_changed;
	if (f->next_changed)
		f->next_changed->changed_at = f->changed_at;
	f->changed_at = NULL;
}

static void list_changed(struct import *im, struct flow *f)
{
	if (f->changed_at)
		return;
	f->next_changed = im->changed;
	f->changed_at = &im->changed;
	if (im->changed)
		im->changed->changed_at = &f->next_changed;
	im->changed = f;
}

static int put_stat(struct import *im, struct flow *f, uint64_t ts_ns)
{
	const struct flow_counts *c = &f->counts;
	const struct rec_connection_stat r = {
		.connection = f->id,
		.ts_ns = ts_ns,
		.bytes_sent = c->bytes[0],
		.bytes_received = c->bytes[1],
		.sends = c->calls[0],
		.receives = c->calls[1],
		.retransmits = f->side[0].retransmits - c->retransmits,
		.srtt_us = round_trip(f),
	};

	unlist(f);
	f->counts = (struct flow_counts){.retransmits = f->side[0].retransmits};
	return im->sink.put(im->sink.ctx, REC_connection_stat, &r);
}

/* Segments of a direction come in the order of their bytes; datagrams stand for themselves. */
static void mask(struct import *im, struct flow *f, struct rec_payload *r)
{
	const struct redact_payload call = {r->direction, r->position, r->len, r->data.len,
					    im->masked};
	struct redact_conn *alone = NULL;

	memcpy(im->masked, r->data.p, r->data.len);
	r->data.p = (const char *)im->masked;
	if (redact__apply(r->flags & PAYLOAD_DATAGRAM ? &alone : &f->redact, im->opts.redact_sql,
			  &call))
		r->flags |= PAYLOAD_REDACTED;
	redact_conn__free(alone);
}

/* Strings have a bound, so what was captured of a very long segment takes several records; the last
 * one counts what was not kept. */
static int put_payload(struct import *im, struct flow *f, int dir, uint64_t pos,
		       const struct tcp_segment *s)
{
	size_t kept = s->data.len < im->opts.payload ? s->data.len : im->opts.payload, off = 0;
	int err = 0;

	f->counts.bytes[dir] += s->len;
	f->counts.calls[dir]++;
	list_changed(im, f);
	while (!err && off < s->len) {
		size_t n = kept - off < STRING_MAX ? kept - off : STRING_MAX;
		uint32_t len = off + n == kept ? s->len - off : n;
		struct rec_payload r = {
			.connection = f->id,
			.thread = THREAD_ID,
			.ts_ns = s->ts_ns,
			.direction = dir,
			.position = pos + off,
			.len = len,
			.tcp_seq = f->proto == TRANSPORT_TCP ? s->seq + (uint32_t)off : 0,
			.flags = f->proto == TRANSPORT_UDP ? PAYLOAD_DATAGRAM : 0,
			.peer = {"", 0},
			.data = {s->data.p + off, n},
		};

		if (im->opts.redact && n)
			mask(im, f, &r);
		err = im->sink.put(im->sink.ctx, REC_payload, &r);
		off += len;
	}
	return err;
}

/* ---- connections ---- */

struct emit_to {
	struct import *im;
	struct flow *flow;
	int dir;
};

static int on_bytes(void *ctx, uint64_t pos, const struct tcp_segment *s)
{
	const struct emit_to *to = ctx;

	return put_payload(to->im, to->flow, to->dir, pos, s);
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
		err = put_stat(im, f, f->last_ns);
	/* Again, as a reader may have lost the chunk with the first. */
	if (!err)
		err = put_connection(im, f);
	if (!err)
		err = im->sink.put(im->sink.ctx, REC_connection_close, &r);
	flow_table__close(&im->flows, f);
	return err;
}

/* Before the table frees it. Its end is not known, so no close is told. */
static int on_gone(void *ctx, struct flow *f)
{
	struct import *im = ctx;
	int err = flush_sides(im, f);

	if (!err && f->changed_at)
		err = put_stat(im, f, f->last_ns);
	unlist(f);
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
	return put_connection(im, f);
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

	err = put_payload(im, f, dir, f->position[dir], &s);
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
	err = im->sink.begin(im->sink.ctx, ts_ns);
	if (!err)
		err = im->sink.put(im->sink.ctx, REC_process, &process);
	return err ? err : im->sink.put(im->sink.ctx, REC_thread, &thread);
}

static int put_stats(struct import *im, uint64_t ts_ns)
{
	int err = 0;

	while (im->changed && !err)
		err = put_stat(im, im->changed, ts_ns);
	return err;
}

static int advance(struct import *im, uint64_t ts_ns)
{
	int err;

	if (ts_ns > im->now_ns)
		im->now_ns = ts_ns;
	im->counts.last_ns = im->now_ns;
	if (im->now_ns < im->tick_ns)
		return 0;
	err = put_stats(im, im->tick_ns);
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
		err = im->sink.put(im->sink.ctx, REC_loss, &r);
	IMPORT_LOSSES(X)
#undef X
	return err;
}

int import__finish(struct import *im)
{
	int err = im->begun ? 0 : begin(im, 0);

	if (!err)
		err = put_stats(im, im->now_ns);
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
	im->sink = *sink;
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
