/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Start and end of sockets. TCP has a tracepoint for its state changes, so no system calls are
 * hooked: each hooked one makes every system call of the host slower, by 0.25 us and more.
 */
#include <linux/errno.h>

#include "bpf/net/net_call.bpf.h"
#include "bpf/states.h"

/* Checks for bytes read since the last observed call. */
static __always_inline void look_behind(struct sock *sk, const struct net_sock *s)
{
	struct tcp_sock *tp = (void *)sk;

	if (s->flags & NET_SEQ << NET_RECEIVED)
		look_for_splice(s, BPF_CORE_READ(tp, copied_seq) - s->seq[NET_RECEIVED]);
	else if (s->flags & NET_OPENED)
		look_for_splice(s, consumed(sk));
}

/* Whether close() sends a reset. For a reset by the peer, the last receiving call may still be
 * counted later. */
static __always_inline bool is_abort(__u64 before)
{
	struct call c;

	return (before == TCP_ESTABLISHED || before == TCP_CLOSE_WAIT) && !current_call(&c) &&
	       c.nr == NR_close;
}

/* tcp_reset() and tcp_write_err() set the error before the state. */
static __always_inline __u16 closed_how(struct sock *sk)
{
	switch (BPF_CORE_READ(sk, sk_err)) {
	case ECONNRESET:
	case EPIPE:
		return NET_RESET;
	case ETIMEDOUT:
		return NET_TIMED_OUT;
	}
	return 0;
}

/*
 * Only stores the time of the close: the last send of a TCP socket may be counted later. (On
 * loopback, the peer's RST arrives inside the send that caused it, before the tracepoint of that
 * call.)
 */
static __always_inline void note_closed(struct sock *sk, __u64 before)
{
	__u64 key = (__u64)sk;
	struct net_sock *s = bpf_map_lookup_elem(&net_socks, &key);

	if (!s || s->closed_ns)
		return;
	if (net_splice_state != NET_DEMAND_ON && is_abort(before))
		look_behind(sk, s);
	s->closed_ns = bpf_ktime_get_ns();
	s->flags |= closed_how(sk);
	tcp_health(sk, s); /* segments may be retransmitted after the last call */
}

/* This may run in the context of any process, so it only completes an existing entry, which obrec
 * reads later. When the peer opened the connection, the accepting process is not known yet. */
static __always_inline void note_established(struct sock *sk, bool asked)
{
	__u64 key = (__u64)sk, now;
	struct net_sock *s;

	if (!asked) {
		now = bpf_ktime_get_ns();
		bpf_map_update_elem(&net_born, &key, &now, BPF_ANY);
		return;
	}
	s = bpf_map_lookup_elem(&net_socks, &key);
	if (s && !s->closed_ns)
		read_addrs(sk, s);
}

/* Runs in the context of the caller of connect(). */
static __always_inline void note_connect(struct sock *sk)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (is_recorded(tgid))
		sock_get(sk, tgid, NET_CLIENT | NET_OPENED);
}

/* Runs in the context of the caller of close() or shutdown(). The socket may never have transferred
 * a byte; an entry at its address may belong to an earlier socket. */
static __always_inline void note_shutdown(struct sock *sk)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	__u64 key = (__u64)sk, inode;
	struct net_sock *s;

	if (!is_recorded(tgid))
		return;
	inode = sock_inode(sk, false);
	s = bpf_map_lookup_elem(&net_socks, &key);
	if (inode && (!s || s->inode != inode))
		s = sock_get_as(sk, inode, tgid, 0);
	if (s && net_splice_state != NET_DEMAND_ON)
		look_behind(sk, s);
}

static __always_inline void note_state(struct bpf_raw_tracepoint_args *ctx)
{
	struct sock *sk = (void *)ctx->args[0];

	switch (ctx->args[2]) {
	case TCP_SYN_SENT:
		note_connect(sk);
		break;
	case TCP_ESTABLISHED:
		note_established(sk, ctx->args[1] == TCP_SYN_SENT);
		break;
	case TCP_FIN_WAIT1:
	case TCP_LAST_ACK:
		note_shutdown(sk);
		break;
	case TCP_CLOSE:
		note_closed(sk, ctx->args[1]);
	}
}

/* Number of changes that the first program below missed and the second one handled: segments arrive
 * while the first one runs. */
__u64 net_state_made_up;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct states);
} net_states SEC(".maps");

/* Identifies a change: addresses of sockets differ by more than the number of states. */
static __always_inline __u64 change(struct bpf_raw_tracepoint_args *ctx)
{
	return ctx->args[0] + ctx->args[2];
}

SEC("?raw_tp/inet_sock_set_state")
int net_tcp_state(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 zero = 0;
	struct states *st = bpf_map_lookup_elem(&net_states, &zero);

	if (!st || !enabled)
		return 0;
	states_first(st, change(ctx));
	note_state(ctx);
	return 0;
}

/* While the other program is not attached, neither is enabled, so no change counts as missed. */
SEC("?raw_tp/inet_sock_set_state")
int net_tcp_state_missed(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 zero = 0;
	struct states *st = bpf_map_lookup_elem(&net_states, &zero);

	if (!st || !enabled)
		return 0;
	if (states_missed(st, change(ctx))) {
		note_state(ctx);
		add_atomically(&net_state_made_up, 1);
	}
	states_end(st);
	return 0;
}

/* Whether the socket was released: it has lost its file (sock_orphan()), or its struct sock was
 * reused. TCP continues without a file. */
static __always_inline bool is_gone(__u64 key, __u64 inode)
{
	struct sock *sk = (void *)(key & ~(__u64)NET_GONE_TCP);
	__u64 now = sock_inode(sk, false);

	if (now == inode)
		return false;
	return now || !(key & NET_GONE_TCP) ||
	       BPF_CORE_READ(sk, __sk_common.skc_state) == TCP_CLOSE;
}

/*
 * The close of UDP and Unix sockets fires no event, nor does the release of a TCP socket that is
 * already closed. obrec queries several sockets at once, each by its address and inode; the result
 * has a bit set for each one that is released.
 */
SEC("?raw_tp/net_gone")
int net_gone(struct bpf_raw_tracepoint_args *ctx)
{
	int gone = 0;

	_Pragma("unroll") for (__u32 i = 0; i < NET_GONE_SOCKS; i++)
	{
		__u64 key = ctx->args[2 * i], inode = ctx->args[2 * i + 1];

		if (key && is_gone(key, inode))
			gone |= 1 << i;
	}
	return gone;
}
