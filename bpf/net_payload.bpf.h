/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Payload: the bytes of a call in this CPU's scratch, whose they are, sent to obrec. */
#ifndef BPF_NET_PAYLOAD_BPF_H
#define BPF_NET_PAYLOAD_BPF_H

#include "net_call.bpf.h"
#include "frames.h"
#include "tls_thread.bpf.h"

enum { PAYLOAD_DATAGRAM = 1, PAYLOAD_TLS = 2 };

/* Through the caller's memory (net_frames.bpf.c). */
struct net_walk {
	struct frames frames;
	__u32 piece, piece_sz; /* of the vector: its offset in the call */
	__u64 base;
	__u64 iov, iov_cnt; /* what comes behind it */
};
enum { NET_PIECES = 4 };

struct net_scratch {
	__u64 busy;			      /* claim() */
	struct user_iovec pieces[NET_PIECES]; /* of a vector, those being gathered */
	struct net_walk walk;
	struct wire_payload record;
	__u8 data[2 *
		  NET_MAX_PAYLOAD]; /* twice: an offset and a length below the bound always fit */
};
/*
 * One a CPU; an array, as per-CPU memory comes in 32 KiB at most. Behind them PLAIN_SLOTS a CPU for
 * uprobes: a task may be preempted in these (5.18 on, when they stopped to disable preemption).
 */
struct net_scratch_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct net_scratch);
};
extern struct net_scratch_map net_scratch SEC(".maps");

extern const volatile __u32 net_payload_max;
extern const volatile __u64
	net_ring_limit; /* beyond it samples and stacks have the ring for themselves */
extern const volatile __u32 net_direction; /* bit 0: as client, bit 1: as server */
extern const volatile bool net_tls;	   /* clear text is taken in TLS libraries */

/* net_payload.bpf.c: `want` bytes at `user` into that scratch, global as net_gather(); returns how
 * many, all or none. */
int net_copy(__u32 slot, __u64 user, __u32 want);
/* Up to `want` bytes of a vector into this CPU's scratch; returns how many. */
int net_gather(__u64 iov, __u64 cnt, __u32 want);

/* Into that scratch; vectors into the CPU's own only. */
static __always_inline __u32 copy_payload(__u32 slot, enum buffers how, const struct call *c,
					  __u32 want)
{
	struct user_msghdr m;

	switch (how) {
	case BUF_PLAIN:
		if (want > c->arg[2]) /* MSG_TRUNC: more came than fits */
			want = c->arg[2];
		return net_copy(slot, c->arg[1], want);
	case BUF_IOVEC:
		return net_gather(c->arg[1], c->arg[2], want);
	case BUF_MSGHDR:
		if (bpf_probe_read_user(&m, sizeof(m), (void *)c->arg[1]))
			return 0;
		return net_gather(m.iov, m.iov_cnt, want);
	default:
		return 0;
	}
}

struct user_sockaddr { /* sockaddr_in and sockaddr_in6 */
	__u16 family, port;
	__u32 v4_or_flow;
	__u8 v6[16];
};

static __always_inline void read_peer(struct net_addr *to, __u64 user)
{
	struct user_sockaddr a = {0};

	if (!user || bpf_probe_read_user(&a, sizeof(a), (void *)user))
		if (!user || bpf_probe_read_user(&a, 16, (void *)user))
			return;
	to->port = bpf_ntohs(a.port);
	if (a.family == AF_INET) {
		to->family = 4;
		__builtin_memcpy(to->addr, &a.v4_or_flow, 4);
	} else if (a.family == AF_INET6) {
		to->family = 6;
		__builtin_memcpy(to->addr, a.v6, 16);
	}
}

/* Where a datagram's other side is named: sendto/recvfrom's fifth argument or the message's name.
 */
static __always_inline void find_peer(struct net_addr *to, const struct call *c)
{
	__u64 user = 0;

	if (c->nr == NR_sendto || c->nr == NR_recvfrom)
		user = c->arg[4];
	else if (bpf_probe_read_user(&user, sizeof(user), (void *)c->arg[1]))
		return;
	read_peer(to, user);
}

static __always_inline bool wants_any_payload(const struct net_sock *s)
{
	__u32 role = s->flags & (NET_CLIENT | NET_SERVER);

	if (!net_payload_on || s->flags & NET_SAMPLED_OUT || thinned_out(s->id))
		return false;
	return !role || role & net_direction;
}

/* Of what the socket moved just now. */
static __always_inline bool wants_payload(const struct net_sock *s, __u32 dir)
{
	if (net_tls && (tls_moved(s->key, s->id, dir) || s->flags & NET_TLS))
		return false;
	return wants_any_payload(s);
}

static __always_inline void payload_fill(struct net_scratch *n, const struct net_sock *s, __u32 dir,
					 __u32 len, __u64 pos, __u32 tcp_seq)
{
	__u64 id = bpf_get_current_pid_tgid();

	n->record.hdr.kind = WIRE_PAYLOAD;
	n->record.hdr.probe = 0;
	n->record.ts_ns = bpf_ktime_get_ns();
	n->record.sock = s->id;
	n->record.tgid = id >> 32;
	if (n->record.tid != (__u32)id) /* else it is still there */
		bpf_get_current_comm(n->record.comm, sizeof(n->record.comm));
	n->record.tid = id;
	n->record.flags = s->transport == IPPROTO_UDP || s->transport == TRANSPORT_UNIX_DGRAM
				  ? PAYLOAD_DATAGRAM
				  : 0;
	n->record.pos = pos;
	n->record.len = len;
	n->record.tcp_seq = tcp_seq;
	n->record.dir = dir;
	__builtin_memset(&n->record.peer, 0, sizeof(n->record.peer));
}

static __always_inline struct net_scratch *payload_begin(struct net_sock *s, __u32 dir, __u32 len,
							 __u64 pos, __u32 tcp_seq)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct net_scratch *n = bpf_map_lookup_elem(&net_scratch, &cpu);

	if (!n)
		return NULL;
	if (!claim(&n->busy)) {
		loss_count(LOSS_SCRATCH);
		return NULL;
	}
	payload_fill(n, s, dir, len, pos, tcp_seq);
	return n;
}

static __always_inline void payload_send(struct net_scratch *n, __u32 kept)
{
	__u32 sz;

	if (kept > NET_MAX_PAYLOAD)
		kept = NET_MAX_PAYLOAD;
	sz = (sizeof(n->record) + kept + 7) & ~7u;
	n->record.kept = kept;
	n->record.hdr.size = sz;
	ring_output_below(&n->record, sz, 2 * NET_MAX_PAYLOAD - 1, LOSS_RING_PAYLOAD,
			  net_ring_limit);
}

static __always_inline void payload_end(struct net_scratch *n, __u32 kept)
{
	payload_send(n, kept);
	unclaim(&n->busy);
}

#endif
