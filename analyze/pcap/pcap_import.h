/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts the packets of a capture file to the records that obrec writes for sockets. Processes
 * are unknown, so each connection is recorded from its server's side: "sent" means sent by the
 * server.
 */
#ifndef ANALYZE_PCAP_IMPORT_H
#define ANALYZE_PCAP_IMPORT_H

#include "format/records.h"
#include "analyze/pcap/pcap_file.h"
#include "analyze/pcap/pcap_flow.h"
#include "analyze/pcap/pcap_left_out.h"
#include "analyze/pcap/pcap_records.h"

struct import_opts {
	const char *name; /* process name */
	uint32_t payload; /* bytes captured per segment or datagram */
	struct flow_limits limits;
	bool redact, redact_sql; /* mask secrets; mask literals in SQL */
};

/* Default limits, suitable for most captures. */
extern const struct flow_limits import_limits;

/* Packet counts. Losses are those of IMPORT_LOSSES. */
#define IMPORT_LOSSES(X)                                                                           \
	X(fragments, "IP fragments whose datagram is not whole")                                   \
	X(cut, "packets truncated or damaged before their payload")                                \
	X(missing, "TCP bytes not in the capture")                                                 \
	X(forgotten, "connections evicted: too many at once")
struct import_counts {
	uint64_t packets, connections, flows; /* flows: of datagrams */
	uint64_t first_ns, last_ns;
#define X(name, text) uint64_t name;
	IMPORT_LOSSES(X)
#undef X
	struct left_out left_out; /* not losses: other protocols than TCP and UDP, and duplicates */
};

struct import;

int import__new(struct import **im, const struct import_opts *o, const struct import_sink *sink);
void import__free(struct import *im);
/* Reads to the end of c. -EBADMSG: the file is truncated or damaged there (pcap_file__error); what
 * was read before is valid. */
int import__read(struct import *im, struct pcap_file *c);
/* Writes the last records. The counts are final afterwards. */
int import__finish(struct import *im);
const struct import_counts *import__counts(const struct import *im);

#endif
