/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes of a capture. A capture has no processes, so all servers belong to one process, named
 * after the file. Servers inside a tunnel belong to a process named after the tunnel.
 */
#ifndef ANALYZE_PCAP_OUTER_H
#define ANALYZE_PCAP_OUTER_H

#include "analyze/pcap/pcap_records.h"

enum { PROCESS_ID = 1, OUTER_MAX = 1000 };

struct outers {
	char *names[OUTER_MAX]; /* by process, in the order of creation */
	uint32_t cnt;
};

void outers__fini(struct outers *o);
/* Writes a process and a thread with that `id`. */
int outer_put_process(const struct import_sink *sink, uint32_t id, const char *name,
		      uint64_t ts_ns);
/* *id: the process of the packet's connection. Writes the process if it is new. */
int outers__process(struct outers *o, const struct import_sink *sink, const struct packet *pk,
		    uint32_t *id);

#endif
