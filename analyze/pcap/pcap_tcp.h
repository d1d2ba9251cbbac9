/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reassembles one direction of a TCP connection: each byte once, in order. Positions count from the
 * first byte seen (or the SYN). A hole is given up when the receiver acknowledged data after it
 * (then only the capture missed it), or when too much data waits for it. It stays a gap in the
 * positions.
 */
#ifndef ANALYZE_PCAP_TCP_H
#define ANALYZE_PCAP_TCP_H

#include <stdbool.h>
#include <stdint.h>

#include "format/records.h"

/* Bytes that wait because of holes, in all connections together. */
struct tcp_pool {
	uint64_t held;
};

struct tcp_segment {
	uint32_t seq;
	uint32_t len;	  /* length on the wire */
	struct span data; /* captured bytes */
	uint64_t ts_ns;
};

struct tcp_held;

struct tcp_side {
	bool begun, fin, finished; /* finished: all data up to the FIN was seen */
	uint32_t next;		   /* sequence number of the byte at `pos` */
	uint32_t acked;		   /* last acknowledgement by the other side */
	bool has_acked;
	uint32_t fin_seq;
	uint64_t pos;
	struct tcp_held *held; /* ordered by sequence number */
	uint32_t held_sz, held_cnt;
	uint64_t retransmits, holes, missing; /* missing: bytes in holes that were given up */
	/* Round-trip time: one segment at a time is followed until it is acknowledged (Karn: not if
	 * it was retransmitted). */
	uint32_t timed_end;
	uint64_t timed_ns; /* 0: none */
	uint32_t srtt_us;
};

/* Receives bytes in order. ts_ns: when the data up to here was complete. A non-zero result ends the
 * import. */
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
/* Gives up all holes at the end of data. */
int tcp_side__flush(struct tcp_side *t, const struct tcp_sink *k);
/* Is no byte known to be missing behind the last one in the capture? */
bool tcp_side__is_whole(const struct tcp_side *t);
void tcp_side__fini(struct tcp_side *t, struct tcp_pool *pool);

/* Is seq before `next`? Sequence numbers wrap. No window is larger than 1 GiB (RFC 7323), so the
 * quarter of all numbers below `next` counts as old. */
static inline bool tcp_is_old(uint32_t seq, uint32_t next)
{
	return seq - next >= 0xc0000000u;
}

#endif
