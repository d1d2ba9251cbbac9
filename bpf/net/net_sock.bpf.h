/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * A socket's entry in `net_socks`: who it is, how it is found and announced, its counts. Every room
 * of the traffic probes stands on it.
 */
#ifndef BPF_NET_SOCK_BPF_H
#define BPF_NET_SOCK_BPF_H

#include "bpf/net/net_kernel.bpf.h"

/* When TCP sockets that nobody has used yet were opened by a peer; LRU, as most of a host's are of
 * no target. */
struct net_born_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64); /* as in net_socks */
	__type(value, __u64);
};
struct net_others_map {
	__uint(type, BPF_MAP_TYPE_HASH); /* an entry stays as long as its socket's */
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

/* --cpu-budget: one in 2^n of those that --sample chose; connections, so that what is kept is
 * whole, the same ones at every higher n. */
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

/* TCP, UDP and Unix sockets are followed; 0 for others. */
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

/* net_sock.bpf.c: the entry is made, given to another process or another socket, as it needs be. */
int net_sock_settle(__u64 key, __u64 inode, __u32 tgid, __u32 flags);
/* Of what was counted, this is another process's than the entry's. */
int net_sock_share(__u64 key, __u32 tgid, __u32 dir, __u32 len);
/* The socket of that entry has other addresses than before. */
int net_sock_moved(__u64 key);
/* Some of what the socket received was read by a call that no program saw. */
int net_sock_unseen(__u64 key);
/* That descriptor of the current task is the socket. */
int net_sock_has_fd(__u64 key, __u32 fd);

/* The entry of a socket. A struct sock that became another socket since gets another one, and so
 * does a socket that connects once more (only then `flags` are told). */
static __always_inline struct net_sock *sock_get_as(struct sock *sk, __u64 inode, __u32 tgid,
						    __u32 flags)
{
	__u64 key = (__u64)sk, number = 0;
	struct net_sock *s = bpf_map_lookup_elem(&net_socks, &key);

	if (s && s->inode == inode && s->tgid == tgid && !(flags && s->closed_ns))
		return s;
	/* The verifier takes a pointer it knows for no number, which is all a function can have. */
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
 * Counts a call's bytes; their position is what *pos gets. `fetch`, a constant: atomic additions
 * give the old value (5.12, 5ca419f2864a, "bpf: Add BPF_FETCH field / create atomic_fetch_add
 * instruction"; older kernels refuse the instruction even where it is never reached). Without,
 * threads that use one socket at once may be given the same position; the sums are right.
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

/* Bytes that were read of the connection from its beginning on. */
static __always_inline __u32 consumed(struct sock *sk)
{
	struct tcp_sock *tp = (void *)sk;
	__u32 waiting = BPF_CORE_READ(tp, rcv_nxt) - BPF_CORE_READ(tp, copied_seq);

	return BPF_CORE_READ(tp, bytes_received) - waiting;
}

/* `gap` numbers of what was read of a connection were in no call that was seen: one may be the end,
 * or urgent. */
static __always_inline void look_for_splice(const struct net_sock *s, __u32 gap)
{
	if ((__s32)gap > 1 && net_splice_state != NET_DEMAND_ON)
		net_sock_unseen(s->key);
}

/* The counted bytes of a direction end before that sequence number. */
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

/* By the last four bytes of its address. */
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

/* A datagram socket was bound, or connected, perhaps once more; or the event that gives a
 * connecting one its port was missed, as no program runs twice at once on a CPU. */
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

/* Datagrams may be empty; a stream's 0 is its end. */
static __always_inline bool is_datagram(struct sock *sk, bool typed)
{
	return (typed ? sk->sk_type : BPF_CORE_READ(sk, sk_type)) == SOCK_DGRAM;
}

#endif
