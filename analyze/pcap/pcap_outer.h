/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture has no processes: all its servers are one, with the file's name; but what came in a
 * tunnel belongs to one that is named for the tunnel.
 */
#ifndef ANALYZE_PCAP_OUTER_H
#define ANALYZE_PCAP_OUTER_H

#include "analyze/pcap/pcap_records.h"

enum { PROCESS_ID = 1, OUTER_MAX = 1000 };

struct outers {
	char *names[OUTER_MAX]; /* in the order of their processes */
	uint32_t cnt;
};

void outers__fini(struct outers *o);
/* Writes process and thread `id`. */
int outer_put_process(const struct import_sink *sink, uint32_t id, const char *name,
		      uint64_t ts_ns);
/* The process that the packet's connection belongs to; written when it is new. */
int outers__process(struct outers *o, const struct import_sink *sink, const struct packet *pk,
		    uint32_t *id);

#endif
