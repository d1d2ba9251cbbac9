/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns TCP and UDP packets into records of their connections. */
#ifndef ANALYZE_PCAP_CONNS_H
#define ANALYZE_PCAP_CONNS_H

#include "analyze/pcap/pcap_outer.h"
#include "analyze/pcap/pcap_server.h"
#include "analyze/pcap/pcap_undecided.h"

/* TCP segments that match the ports of a connection but do not belong to it. They are dropped and
 * counted. */
#define STRAYS(X)                                                                                  \
	X(earlier, "TCP segments of an earlier connection")                                        \
	X(resets, "TCP resets out of the window")                                                  \
	X(behind, "TCP segments behind the end of their connection")

struct conns {
	struct flow_records records;
	struct flow_table flows;
	struct servers servers;
	struct outers outers;
	struct tcp_pool pool;
	struct undecided_pool undecided;
	uint32_t last_id;
	uint64_t tcp_cnt, udp_cnt, missing; /* missing: TCP bytes */
#define X(name, text) uint64_t name;
	STRAYS(X)
#undef X
};

int conns__init(struct conns *c, const struct flow_limits *limits);
void conns__fini(struct conns *c);
int conns__tcp(struct conns *c, struct packet *pk);
int conns__udp(struct conns *c, struct packet *pk);

#endif
