/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Traffic: what sockets of the targets send and receive, complete counts (l4) and payload heads
 * (l7).
 *
 * Three ways lead to a call's bytes. From 6.3 on the tracepoints sock_send_length and
 * sock_recv_length (6e6eda44b939, "sock: add tracepoint for send recv length") fire once for each
 * message of any socket, in the caller's context, inside its system call: its registers still say
 * where the buffer is. They cost nothing to system calls that do not touch sockets, and count
 * io_uring and sendfile as well. Before, the exit of the system calls is watched (raw_tp/sys_exit),
 * where registers and the real return value are at hand; kretprobes are not used, as they miss
 * calls under load, and fexit is not, as before 5.12 a trampoline that tasks sleep in may be freed.
 *
 * Kernels without tracepoints on system calls have the entries of the protocols' functions, by
 * fentry or kprobe. What a call will move is not known there; TCP's sequence numbers make up for it
 * at the next call.
 *
 * A datagram's sender is in the caller's memory only when the call returns, so payload of
 * unconnected sockets is taken at the exit in both ways.
 */
#include "net_choice.bpf.h"

const volatile __u32 net_sample_per_64k = 65536;
const volatile __u32 net_cpus = 1;
const volatile __u32 net_by = NET_BY_EXIT;
const volatile bool net_exits = true; /* the exits of sendmmsg and recvmmsg are watched */

struct net_ids_map net_ids SEC(".maps");
struct net_socks_map net_socks SEC(".maps");
struct net_sock_scratch_map net_sock_scratch SEC(".maps");

__u32 net_thin;
bool net_stateless;
bool net_at_exit[256];

/* As count(), with the sequence number of the call's first byte. */
static __always_inline __u32 count_typed(struct sock *sk, struct net_sock *s, __u32 dir, __u32 len,
					 __u64 *pos)
{
	struct tcp_sock *tp;

	count_bytes(s, dir, len, pos, true);
	if (s->transport != IPPROTO_TCP)
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	s->retransmits = tp->total_retrans;
	s->srtt_us = tp->srtt_us >> 3;
	return (dir == NET_SENT ? tp->write_seq : tp->copied_seq) - len;
}

/* `typed`, a constant: sk may be dereferenced. A probe read costs 10 ns, and a call takes ten. */
static __always_inline int on_sock(struct sock *sk, int ret, __u32 flags, __u32 dir, bool typed)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, seq;
	struct net_sock *s;
	struct proc *p;
	struct call c;
	__u64 pos;

	if (ret < 0 || !enabled || flags & MSG_PEEK || !is_target(tgid, &p))
		return 0;
	if (typed)
		current_call_typed(&c);
	else if (current_call(&c))
		return 0;
	if (!ret && !is_datagram(sk, typed))
		return 0;
	if (c.nr == NR_sendmmsg || c.nr == NR_recvmmsg)
		return 0; /* at their exit, where each message's length stands */
	s = sock_get_as(sk, sock_inode(sk, typed), tgid, 0);
	if (!s)
		return 0;
	if (typed) {
		seq = count_typed(sk, s, dir, ret, &pos);
	} else {
		count(sk, s, dir, ret, &pos, true);
		seq = first_seq(sk, s, dir, ret);
	}
	if (!wants_payload(s, dir))
		return 0;
	if (left_to_exit(s, dir, &c))
		*at_exit_of(tgid) = true;
	else
		take_payload(s, dir, ret, pos, seq, &c);
	return 0;
}

SEC("?tp_btf/sock_send_length")
int net_sock_send(__u64 *ctx)
{
	return on_sock((void *)ctx[0], ctx[1], 0, NET_SENT, true);
}

SEC("?tp_btf/sock_recv_length")
int net_sock_recv(__u64 *ctx)
{
	return on_sock((void *)ctx[0], ctx[1], ctx[2], NET_RECEIVED, true);
}

/* Where the kernel does not carry its own BTF. */
SEC("?raw_tp/sock_send_length")
int net_sock_send_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return on_sock((void *)ctx->args[0], ctx->args[1], 0, NET_SENT, false);
}

SEC("?raw_tp/sock_recv_length")
int net_sock_recv_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return on_sock((void *)ctx->args[0], ctx->args[1], ctx->args[2], NET_RECEIVED, false);
}
