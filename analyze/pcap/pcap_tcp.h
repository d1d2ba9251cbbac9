/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One direction of a TCP connection put together from its segments: each byte once, in order.
 * Positions count from the first byte seen (or the SYN); a hole that is given up stays a gap in
 * them. A hole is given up when the receiver acknowledged what lies behind it (then only the
 * capture missed it), or when too much waits for it.
 */
#ifndef ANALYZE_PCAP_TCP_H
#define ANALYZE_PCAP_TCP_H

#include <stdbool.h>
#include <stdint.h>

#include "format/records.h"

/* What waits behind a hole, in all connections together. */
struct tcp_pool {
	uint64_t held;
};

struct tcp_segment {
	uint32_t seq;
	uint32_t len;	  /* as sent */
	struct span data; /* as captured */
	uint64_t ts_ns;
};

struct tcp_held;

struct tcp_side {
	bool begun, fin, finished; /* finished: all up to its FIN was seen */
	uint32_t next;		   /* sequence number of the byte at `pos` */
	uint32_t acked;		   /* the other side's last acknowledgement of this one */
	bool has_acked;
	uint32_t fin_seq;
	uint64_t pos;
	struct tcp_held *held; /* by sequence number */
	uint32_t held_sz, held_cnt;
	uint64_t retransmits, holes, missing; /* missing: bytes in the holes given up */
	/* One segment at a time is followed to its acknowledgement (Karn: none that was sent
	 * twice).
	 */
	uint32_t timed_end;
	uint64_t timed_ns; /* 0: none */
	uint32_t srtt_us;
};

/* Bytes in order; ts_ns: when they were complete up to here. Non-zero ends the work. */
typedef int (*tcp_emit_fn)(void *ctx, uint64_t pos, const struct tcp_segment *s);

struct tcp_sink {
	struct tcp_pool *pool;
	tcp_emit_fn emit;
	void *ctx;
};

void tcp_side__begin(struct tcp_side *t, uint32_t next);
int tcp_side__segment(struct tcp_side *t, const struct tcp_segment *s, const struct tcp_sink *k);
int tcp_side__ack(struct tcp_side *t, uint32_t ack, uint64_t ts_ns, const struct tcp_sink *k);
void tcp_side__fin(struct tcp_side *t, uint32_t seq);
/* Gives up every hole: nothing more comes. */
int tcp_side__flush(struct tcp_side *t, const struct tcp_sink *k);
void tcp_side__fini(struct tcp_side *t, struct tcp_pool *pool);

/* Whether a number lies at or behind `next`, seen from there; sequence numbers wrap. No window is
 * larger than 1 GiB (RFC 7323), so that the quarter of all numbers below `next` is old. */
static inline bool tcp_is_old(uint32_t seq, uint32_t next)
{
	return seq - next >= 0xc0000000u;
}

#endif
