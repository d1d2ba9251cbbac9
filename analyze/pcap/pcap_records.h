/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the records of flows: connections, statistics, payload. */
#ifndef ANALYZE_PCAP_RECORDS_H
#define ANALYZE_PCAP_RECORDS_H

#include "format/records.h"
#include "analyze/pcap/pcap_flow.h"

enum { STRING_MAX = 65535, ADDRESS_TEXT_MAX = 46 };

/* Receives the records. A non-zero result ends the import and is returned. */
struct import_sink {
	int (*begin)(void *ctx, uint64_t first_ns); /* called before the first record */
	int (*put)(void *ctx, enum rec_kind kind, const void *rec);
	void *ctx;
};

struct flow_records {
	struct import_sink sink;
	uint32_t payload; /* bytes captured per segment or datagram */
	bool redact, redact_sql;
	struct flow *changed;	    /* flows that transferred bytes since their last statistics */
	uint8_t masked[STRING_MAX]; /* buffer for a segment's bytes while secrets are masked */
};

/* Formats an address, v4-mapped IPv6 as IPv4. buf: ADDRESS_TEXT_MAX bytes. */
struct span address_text(const struct endpoint *e, char *buf, size_t sz);

int flow_put_connection(struct flow_records *to, const struct flow *f);
/* Segments of a direction must come in the order of their bytes. Each datagram stands for itself.
 */
int flow_put_payload(struct flow_records *to, struct flow *f, int dir, uint64_t pos,
		     const struct tcp_segment *s);
int flow_put_stat(struct flow_records *to, struct flow *f, uint64_t ts_ns);
/* Writes the statistics of all changed flows. */
int flow_put_stats(struct flow_records *to, uint64_t ts_ns);
/* Removes a flow from the list of changed ones, before it is freed. */
void flow_unlist(struct flow *f);

#endif
