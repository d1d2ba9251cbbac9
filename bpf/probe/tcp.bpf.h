/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* What the programs of the probe tcp share: the connections that are followed, and whose they are.
 */
#ifndef BPF_TCP_BPF_H
#define BPF_TCP_BPF_H

#include "bpf/event.bpf.h"
#include "bpf/net/net_kernel.bpf.h"
#include "bpf/probe/tcp.h"
#include "bpf/syscall_args.bpf.h"

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
/* The target that listens at a place: the last one that called listen(), where several do. */
struct tcp_ports_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, struct tcp_place);
	__type(value, struct tcp_port);
};
extern struct tcp_ports_map tcp_ports SEC(".maps");
/* The listening sockets of targets. */
struct tcp_listeners_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u64);
	__type(value, struct tcp_listen);
};
extern struct tcp_listeners_map tcp_listeners SEC(".maps");

/* Connections by address, for dropped packets without a socket. */
struct tcp_flows_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, struct tcp_flow);
	__type(value, __u64);
};
extern struct tcp_flows_map tcp_flows SEC(".maps");
extern const char tcp_states[16][TCP_STATE_LEN];
extern const volatile __u64 tcp_min_ns;

/* connect() in progress, by tid. */
struct tcp_call {
	__u64 begin_ns, addr, sk;
	__u32 len, begun; /* begun: a SYN was or will be sent */
};
struct tcp_calls_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, struct tcp_call);
};
extern struct tcp_calls_map tcp_calls SEC(".maps");

int tcp_listen_change(__u64 sk, __u32 old, __u32 new);

static __always_inline __u64 tcp_v4_mapped(__u32 addr)
{
	return (__u64)addr << 32 | bpf_htonl(0xffff);
}

/* The peer's or the socket's own address, as IPv6. */
static __always_inline void tcp_address(__u64 to[2], struct sock *sk, bool peer)
{
	const void *v6;

	if (BPF_CORE_READ(sk, __sk_common.skc_family) == AF_INET) {
		to[0] = 0;
		to[1] = tcp_v4_mapped(peer ? BPF_CORE_READ(sk, __sk_common.skc_daddr)
					   : BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr));
		return;
	}
	v6 = peer ? __builtin_preserve_access_index(&sk->__sk_common.skc_v6_daddr)
		  : __builtin_preserve_access_index(&sk->__sk_common.skc_v6_rcv_saddr);
	bpf_probe_read_kernel(to, 16, v6);
}

static __always_inline void tcp_place_of(struct tcp_place *at, struct sock *sk)
{
	at->netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	at->port = BPF_CORE_READ(sk, __sk_common.skc_num);
	tcp_address(at->addr, sk, false);
}

/* Who listens for connections to this address: on it, on all of IPv4, or on all. Sets the address
 * to that. NULL: no target. */
static __noinline struct tcp_port *tcp_listener_at(struct tcp_place *at)
{
	struct tcp_port *port = bpf_map_lookup_elem(&tcp_ports, at);

	if (!port && !at->addr[0] && (__u32)at->addr[1] == bpf_htonl(0xffff)) {
		at->addr[1] = tcp_v4_mapped(0);
		port = bpf_map_lookup_elem(&tcp_ports, at);
	}
	if (!port) {
		at->addr[0] = at->addr[1] = 0;
		port = bpf_map_lookup_elem(&tcp_ports, at);
	}
	return port;
}

/* Of a listening socket. */
static __always_inline bool tcp_listener_is_recorded(struct sock *sk)
{
	struct tcp_port *port;
	struct tcp_place at;

	tcp_place_of(&at, sk);
	port = bpf_map_lookup_elem(&tcp_ports, &at);
	return port ? is_recorded(port->tgid) : target_all;
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

static __always_inline void tcp_key_peer(struct metric_key *key, struct sock *sk)
{
	tcp_address(key->part, sk, true);
}

/* A function, as its key would be too much for the stack together with those of its callers. */
static __noinline int tcp_count_connect(const struct tcp_flow *flow, __u64 ns, __u32 error,
					bool failed)
{
	struct metric_key key = {};

	__builtin_memcpy(key.part, flow->remote, sizeof(flow->remote));
	key.part[TCP_PART_PORT] = flow->remote_port;
	key.part[TCP_PART_ERROR] = error;
	hist_add_coarse(PROBE_tcp, failed ? SERIES_tcp_failed : SERIES_tcp_connect, &key, ns);
	return 0;
}

static __noinline int tcp_count_state(const char *process, __u32 state, __u32 next, __u64 ns)
{
	struct metric_key key = {};

	metric_key_comm(&key, process);
	key.part[TCP_PART_STATE] = state;
	key.part[TCP_PART_NEXT] = next;
	hist_add_coarse(PROBE_tcp, SERIES_tcp_state, &key, ns);
	return 0;
}

struct sock___drops {
	struct {
		int counter;
	} sk_drops;
} __attribute__((preserve_access_index));
static __always_inline __u32 tcp_drops(struct sock *sk)
{
	return BPF_CORE_READ((struct sock___drops *)sk, sk_drops.counter);
}

/* sk listens. */
static __always_inline void tcp_listens(struct sock *sk, const struct tcp_port *who)
{
	struct tcp_listen l = {.since_ns = bpf_ktime_get_ns(), .drops = tcp_drops(sk)};
	__u64 id = (__u64)sk;
	int err;

	tcp_place_of(&l.at, sk);
	if (!is_recorded(who->tgid)) {
		bpf_map_delete_elem(&tcp_ports, &l.at);
		return;
	}
	l.who = *who;
	bpf_map_update_elem(&tcp_ports, &l.at, who, BPF_ANY);
	err = bpf_map_update_elem(&tcp_listeners, &id, &l, BPF_ANY);
	if (err)
		loss_count(LOSS_PENDING);
}

#endif
