/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connections of a capture by their addresses. Bounded: those quiet for long are forgotten, and
 * the quietest when there are too many; the owner hears of each before it goes.
 */
#ifndef ANALYZE_PCAP_FLOW_H
#define ANALYZE_PCAP_FLOW_H

#include "analyze/pcap/pcap_packet.h"
#include "analyze/pcap/pcap_tcp.h"

/* Since the last connection_stat row; as the local side saw it. */
struct flow_counts {
	uint64_t bytes[2], calls[2]; /* sent, received */
	uint64_t retransmits;
};

/* Receive windows (RFC 7323): what one end is ready to take. */
struct flow_window {
	bool syn_seen;
	uint8_t scale;
	uint32_t most; /* that it offered yet */
};

struct flow {
	struct endpoint end[2]; /* the local side (the server's), the remote one */
	uint8_t proto;
	bool closed;
	uint64_t net; /* the virtual network of its addresses */
	uint32_t id;
	uint32_t process;
	uint32_t role;
	uint64_t opened_ns, last_ns;
	uint32_t first_seq; /* of the SYN that opened it */
	bool has_syn;
	struct tcp_side side[2];      /* bytes sent by end[0], by end[1] */
	struct flow_window window[2]; /* that they offer */
	uint64_t position[2];	      /* datagrams */
	struct flow_counts counts;
	struct redact_conn *redact;  /* what it carries over, owned */
	struct undecided *undecided; /* which end is the server; owned */

	struct flow *chain;	    /* in its hash bucket */
	struct flow *older, *newer; /* by last use, among the open or the closed ones */
	struct flow *next_changed, **changed_at; /* those with counts to hand out */
};

typedef int (*flow_gone_fn)(void *ctx, struct flow *f);

struct flow_limits {
	uint32_t max_cnt;
	uint64_t idle_ns, closed_ns; /* forgotten after; closed ones stay for their last packets */
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
	uint64_t seed, forced; /* forced: forgotten for want of room while open */
	struct flow_list open, shut;
};

int flow_table__init(struct flow_table *t, const struct flow_limits *l, flow_gone_fn gone,
		     void *ctx);
void flow_table__fini(struct flow_table *t); /* tells nobody */

/* Its ends change places. */
void flow_swap(struct flow *f);

/* In either direction; NULL when there is none. */
struct flow *flow_table__find(struct flow_table *t, const struct packet *pk);
/* A new one for the packet, whose sender is its local end or not; makes room. *f; 0 or negative
 * errno. */
int flow_table__add(struct flow_table *t, const struct packet *pk, bool sender_local,
		    struct flow **f);
void flow_table__touch(struct flow_table *t, struct flow *f, uint64_t now_ns);
void flow_table__close(struct flow_table *t, struct flow *f);
int flow_table__remove(struct flow_table *t, struct flow *f);
/* Forgets what has been quiet for long. */
int flow_table__expire(struct flow_table *t, uint64_t now_ns);
/* All of them, oldest first. */
int flow_table__clear(struct flow_table *t);

static inline bool endpoint_equal(const struct endpoint *a, const struct endpoint *b)
{
	return a->port == b->port && !__builtin_memcmp(a->addr, b->addr, 16);
}

uint64_t endpoint_hash(const struct endpoint *e, uint64_t seed);

#endif
