/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/pcap/pcap_import.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/pcap/pcap_conns.h"
#include "analyze/pcap/pcap_fragments.h"
#include "analyze/pcap/pcap_twice.h"

#define SECOND 1000000000ULL

const struct flow_limits import_limits = {
	.max_cnt = 200000,
	.idle_ns = 900 * SECOND,
	.closed_ns = 60 * SECOND,
};

struct import {
	struct import_opts opts;
	struct import_counts counts;
	struct conns conns;
	struct fragments *fragments;
	struct twice twice;
	uint64_t now_ns, tick_ns;
	bool begun;
};

static int put(struct import *im, enum rec_kind kind, const void *rec)
{
	const struct import_sink *sink = &im->conns.records.sink;

	return sink->put(sink->ctx, kind, rec);
}

static int begin(struct import *im, uint64_t ts_ns)
{
	const struct import_sink *sink = &im->conns.records.sink;
	int err;

	im->begun = true;
	im->counts.first_ns = im->counts.last_ns = im->now_ns = ts_ns;
	im->tick_ns = ts_ns + SECOND;
	err = sink->begin(sink->ctx, ts_ns);
	return err ? err : outer_put_process(sink, PROCESS_ID, im->opts.name, ts_ns);
}

static int advance(struct import *im, uint64_t ts_ns)
{
	int err;

	if (ts_ns > im->now_ns)
		im->now_ns = ts_ns;
	im->counts.last_ns = im->now_ns;
	if (im->now_ns < im->tick_ns)
		return 0;
	err = flow_put_stats(&im->conns.records, im->tick_ns);
	im->tick_ns += (im->now_ns - im->tick_ns) / SECOND * SECOND + SECOND;
	return err ? err : flow_table__expire(&im->conns.flows, im->now_ns);
}

static int on_frame(struct import *im, const struct pcap_frame *frame)
{
	struct packet pk;
	int err = 0;

	if (!im->begun)
		err = begin(im, frame->ts_ns);
	if (!err)
		err = advance(im, frame->ts_ns);
	im->counts.packets++;
	if (err)
		return err;
	switch (packet_parse(&pk, im->fragments, frame)) {
	case PACKET_OK:
		pk.path = pk.path * 31 + frame->interface;
		if (twice__seen(&im->twice, &pk))
			return 0;
		return pk.proto == TRANSPORT_TCP ? conns__tcp(&im->conns, &pk)
						 : conns__udp(&im->conns, &pk);
	case PACKET_OTHER:
		left_out__add(&im->counts.left_out, &pk.kind, 1);
		break;
	case PACKET_FRAGMENT: /* counted in fragments__lost() */
		break;
	case PACKET_SHORT:
		im->counts.cut++;
		break;
	}
	return 0;
}

int import__read(struct import *im, struct pcap_file *c)
{
	struct pcap_frame frame;
	int got = 0, err = 0;

	while (!err && (got = pcap_file__next(c, &frame)) == 1)
		err = on_frame(im, &frame);
	return err ? err : got;
}

static void count(struct import *im)
{
	const struct {
		const char *name;
		uint64_t cnt;
	} more[] = {{"packets captured twice", im->twice.cnt + fragments__again(im->fragments)},
#define X(name, text) {text, im->conns.name},
		    STRAYS(X)
#undef X
	};
	struct import_counts *to = &im->counts;

	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		left_out__add(&to->left_out, &(struct packet_kind_id){"", 0, more[i].name},
			      more[i].cnt);
	left_out__sort(&to->left_out);
	to->connections = im->conns.tcp_cnt;
	to->flows = im->conns.udp_cnt;
	to->missing = im->conns.missing;
	to->fragments = fragments__lost(im->fragments);
	to->forgotten = im->conns.flows.forced;
}

static int put_losses(struct import *im)
{
	struct rec_loss r = {.ts_ns = im->now_ns, .source = {"pcap", 4}};
	int err = 0;

#define X(name, text)                                                                              \
	r.cause = (struct span){text, sizeof(text) - 1};                                           \
	r.count = im->counts.name;                                                                 \
	if (!err && r.count)                                                                       \
		err = put(im, REC_loss, &r);
	IMPORT_LOSSES(X)
#undef X
	return err;
}

int import__finish(struct import *im)
{
	int err = im->begun ? 0 : begin(im, 0);

	if (!err)
		err = flow_put_stats(&im->conns.records, im->now_ns);
	if (!err)
		err = flow_table__clear(&im->conns.flows);
	count(im);
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
	im->conns.records.sink = *sink;
	im->conns.records.payload = o->payload;
	im->conns.records.redact = o->redact;
	im->conns.records.redact_sql = o->redact_sql;
	err = conns__init(&im->conns, &o->limits);
	if (!err)
		err = fragments__new(&im->fragments);
	if (!err)
		err = twice__init(&im->twice);
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
	conns__fini(&im->conns);
	fragments__free(im->fragments);
	twice__fini(&im->twice);
	free(im);
}
