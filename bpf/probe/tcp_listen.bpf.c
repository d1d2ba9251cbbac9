/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Listening TCP sockets: how many connections wait to be accepted, and what is dropped because the
 * queue is full.
 *
 *   LISTEN -> SYN_RECV     a new socket, still a copy of the listening one and of its queue
 *   each second            obrec runs tcp_listen_look() for each listening socket
 *   tcp_conn_request()     a SYN that finds the queue full is dropped
 *   tcp_v4_syn_recv_sock() so is the last ACK of a handshake
 *
 * No tracepoint tells an overflow: they are counted where functions can be hooked. Newer kernels
 * have the drop reason TCP_LISTEN_OVERFLOW, for ACKs only. sk_drops counts all that the socket
 * dropped: an ACK twice, and SYNs that are sent again while their SYN-ACK is on its way.
 */
#include "bpf/probe/tcp.bpf.h"

#define ETH_P_IP 0x0800

struct sock___listen {
	__u32 sk_ack_backlog;
} __attribute__((preserve_access_index));
struct sk_buff___protocol {
	__u16 protocol;
} __attribute__((preserve_access_index));

static __always_inline void tcp_key_listener(struct metric_key *key, struct sock *sk)
{
	__u32 limit = BPF_CORE_READ(sk, sk_max_ack_backlog);

	tcp_address(key->part, sk, false);
	key->part[TCP_PART_PORT] = (__u64)limit << 32 | BPF_CORE_READ(sk, __sk_common.skc_num);
}

static __always_inline __u32 tcp_queue(struct sock *sk)
{
	return BPF_CORE_READ((struct sock___listen *)sk, sk_ack_backlog);
}

/* sk: a new socket, still with the queue of the one that listens; from 6.13 on with its own
 * address.
 */
static __noinline int tcp_count_added(struct sock *sk)
{
	struct metric_key key = {};
	struct tcp_port *port;
	struct tcp_place at;

	tcp_place_of(&at, sk);
	port = tcp_listener_at(&at);
	if (port ? !is_recorded(port->tgid) : !target_all)
		return 0;
	tcp_key_listener(&key, sk);
	if (port)
		__builtin_memcpy(key.part, at.addr, sizeof(at.addr));
	hist_add(PROBE_tcp, SERIES_tcp_accept_queue, &key, tcp_queue(sk) + 1);
	return 0;
}

static __noinline int tcp_count_waiting(struct sock *sk)
{
	struct metric_key key = {};

	tcp_key_listener(&key, sk);
	hist_add(PROBE_tcp, SERIES_tcp_accept_waiting, &key, tcp_queue(sk));
	return 0;
}

/* At its end the socket has lost its port already. */
static __noinline int tcp_count_drops(struct sock *sk, const struct tcp_listen *l, __u32 cnt)
{
	struct metric_key key = {};

	tcp_key_listener(&key, sk);
	key.part[TCP_PART_PORT] = (key.part[TCP_PART_PORT] & ~0xffffffffULL) | l->at.port;
	count_add(PROBE_tcp, SERIES_tcp_listen_drops, &key, cnt);
	return 0;
}

static __always_inline void tcp_look(struct sock *sk, struct tcp_listen *l)
{
	__u32 drops = tcp_drops(sk), more = drops - l->drops;

	l->drops = drops;
	if (more)
		tcp_count_drops(sk, l, more);
}

/* sk goes from or to state LISTEN. */
int tcp_listen_change(__u64 id, __u32 old, __u32 new)
{
	struct sock *sk = (void *)id;
	struct tcp_port who;
	struct tcp_listen *l;

	if (new == TCP_LISTEN) {
		who.tgid = bpf_get_current_pid_tgid() >> 32;
		task_process_name(who.process, (void *)bpf_get_current_task(), false);
		tcp_listens(sk, &who);
		return 0;
	}
	if (new == TCP_SYN_RECV) {
		tcp_count_added(sk);
		return 0;
	}
	l = bpf_map_lookup_elem(&tcp_listeners, &id);
	if (!l)
		return 0;
	tcp_look(sk, l);
	tcp_count_state(l->who.process, old, new, bpf_ktime_get_ns() - l->since_ns);
	bpf_map_delete_elem(&tcp_listeners, &id);
	return 0;
}

/* Run by obrec (BPF_PROG_TEST_RUN) with a key of tcp_listeners. */
SEC("?raw_tp")
int tcp_listen_look(struct bpf_raw_tracepoint_args *ctx)
{
	struct sock *sk = (void *)ctx->args[0];
	__u64 id = ctx->args[0];
	struct tcp_listen *l = bpf_map_lookup_elem(&tcp_listeners, &id);

	if (!l)
		return 0;
	/* Its end was not seen, and the memory may be another socket's by now. */
	if (BPF_CORE_READ(sk, __sk_common.skc_state) != TCP_LISTEN ||
	    BPF_CORE_READ(sk, __sk_common.skc_num) != l->at.port) {
		bpf_map_delete_elem(&tcp_listeners, &id);
		return 0;
	}
	tcp_count_waiting(sk);
	tcp_look(sk, l);
	return 0;
}

static __always_inline int tcp_may_overflow(struct sock *sk, __u32 segment)
{
	struct metric_key key = {};

	if (!enabled || tcp_queue(sk) <= BPF_CORE_READ(sk, sk_max_ack_backlog) ||
	    !tcp_listener_is_recorded(sk))
		return 0;
	tcp_key_listener(&key, sk);
	key.part[TCP_PART_SEGMENT] = segment;
	count_add(PROBE_tcp, SERIES_tcp_overflows, &key, 1);
	return 0;
}

/* IPv4 to an IPv6 socket: tcp_v4_syn_recv_sock() is called as well. */
static __always_inline bool tcp_is_v4(struct sk_buff___protocol *skb)
{
	return BPF_CORE_READ(skb, protocol) == bpf_htons(ETH_P_IP);
}

SEC("?fentry")
int tcp_syn_fentry(__u64 *ctx)
{
	return tcp_may_overflow((void *)ctx[2], TCP_SEGMENT_SYN);
}

SEC("?fentry")
int tcp_ack_fentry(__u64 *ctx)
{
	return tcp_may_overflow((void *)ctx[0], TCP_SEGMENT_ACK);
}

SEC("?fentry")
int tcp_ack6_fentry(__u64 *ctx)
{
	return tcp_is_v4((void *)ctx[1]) ? 0 : tcp_may_overflow((void *)ctx[0], TCP_SEGMENT_ACK);
}

SEC("?kprobe")
int tcp_syn_kprobe(struct arch_ctx_regs *regs)
{
	return tcp_may_overflow((void *)CTX_ARG2(regs), TCP_SEGMENT_SYN);
}

SEC("?kprobe")
int tcp_ack_kprobe(struct arch_ctx_regs *regs)
{
	return tcp_may_overflow((void *)CTX_ARG0(regs), TCP_SEGMENT_ACK);
}

SEC("?kprobe")
int tcp_ack6_kprobe(struct arch_ctx_regs *regs)
{
	if (tcp_is_v4((void *)CTX_ARG1(regs)))
		return 0;
	return tcp_may_overflow((void *)CTX_ARG0(regs), TCP_SEGMENT_ACK);
}
