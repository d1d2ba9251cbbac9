/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * A socket's entry in `net_socks`: who it is, how it is found and announced, its counts. Every room
 * of the traffic probes stands on it.
 */
#ifndef BPF_NET_SOCK_BPF_H
#define BPF_NET_SOCK_BPF_H

#include "net.bpf.h"

struct net_ids_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
};
struct net_sock_scratch_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wire_sock);
};
extern struct net_ids_map net_ids SEC(".maps"); /* how many sockets each CPU has numbered */
extern struct net_sock_scratch_map net_sock_scratch SEC(".maps");

extern const volatile __u32 net_sample_per_64k;
extern const volatile __u32 net_cpus;
extern const volatile __u32 net_by;

/* --cpu-budget: one in 2^n of those that --sample chose; connections, so that what is kept is
 * whole, the same ones at every higher n. */
extern __u32 net_thin;
extern bool net_stateless; /* some socket is known that only its close ends */

static __always_inline void read_addrs(struct sock *sk, struct net_sock *s)
{
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);
	__u32 *local = (void *)s->local.addr, *remote = (void *)s->remote.addr;

	s->local.port = BPF_CORE_READ(sk, __sk_common.skc_num);
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

/* The bound name of a Unix socket or, as clients have none, of its peer. */
static __always_inline void read_unix(struct sock *sk, struct wire_sock *w)
{
	struct unix_sock *u = (void *)sk;
	struct unix_address *addr = BPF_CORE_READ(u, addr);
	__u32 len;

	if (!addr) {
		u = (void *)BPF_CORE_READ(u, peer);
		addr = u ? BPF_CORE_READ(u, addr) : NULL;
	}
	w->sock.peer_pid = BPF_CORE_READ(sk, sk_peer_pid, numbers[0].nr);
	if (!addr)
		return;
	len = BPF_CORE_READ(addr, len) - 2; /* sun_family comes first */
	if (len > NET_UNIX_PATH)
		return;
	w->path_sz = len;
	bpf_probe_read_kernel(w->path, NET_UNIX_PATH,
			      __builtin_preserve_access_index(&addr->name[0].sun_path));
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

/* Tells obrec of the socket as w->sock says: new, its end known better, or gone. */
static __always_inline void announce(struct sock *sk, struct wire_sock *w, bool closed)
{
	w->hdr.kind = WIRE_SOCK;
	w->hdr.probe = 0;
	w->hdr.size = sizeof(*w);
	w->ts_ns = bpf_ktime_get_ns();
	w->tid = bpf_get_current_pid_tgid();
	w->closed = closed;
	w->path_sz = 0;
	bpf_get_current_comm(w->comm, sizeof(w->comm));
	if (w->sock.transport > 256 && !closed)
		read_unix(sk, w);
	ring_output(w, sizeof(*w), sizeof(*w), LOSS_RING_NET);
}

/* The stack has no room for a socket: before 6.13 (e00931c02568, "bpf: Enable private stack for
 * eligible subprogs") the programs here and what they call share 512 bytes. */
static __always_inline struct wire_sock *sock_scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&net_sock_scratch, &zero);
}

static __always_inline void announce_entry(struct sock *sk, const struct net_sock *s, bool closed)
{
	struct wire_sock *w = sock_scratch();

	if (!w)
		return;
	w->sock = *s;
	announce(sk, w, closed);
}

/* Each CPU counts for itself: an atomic addition gives no old value before 5.12. */
static __always_inline __u32 next_id(void)
{
	__u32 zero = 0, *cnt = bpf_map_lookup_elem(&net_ids, &zero);

	return cnt ? (*cnt)++ * net_cpus + bpf_get_smp_processor_id() + 1 : 0;
}

static __always_inline bool is_sampled(__u32 id)
{
	return net_sample_per_64k >= 65536 || (id * 2654435761u >> 16) < net_sample_per_64k;
}

static __always_inline bool thinned_out(__u32 id)
{
	__u32 thin = net_thin & 15;

	return thin && (id * 2654435761u >> 16) >= net_sample_per_64k >> thin;
}

static __always_inline struct net_sock *sock_new(struct sock *sk, __u64 key, __u64 inode,
						 __u32 tgid, __u32 flags)
{
	__u32 transport = transport_of(sk);
	struct wire_sock *w = sock_scratch();
	struct net_sock *s, *in_map;

	if (!transport || !w)
		return NULL;
	s = &w->sock;
	__builtin_memset(s, 0, sizeof(*s));
	s->inode = inode;
	s->key = key;
	s->tgid = tgid;
	s->flags = flags;
	s->transport = transport;
	s->seen_ns = bpf_ktime_get_ns();
	s->id = next_id();
	if (transport != IPPROTO_TCP)
		net_stateless = true;
	if (!is_sampled(s->id))
		s->flags |= NET_SAMPLED_OUT;
	if (flags & NET_OPENED)
		s->opened_ns = s->seen_ns;
	s->netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	if (transport < 256)
		read_addrs(sk, s);
	if (bpf_map_update_elem(&net_socks, &key, s, BPF_ANY)) {
		loss_count(LOSS_NET_SOCKS);
		return NULL;
	}
	in_map = bpf_map_lookup_elem(&net_socks, &key);
	if (in_map)
		announce(sk, w, false);
	return in_map;
}

/* Accepted by one process and served by another, forked since or handed the descriptor: it is whose
 * bytes move first. */
static __always_inline void adopt(struct sock *sk, struct net_sock *s, __u32 tgid)
{
	if (s->calls[NET_SENT] || s->calls[NET_RECEIVED])
		return;
	s->tgid = tgid;
	announce_entry(sk, s, false);
}

/*
 * Another socket needs its place: what was counted waits under its number, which is no address,
 * for obrec's next look. In a full table the ring has to take it.
 */
static __always_inline void retire(struct sock *sk, struct net_sock *s)
{
	__u64 key = s->id;

	if (!s->closed_ns)
		s->closed_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&net_socks, &key, s, BPF_ANY))
		announce_entry(sk, s, true);
}

/* The entry of a socket. A struct sock that became another socket since gets another one. */
static __always_inline struct net_sock *sock_get_as(struct sock *sk, __u64 inode, __u32 tgid,
						    __u32 flags)
{
	__u64 key = (__u64)sk;
	struct net_sock *s = bpf_map_lookup_elem(&net_socks, &key);

	if (s && s->inode == inode) {
		if (s->tgid != tgid)
			adopt(sk, s, tgid);
		return s;
	}
	if (s)
		retire(sk, s);
	return sock_new(sk, key, inode, tgid, flags);
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
static __always_inline void count_bytes(struct net_sock *s, __u32 dir, __u32 len, __u64 *pos,
					bool fetch)
{
	if (fetch) {
		*pos = __sync_fetch_and_add(&s->bytes[dir & 1], len);
	} else {
		*pos = *(volatile __u64 *)&s->bytes[dir & 1];
		add_atomically(&s->bytes[dir & 1], len);
	}
	add_atomically(&s->calls[dir & 1], 1);
}

static __always_inline void count(struct sock *sk, struct net_sock *s, __u32 dir, __u32 len,
				  __u64 *pos, bool fetch)
{
	count_bytes(s, dir, len, pos, fetch);
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

static __always_inline bool unconnected_datagram(const struct net_sock *s)
{
	return s->transport == IPPROTO_UDP && !s->remote.family;
}

/* Datagrams may be empty; a stream's 0 is its end. */
static __always_inline bool is_datagram(struct sock *sk, bool typed)
{
	return (typed ? sk->sk_type : BPF_CORE_READ(sk, sk_type)) == SOCK_DGRAM;
}

#endif
