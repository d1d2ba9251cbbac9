/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets that are not converted to records, counted by kind. */
#ifndef ANALYZE_PCAP_LEFT_OUT_H
#define ANALYZE_PCAP_LEFT_OUT_H

#include "analyze/pcap/pcap_packet.h"

enum { LEFT_OUT_MAX = 64 };

struct left_out_row {
	struct packet_kind_id kind;
	uint64_t cnt;
};

struct left_out {
	struct left_out_row rows[LEFT_OUT_MAX]; /* the last row counts all further kinds */
	uint32_t cnt;
};

void left_out__add(struct left_out *l, const struct packet_kind_id *kind, uint64_t cnt);
/* Sorts by count, descending. */
void left_out__sort(struct left_out *l);
/* The name of a kind, for display. `buf`, of sz bytes, may hold it. */
const char *left_out_text(const struct packet_kind_id *kind, char *buf, size_t sz);

#endif
