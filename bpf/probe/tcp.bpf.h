/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* What the programs of the probe tcp share: the connections that are followed, and whose they are.
 */
#ifndef BPF_TCP_BPF_H
#define BPF_TCP_BPF_H

#include "bpf/event.bpf.h"
#include "bpf/net/net_kernel.bpf.h"
#include "bpf/probe/tcp.h"

/* sockaddr_in, sockaddr_in6 */
struct tcp_in {
	__u16 family, port;
	__u32 addr;
	__u64 zero;
};
struct tcp_in6 {
	__u16 family, port;
	__u32 flow;
	__u8 addr[16];
	__u32 scope;
};

/* By struct sock. */
struct tcp_conns_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u64);
	__type(value, struct tcp_conn);
};
extern struct tcp_conns_map tcp_conns SEC(".maps");
/* The target that listens on a port, by namespace and port: the last one that called listen(),
 * where several do. */
struct tcp_port {
	__u32 tgid;
	char comm[WIRE_COMM_LEN];
};
struct tcp_ports_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u64);
	__type(value, struct tcp_port);
};
extern struct tcp_ports_map tcp_ports SEC(".maps");

static __always_inline __u64 tcp_port_key(struct sock *sk)
{
	return (__u64)BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum) << 32 |
	       BPF_CORE_READ(sk, __sk_common.skc_num);
}

static __always_inline __u32 tcp_listener(__u64 port_key)
{
	struct tcp_port *port = bpf_map_lookup_elem(&tcp_ports, &port_key);

	return port ? port->tgid : 0;
}

static __always_inline bool tcp_conn_is_recorded(const struct tcp_conn *conn)
{
	__u32 tgid = conn->who >> 32;

	if (!tgid)
		tgid = conn->listener;
	return tgid ? is_recorded(tgid) : target_all;
}

/* *conn may be NULL: not known. */
static __always_inline bool tcp_is_recorded(struct sock *sk, struct tcp_conn **conn)
{
	__u64 id = (__u64)sk;

	*conn = bpf_map_lookup_elem(&tcp_conns, &id);
	return *conn ? tcp_conn_is_recorded(*conn) : target_all;
}

/* Stores addresses of both ends, structs sockaddr of TCP_ADDRESS_SZ each. */
#define TCP_ADDRESS_SZ sizeof(struct tcp_in6)
static __always_inline void tcp_put_addresses(char *text, struct sock *sk)
{
	struct tcp_in6 *in6 = (void *)text;
	struct tcp_in *local = (void *)&in6[0], *remote = (void *)&in6[1];

	if (BPF_CORE_READ(sk, __sk_common.skc_family) == AF_INET) {
		local->family = remote->family = AF_INET;
		local->addr = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
		remote->addr = BPF_CORE_READ(sk, __sk_common.skc_daddr);
		return;
	}
	in6[0].family = in6[1].family = AF_INET6;
	BPF_CORE_READ_INTO(&in6[0].addr, sk, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr8);
	BPF_CORE_READ_INTO(&in6[1].addr, sk, __sk_common.skc_v6_daddr.in6_u.u6_addr8);
}

#define TCP_PUT_ENDS(e, sk)                                                                        \
	do {                                                                                       \
		tcp_put_addresses((e)->text, sk);                                                  \
		(e)->local = (e)->remote = TCP_ADDRESS_SZ;                                         \
		(e)->local_port = bpf_ntohs(BPF_CORE_READ((struct inet_sock *)(sk), inet_sport));  \
		(e)->remote_port = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));            \
		(e)->netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);                  \
	} while (0)

/* Stores the peer's address as IPv6 in the first two parts. */
static __always_inline void tcp_key_peer(struct metric_key *key, struct sock *sk)
{
	__u32 v4[4] = {0, 0, bpf_htonl(0xffff)};

	if (BPF_CORE_READ(sk, __sk_common.skc_family) == AF_INET) {
		v4[3] = BPF_CORE_READ(sk, __sk_common.skc_daddr);
		__builtin_memcpy(key->part, v4, sizeof(v4));
	} else {
		bpf_probe_read_kernel(
			key->part, 16,
			__builtin_preserve_access_index(&sk->__sk_common.skc_v6_daddr));
	}
}

#endif
