/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * A socket's entry in `net_socks`: identity, lookup, announcement to obrec, counters. Used by all
 * files of the traffic probes.
 */
#ifndef BPF_NET_SOCK_BPF_H
#define BPF_NET_SOCK_BPF_H

#include "bpf/net/net_kernel.bpf.h"

/* Time when a peer opened a TCP socket that has not been used yet. LRU, because most sockets of a
 * host belong to no target. */
struct net_born_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64); /* as in net_socks */
	__type(value, __u64);
};
struct net_others_map {
	__uint(type, BPF_MAP_TYPE_HASH); /* an entry lives as long as its socket's */
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64); /* as in net_socks */
	__type(value, struct net_others);
};
extern struct net_born_map net_born SEC(".maps");
extern struct net_others_map net_others SEC(".maps");

extern const volatile __u32 net_sample_per_64k;
extern const volatile __u32 net_cpus;
extern const volatile __u32 net_by;
extern const volatile bool net_payload_on; /* l7 */
extern __u32 net_splice_state;		   /* enum net_on_demand */

/* --cpu-budget: captures one in 2^n of the connections that --sample selected. Whole connections
 * are selected, and a higher n selects a subset of those of a lower n. */
extern __u32 net_thin;

static __always_inline void read_addrs(struct sock *sk, struct net_sock *s)
{
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);
	__u32 *local = (void *)s->local.addr, *remote = (void *)s->remote.addr;

	s->local.port = bpf_ntohs(BPF_CORE_READ((struct inet_sock *)sk, inet_sport));
	s->remote.port = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (family == AF_INET6) {
		BPF_CORE_READ_INTO(&s->local.addr, sk, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr8);
		BPF_CORE_READ_INTO(&s->remote.addr, sk, __sk_common.skc_v6_daddr.in6_u.u6_addr8);
		s->local.family = s->remote.family = 6;
		/* ::ffff:a.b.c.d is IPv4 */
		if (!remote[0] && !remote[1] && remote[2] == bpf_htonl(0xffff))
			family = AF_INET;
	}
	if (family == AF_INET) {
		__builtin_memset(s->local.addr, 0, 16);
		__builtin_memset(s->remote.addr, 0, 16);
		local[0] = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
		remote[0] = BPF_CORE_READ(sk, __sk_common.skc_daddr);
		s->local.family = s->remote.family = 4;
	}
	if (!s->remote.port)
		s->remote.family = 0;
}

/* Transport of a TCP, UDP or Unix socket; 0 for others. */
static __always_inline __u32 transport_of(struct sock *sk)
{
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family), type = BPF_CORE_READ(sk, sk_type);

	if (family == AF_UNIX)
		return type == SOCK_DGRAM ? TRANSPORT_UNIX_DGRAM : TRANSPORT_UNIX_STREAM;
	if (family != AF_INET && family != AF_INET6)
		return 0;
	if (type == SOCK_STREAM)
		return BPF_CORE_READ(sk, sk_protocol) == IPPROTO_TCP ? IPPROTO_TCP : 0;
	return type == SOCK_DGRAM ? IPPROTO_UDP : 0;
}

static __always_inline bool thinned_out(__u32 id)
{
	__u32 thin = net_thin & 15;

	return thin && (id * 2654435761u >> 16) >= net_sample_per_64k >> thin;
}

/* Creates the entry, or reassigns it to another process or socket (net_sock.bpf.c). */
int net_sock_settle(__u64 key, __u64 inode, __u32 tgid, __u32 flags);
/* Attributes counted bytes to a process other than the entry's. */
int net_sock_share(__u64 key, __u32 tgid, __u32 dir, __u32 len);
/* The addresses of the entry's socket have changed. */
int net_sock_moved(__u64 key);
/* Some data received on the socket was read by a call that no program saw. */
int net_sock_unseen(__u64 key);
/* Whether the current task's file descriptor `fd` is the socket. */
int net_sock_has_fd(__u64 key, __u32 fd);

/* Returns the entry of a socket. A struct sock that was reused for another socket gets a new entry,
 * and so does a socket that connects again (`flags` are passed only then). */
static __always_inline struct net_sock *sock_get_as(struct sock *sk, __u64 inode, __u32 tgid,
						    __u32 flags)
{
	__u64 key = (__u64)sk, number = 0;
	struct net_sock *s = bpf_map_lookup_elem(&net_socks, &key);

	if (s && s->inode == inode && s->tgid == tgid && !(flags && s->closed_ns))
		return s;
	/* The verifier does not accept a typed pointer as a number, which is all a global function
	 * can take. */
	bpf_probe_read_kernel(&number, sizeof(number), &key);
	net_sock_settle(number, inode, tgid, flags);
	s = bpf_map_lookup_elem(&net_socks, &key);
	return s && s->inode == inode ? s : NULL;
}

static __always_inline struct net_sock *sock_get(struct sock *sk, __u32 tgid, __u32 flags)
{
	return sock_get_as(sk, sock_inode(sk, false), tgid, flags);
}

/* ---- counting ---- */

static __always_inline void tcp_health(struct sock *sk, struct net_sock *s)
{
	struct tcp_sock *tp = (void *)sk;

	s->retransmits = BPF_CORE_READ(tp, total_retrans);
	s->srtt_us = BPF_CORE_READ(tp, srtt_us) >> 3;
}

/*
 * Counts the bytes of a call and sets *pos to their stream position. `fetch`, a constant: atomic
 * additions return the old value (5.12, 5ca419f2864a, "bpf: Add BPF_FETCH field / create
 * atomic_fetch_add instruction"; older kernels reject the instruction even where it is
 * unreachable). Without it, threads that use a socket at the same time may get the same position;
 * the sums are correct.
 */
static __always_inline void count_bytes(struct net_sock *s, __u32 tgid, __u32 dir, __u32 len,
					__u64 *pos, bool fetch)
{
	if (fetch) {
		*pos = __sync_fetch_and_add(&s->bytes[dir & 1], len);
	} else {
		*pos = *(volatile __u64 *)&s->bytes[dir & 1];
		add_atomically(&s->bytes[dir & 1], len);
	}
	add_atomically(&s->calls[dir & 1], 1);
	if (s->tgid != tgid)
		net_sock_share(s->key, tgid, dir, len);
}

static __always_inline void count(struct sock *sk, struct net_sock *s, __u32 tgid, __u32 dir,
				  __u32 len, __u64 *pos, bool fetch)
{
	count_bytes(s, tgid, dir, len, pos, fetch);
	if (s->transport != IPPROTO_TCP)
		return;
	tcp_health(sk, s);
}

static __always_inline __u32 first_seq(struct sock *sk, struct net_sock *s, __u32 dir, __u32 len)
{
	struct tcp_sock *tp = (void *)sk;

	if (s->transport != IPPROTO_TCP)
		return 0;
	return (dir == NET_SENT ? BPF_CORE_READ(tp, write_seq) : BPF_CORE_READ(tp, copied_seq)) -
	       len;
}

/* Bytes that the application has read since the start of the connection. */
static __always_inline __u32 consumed(struct sock *sk)
{
	struct tcp_sock *tp = (void *)sk;
	__u32 waiting = BPF_CORE_READ(tp, rcv_nxt) - BPF_CORE_READ(tp, copied_seq);

	return BPF_CORE_READ(tp, bytes_received) - waiting;
}

/* `gap` sequence numbers of the data read from a connection were in no observed call. A gap of one
 * may be the end of the stream, or urgent data; a larger one is data that was spliced. */
static __always_inline void look_for_splice(const struct net_sock *s, __u32 gap)
{
	if ((__s32)gap > 1 && net_splice_state != NET_DEMAND_ON)
		net_sock_unseen(s->key);
}

/* Stores the sequence number after the counted bytes of a direction. */
static __always_inline void reached(struct net_sock *s, __u32 dir, __u32 seq)
{
	s->seq[dir & 1] = seq;
	if (!(s->flags & NET_SEQ << (dir & 1)))
		s->flags |= NET_SEQ << (dir & 1);
}

static __always_inline bool unconnected_datagram(const struct net_sock *s)
{
	return s->transport == IPPROTO_UDP && !s->remote.family;
}

/* Compares the last four bytes of the address. */
static __always_inline bool has_other_peer(struct sock *sk, const struct net_sock *s, bool typed)
{
	const __u32 *known = (const void *)s->remote.addr;
	__u32 v6;

	if (s->remote.family != 6)
		return known[0] != (typed ? sk->__sk_common.skc_daddr
					  : BPF_CORE_READ(sk, __sk_common.skc_daddr));
	v6 = typed ? sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[3]
		   : BPF_CORE_READ(sk, __sk_common.skc_v6_daddr.in6_u.u6_addr32[3]);
	return known[3] != v6;
}

/*
 * Whether the addresses have changed: a datagram socket was bound or connected, possibly again; or
 * the event in which a connecting socket gets its port was missed, because a program is not run
 * twice at the same time on a CPU.
 */
static __always_inline bool has_moved(struct sock *sk, const struct net_sock *s, bool typed)
{
	__u16 port;

	if (s->transport == IPPROTO_TCP)
		return !s->local.port;
	if (s->transport != IPPROTO_UDP)
		return false;
	port = typed ? sk->__sk_common.skc_dport : BPF_CORE_READ(sk, __sk_common.skc_dport);
	if (bpf_ntohs(port) != s->remote.port || (port && has_other_peer(sk, s, typed)))
		return true;
	return !s->local.port && BPF_CORE_READ((struct inet_sock *)sk, inet_sport);
}

/* Datagrams may be empty; on a stream, 0 bytes mean its end. */
static __always_inline bool is_datagram(struct sock *sk, bool typed)
{
	return (typed ? sk->sk_type : BPF_CORE_READ(sk, sk_type)) == SOCK_DGRAM;
}

#endif
