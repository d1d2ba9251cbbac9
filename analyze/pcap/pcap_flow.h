/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connections of a capture, found by address. Bounded: connections idle for long are removed,
 * and the longest-idle one when there are too many. The owner is notified before each removal.
 */
#ifndef ANALYZE_PCAP_FLOW_H
#define ANALYZE_PCAP_FLOW_H

#include "analyze/pcap/pcap_packet.h"
#include "analyze/pcap/pcap_tcp.h"

/* Counts since the last connection_stat row, as seen by the local side. */
struct flow_counts {
	uint64_t bytes[2], calls[2]; /* sent, received */
	uint64_t retransmits;
};

/* Receive window (RFC 7323) offered by one end. */
struct flow_window {
	bool syn_seen;
	uint8_t scale;
	uint32_t most; /* largest window offered so far */
};

struct flow {
	struct endpoint end[2]; /* the local side (the server), the remote side */
	uint8_t proto;
	bool closed;
	uint64_t net; /* virtual network of the addresses */
	uint32_t id;
	uint32_t process;
	uint32_t role;
	uint64_t opened_ns, last_ns;
	uint32_t first_seq; /* of the SYN that opened the connection */
	bool has_syn;
	struct tcp_side side[2];      /* bytes sent by end[0], by end[1] */
	struct flow_window window[2]; /* offered by each end */
	uint64_t position[2];	      /* of datagrams */
	struct flow_counts counts;
	struct redact_conn *redact;  /* state of redaction across segments; owned */
	struct undecided *undecided; /* set while it is unknown which end is the server; owned */

	struct flow *chain;	    /* next in its hash bucket */
	struct flow *older, *newer; /* by last use, in the list of open or closed flows */
	struct flow *next_changed, **changed_at; /* list of flows with counts not yet written */
};

typedef int (*flow_gone_fn)(void *ctx, struct flow *f);

struct flow_limits {
	uint32_t max_cnt;
	uint64_t idle_ns, closed_ns; /* time without packets after which a flow is removed;
				      * closed flows stay for their last packets */
};

struct flow_list {
	struct flow *oldest, *newest;
};

struct flow_table {
	struct flow_limits limits;
	flow_gone_fn gone;
	void *ctx;
	struct flow **buckets;
	uint32_t bucket_cnt, cnt;
	uint64_t seed, forced; /* forced: number removed while open, for lack of room */
	struct flow_list open, shut;
};

int flow_table__init(struct flow_table *t, const struct flow_limits *l, flow_gone_fn gone,
		     void *ctx);
void flow_table__fini(struct flow_table *t); /* does not call `gone` */

/* Swaps the two ends. */
void flow_swap(struct flow *f);

/* Finds a flow in either direction. NULL: none. */
struct flow *flow_table__find(struct flow_table *t, const struct packet *pk);
/* Adds a flow for the packet, evicting others if necessary. sender_local: the packet's sender is
 * the local end. 0 or negative errno. */
int flow_table__add(struct flow_table *t, const struct packet *pk, bool sender_local,
		    struct flow **f);
void flow_table__touch(struct flow_table *t, struct flow *f, uint64_t now_ns);
void flow_table__close(struct flow_table *t, struct flow *f);
int flow_table__remove(struct flow_table *t, struct flow *f);
/* Removes flows that have been idle for long. */
int flow_table__expire(struct flow_table *t, uint64_t now_ns);
/* Removes all flows, oldest first. */
int flow_table__clear(struct flow_table *t);

static inline bool endpoint_equal(const struct endpoint *a, const struct endpoint *b)
{
	return a->port == b->port && !__builtin_memcmp(a->addr, b->addr, 16);
}

uint64_t endpoint_hash(const struct endpoint *e, uint64_t seed);

#endif
