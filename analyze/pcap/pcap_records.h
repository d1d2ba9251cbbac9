/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of flows: connections, what they moved, their payload. */
#ifndef ANALYZE_PCAP_RECORDS_H
#define ANALYZE_PCAP_RECORDS_H

#include "format/records.h"
#include "analyze/pcap/pcap_flow.h"

enum { STRING_MAX = 65535, ADDRESS_TEXT_MAX = 46 };

/* Where the records go; a non-zero result ends the work and is returned. */
struct import_sink {
	int (*begin)(void *ctx, uint64_t first_ns); /* before the first record */
	int (*put)(void *ctx, enum rec_kind kind, const void *rec);
	void *ctx;
};

struct flow_records {
	struct import_sink sink;
	uint32_t payload; /* bytes kept of each segment or datagram */
	bool redact, redact_sql;
	struct flow *changed;	    /* that moved bytes since their last statistics */
	uint8_t masked[STRING_MAX]; /* a segment's bytes while secrets are masked */
};

/* v4-mapped IPv6 as IPv4; in buf of ADDRESS_TEXT_MAX. */
struct span address_text(const struct endpoint *e, char *buf, size_t sz);

int flow_put_connection(struct flow_records *to, const struct flow *f);
/* Segments of a direction come in the order of their bytes; datagrams stand for themselves. */
int flow_put_payload(struct flow_records *to, struct flow *f, int dir, uint64_t pos,
		     const struct tcp_segment *s);
int flow_put_stat(struct flow_records *to, struct flow *f, uint64_t ts_ns);
/* Of all that changed. */
int flow_put_stats(struct flow_records *to, uint64_t ts_ns);
/* The flow goes: no statistics of it any more. */
void flow_unlist(struct flow *f);

#endif
