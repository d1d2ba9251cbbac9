/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * TCP packets that the kernel drops, with its reason. skb:kfree_skb has
 *
 *   5.10   skb, location
 *   5.17   + reason (c504e5c2f964, "net: skb: introduce kfree_skb_reason()")
 *   6.11   + the receiving socket (c53795d48ee8, "net: add rx_sk to trace_kfree_skb")
 *
 * A received packet has no socket of its own any more when TCP drops it, none yet below: its
 * connection is found by its addresses, in any network namespace, or by who listens.
 *
 * What a closed socket still has in its queue is dropped only where it has payload: the peer's FIN
 * is always there.
 *
 * Before 5.18 TCP itself frees what it drops (sequence, window, ...) without the tracepoint, in
 * functions that are inlined: only what is dropped before is seen, for example wrong checksums.
 */
#include "bpf/probe/tcp.bpf.h"

#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86dd
#define IP_FRAGMENT_OFFSET 0x1fff

struct net_device___drop {
	possible_net_t nd_net;
} __attribute__((preserve_access_index));
struct sk_buff___drop {
	struct sock *sk;
	struct net_device___drop *dev;
	unsigned char *head;
	__u16 protocol, network_header;
} __attribute__((preserve_access_index));

struct drop_ip {
	__u8 version_ihl, tos;
	__u16 len, id, fragment;
	__u8 ttl, protocol;
	__u16 check;
	__u32 source, destination;
};
struct drop_ip6 {
	__u32 flow;
	__u16 len;
	__u8 protocol, hops;
	__u64 source[2], destination[2];
};
struct drop_tcp {
	__u16 source, destination;
	__u32 sequence, ack;
	__u8 offset, flags;
};

const volatile __u32 tcp_kfree_args;			     /* of skb:kfree_skb; 0: not known */
const volatile __u32 tcp_reason_purge = TCP_REASON_NONE + 1; /* QUEUE_PURGE, if there is one */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TCP_REASONS);
	__type(key, __u32);
	__type(value, char[TCP_REASON_LEN]);
} tcp_reasons SEC(".maps");

/* Kept small: it lives on the stack while the kernel's is taken. */
struct tcp_dropped {
	struct sk_buff___drop *skb;
	struct sock *sk; /* may be NULL */
	__u64 location, who;
	struct tcp_flow flow; /* as for the receiver: local is the destination */
	__u32 reason, tgid, netns, sequence, bytes;
	__u8 flags, state, v4;
	char comm[WIRE_COMM_LEN], process[WIRE_COMM_LEN];
};

/* Whether it is a TCP packet, with its headers. */
static __noinline bool tcp_parse(struct tcp_dropped *d)
{
	struct sk_buff___drop *skb = d->skb;
	__u32 at = BPF_CORE_READ(skb, network_header), sz = 0, len = 0;
	__u16 protocol = BPF_CORE_READ(skb, protocol);
	const void *head = BPF_CORE_READ(skb, head);
	struct drop_tcp tcp = {};
	struct drop_ip6 ip6 = {};
	struct drop_ip ip = {};

	if (protocol == bpf_htons(ETH_P_IP)) {
		bpf_probe_read_kernel(&ip, sizeof(ip), head + at);
		if (ip.version_ihl >> 4 != 4 || ip.protocol != IPPROTO_TCP ||
		    ip.fragment & bpf_htons(IP_FRAGMENT_OFFSET))
			return false;
		d->v4 = 1;
		d->flow.remote[1] = tcp_v4_mapped(ip.source);
		d->flow.local[1] = tcp_v4_mapped(ip.destination);
		sz = (ip.version_ihl & 15) * 4;
		len = bpf_ntohs(ip.len) - sz;
	} else if (protocol == bpf_htons(ETH_P_IPV6)) {
		bpf_probe_read_kernel(&ip6, sizeof(ip6), head + at);
		if (ip6.protocol != IPPROTO_TCP)
			return false;
		__builtin_memcpy(d->flow.remote, ip6.source, 16);
		__builtin_memcpy(d->flow.local, ip6.destination, 16);
		sz = sizeof(ip6);
		len = bpf_ntohs(ip6.len);
	} else {
		return false;
	}
	if (bpf_probe_read_kernel(&tcp, sizeof(tcp), head + at + sz))
		return false;
	d->flow.remote_port = bpf_ntohs(tcp.source);
	d->flow.local_port = bpf_ntohs(tcp.destination);
	d->sequence = bpf_ntohl(tcp.sequence);
	d->flags = tcp.flags;
	sz = (tcp.offset >> 4) * 4;
	d->bytes = len > sz && len < 1 << 20 ? len - sz : 0;
	return true;
}

/* The socket of the connection that receives the packet; NULL: not known. */
static __always_inline struct sock *tcp_drop_receiver(const struct tcp_dropped *d)
{
	__u64 *id = bpf_map_lookup_elem(&tcp_flows, &d->flow);
	struct sock *sk = id ? (void *)*id : NULL;

	/* It may be another one's by now. */
	if (!sk || BPF_CORE_READ(sk, __sk_common.skc_num) != d->flow.local_port ||
	    BPF_CORE_READ(sk, __sk_common.skc_dport) != bpf_htons(d->flow.remote_port))
		return NULL;
	return sk;
}

/* Whose it was. */
static __noinline int tcp_drop_owner(struct tcp_dropped *d)
{
	struct tcp_place at = {.port = d->flow.local_port};
	struct sock *sk = d->sk ?: tcp_drop_receiver(d);
	struct sk_buff___drop *skb = d->skb;
	struct net_device___drop *dev;
	struct tcp_conn *conn = NULL;
	struct tcp_port *port;
	__u64 id = (__u64)sk;

	d->sk = sk;
	if (sk) {
		d->state = BPF_CORE_READ(sk, __sk_common.skc_state);
		d->netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
		conn = bpf_map_lookup_elem(&tcp_conns, &id);
	} else {
		dev = BPF_CORE_READ(skb, dev);
		d->netns = dev ? BPF_CORE_READ(dev, nd_net.net, ns.inum) : 0;
	}
	if (conn) {
		d->who = conn->who;
		d->tgid = conn->who ? conn->who >> 32 : conn->listener;
		__builtin_memcpy(d->comm, conn->comm, sizeof(d->comm));
		__builtin_memcpy(d->process, conn->process, sizeof(d->process));
		return 0;
	}
	at.netns = d->netns;
	__builtin_memcpy(at.addr, d->flow.local, sizeof(at.addr));
	port = tcp_listener_at(&at);
	if (port) {
		d->tgid = port->tgid;
		__builtin_memcpy(d->process, port->process, sizeof(d->process));
	}
	return 0;
}

static __noinline int tcp_count_drop(struct tcp_dropped *d)
{
	struct metric_key key = {};

	metric_key_comm(&key, d->process);
	key.part[TCP_PART_REASON] = d->reason;
	key.part[TCP_PART_LOCATION] = d->location;
	count_add(PROBE_tcp, SERIES_tcp_drops, &key, d->bytes);
	return 0;
}

static __always_inline void tcp_put_end(struct tcp_in6 *in6, const __u64 addr[2], bool v4)
{
	struct tcp_in *in = (void *)in6;

	if (v4) {
		in->family = AF_INET;
		in->addr = addr[1] >> 32;
	} else {
		in6->family = AF_INET6;
		__builtin_memcpy(in6->addr, addr, sizeof(in6->addr));
	}
}

static __noinline int tcp_put_drop(struct tcp_dropped *d)
{
	struct event_tcp_drop *e = event_scratch_of(ENTRY_INTERRUPT);
	__u32 reason = d->reason < TCP_REASONS ? d->reason : 0, len = 0;
	char *text, *name = bpf_map_lookup_elem(&tcp_reasons, &reason);
	struct tcp_in6 *in6;
	long n;

	if (!e)
		return 0;
	text = e->text;
	in6 = (void *)text;
	__builtin_memset(in6, 0, 2 * sizeof(*in6));
	tcp_put_end(&in6[0], d->flow.remote, d->v4);
	tcp_put_end(&in6[1], d->flow.local, d->v4);
	e->source = e->destination = TCP_ADDRESS_SZ;
	e->source_port = d->flow.remote_port;
	e->destination_port = d->flow.local_port;
	e->netns = d->netns;
	e->flags = d->flags;
	e->sequence = d->sequence;
	e->bytes = d->bytes;
	text += 2 * TCP_ADDRESS_SZ;
	n = name ? bpf_probe_read_kernel_str(text, TCP_REASON_LEN, name) : 0;
	len = n > 0 ? (n - 1) & (TCP_REASON_LEN - 1) : 0;
	e->reason = len;
	n = d->sk ? bpf_probe_read_kernel_str(text + len, TCP_STATE_LEN, tcp_states[d->state & 15])
		  : 0;
	e->state = n > 0 ? (n - 1) & (TCP_STATE_LEN - 1) : 0;
	return len + e->state;
}

static __always_inline void tcp_drop_stack(void *ctx, struct event_tcp_drop *e)
{
	struct scratch *s = scratch_of(ENTRY_INTERRUPT);
	long sz;

	if (!s)
		return;
	s->sample.hdr.probe = 0;
	sz = bpf_get_stack(ctx, s->kernel_frames, WIRE_MAX_KERNEL_FRAMES * 8, 0);
	stack_take_kernel(ENTRY_INTERRUPT, sz > 0 ? (__u64)sz / 8 : 0, false);
	e->kernel_stack = s->sample.kernel_stack;
}

static __always_inline int tcp_dropped(void *ctx, struct tcp_dropped *d)
{
	struct event_tcp_drop *e;

	if (!tcp_parse(d) || (!d->bytes && d->reason == tcp_reason_purge))
		return 0;
	tcp_drop_owner(d);
	if (!d->bytes && d->sk && d->state == TCP_CLOSE)
		return 0;
	if (d->tgid ? !is_recorded(d->tgid) : !target_all)
		return 0;
	tcp_count_drop(d);
	e = EVENT_BEGIN_OF(tcp, tcp_drop, SERIES_tcp_drop_events, d->tgid, ENTRY_INTERRUPT, d->who,
			   d->comm, d->process);
	if (!e)
		return 0;
	tcp_drop_stack(ctx, e);
	EVENT_SEND(tcp_drop, e, ENTRY_INTERRUPT, 2 * TCP_ADDRESS_SZ + tcp_put_drop(d));
	return 0;
}

SEC("?raw_tp/kfree_skb")
int tcp_kfree(struct bpf_raw_tracepoint_args *ctx)
{
	struct sk_buff___drop *skb = (void *)ctx->args[0];
	struct tcp_dropped d = {.skb = skb, .location = ctx->args[1]};

	if (!enabled)
		return 0;
	d.reason = tcp_kfree_args > 2 ? (__u32)ctx->args[2] : TCP_REASON_NONE;
	if (tcp_kfree_args > 3)
		d.sk = (void *)ctx->args[3];
	if (!d.sk)
		d.sk = BPF_CORE_READ(skb, sk);
	return tcp_dropped(ctx, &d);
}
