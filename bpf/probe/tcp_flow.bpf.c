/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * TCP connections while they are open: round-trip times and retransmits.
 *
 * The round-trip time is the kernel's smoothed one (srtt), read at each segment that is received in
 * state ESTABLISHED, before the kernel looks at the segment: it is what the segments before have
 * led to. The tracepoint is in tcp_rcv_established(), where tcprtt reads the same.
 */
#include "bpf/probe/tcp.bpf.h"

struct tcp_skb_cb {
	__u32 seq, end_seq;
	__u16 tcp_gso_segs;
} __attribute__((preserve_access_index));
struct sk_buff {
	char cb[48];
} __attribute__((preserve_access_index));
struct inet_connection_sock___loss {
	__u8 icsk_ca_state : 5;
	__u8 icsk_retransmits;
} __attribute__((preserve_access_index));

/* Not static: see block_ops. */
const char tcp_states[16][TCP_STATE_LEN] = {
#define X(number, text) [number] = text,
	TCP_STATES(X)
#undef X
};

SEC("?raw_tp/tcp_probe")
int tcp_rtt(struct bpf_raw_tracepoint_args *ctx)
{
	struct sock *sk = (void *)ctx->args[0];
	struct metric_key key = {};
	struct tcp_conn *conn;
	__u64 srtt;

	if (!enabled || !tcp_is_recorded(sk, &conn))
		return 0;
	srtt = BPF_CORE_READ((struct tcp_sock *)sk, srtt_us);
	if (!srtt) /* not measured yet */
		return 0;
	tcp_key_peer(&key, sk);
	hist_add_coarse(PROBE_tcp, SERIES_tcp_rtt, &key, srtt * 1000 >> 3);
	return 0;
}

struct tcp_again {
	struct sk_buff *skb; /* NULL: a SYN-ACK */
	__u32 state, ca_state, segments, error;
};

static __noinline int tcp_count_again(struct sock *sk, struct tcp_again *a)
{
	struct metric_key key = {};

	tcp_key_peer(&key, sk);
	key.part[TCP_PART_STATE] = a->state;
	key.part[TCP_PART_CA_STATE] = a->ca_state;
	count_add(PROBE_tcp, SERIES_tcp_retransmits, &key, a->segments);
	return 0;
}

/* sk: a socket, or a struct request_sock, which begins with a struct sock_common as well. */
static __always_inline void tcp_send_again(struct sock *sk, struct tcp_conn *conn,
					   struct tcp_again *a)
{
	struct event_tcp_retransmit *e;
	struct sk_buff *skb = a->skb;
	struct tcp_skb_cb *cb;
	char comm[WIRE_COMM_LEN] = {}, process[WIRE_COMM_LEN] = {};
	__u64 who = 0;
	long n;

	if (conn) {
		who = conn->who;
		__builtin_memcpy(comm, conn->comm, sizeof(comm));
		__builtin_memcpy(process, conn->process, sizeof(process));
	}
	e = EVENT_BEGIN_OF(tcp, tcp_retransmit, SERIES_tcp_retransmit_events, who >> 32,
			   ENTRY_INTERRUPT, who, comm, process);
	if (!e)
		return;
	TCP_PUT_ENDS(e, sk);
	e->local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
	n = bpf_probe_read_kernel_str(e->text + 2 * TCP_ADDRESS_SZ, TCP_STATE_LEN,
				      tcp_states[a->state & 15]);
	e->state = n > 0 ? (n - 1) & (TCP_STATE_LEN - 1) : 0;
	e->ca_state = a->ca_state;
	e->segments = a->segments;
	e->error = a->error;
	if (skb) {
		cb = (void *)__builtin_preserve_access_index(&skb->cb);
		e->sequence = BPF_CORE_READ(cb, seq);
		e->bytes = BPF_CORE_READ(cb, end_seq) - (__u32)e->sequence;
		e->timeouts =
			BPF_CORE_READ((struct inet_connection_sock___loss *)sk, icsk_retransmits);
	}
	EVENT_SEND(tcp_retransmit, e, ENTRY_INTERRUPT, 2 * TCP_ADDRESS_SZ + e->state);
}

static __always_inline int tcp_again(struct sock *sk, struct sk_buff *skb, int error)
{
	struct tcp_again a = {.skb = skb, .error = error < 0 ? -error : error};
	struct inet_connection_sock___loss *icsk = (void *)sk;
	struct tcp_skb_cb *cb;
	struct tcp_conn *conn;

	if (!enabled || !tcp_is_recorded(sk, &conn))
		return 0;
	cb = (void *)__builtin_preserve_access_index(&skb->cb);
	a.segments = BPF_CORE_READ(cb, tcp_gso_segs);
	a.state = BPF_CORE_READ(sk, __sk_common.skc_state);
	a.ca_state = BPF_CORE_READ_BITFIELD_PROBED(icsk, icsk_ca_state);
	tcp_count_again(sk, &a);
	tcp_send_again(sk, conn, &a);
	return 0;
}

SEC("?raw_tp/tcp_retransmit_skb")
int tcp_retransmit(struct bpf_raw_tracepoint_args *ctx)
{
	return tcp_again((void *)ctx->args[0], (void *)ctx->args[1], ctx->args[2]);
}

/* Before 6.15, only of those that were sent. */
SEC("?raw_tp/tcp_retransmit_skb")
int tcp_retransmit_sent(struct bpf_raw_tracepoint_args *ctx)
{
	return tcp_again((void *)ctx->args[0], (void *)ctx->args[1], 0);
}

SEC("?raw_tp/tcp_retransmit_synack")
int tcp_retransmit_synack(struct bpf_raw_tracepoint_args *ctx)
{
	struct sock *listener = (void *)ctx->args[0], *request = (void *)ctx->args[1];
	struct tcp_again a = {.state = TCP_SYN_RECV, .segments = 1};

	if (!enabled || !tcp_listener_is_recorded(listener))
		return 0;
	tcp_count_again(request, &a);
	tcp_send_again(request, NULL, &a);
	return 0;
}
