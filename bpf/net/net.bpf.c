/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Traffic: what sockets of the targets send and receive; complete counts (l4) and the first payload
 * bytes (l7).
 *
 * There are three ways to see the bytes of a call. From 6.3 on, the tracepoints sock_send_length
 * and sock_recv_length (6e6eda44b939, "sock: add tracepoint for send recv length") fire once per
 * message of any socket, in the caller's context, inside its system call: its registers still
 * contain the buffer's address. They cost nothing for system calls that do not use sockets, and
 * include io_uring and sendfile. On older kernels, the exit of system calls is hooked
 * (raw_tp/sys_exit), where registers and the return value are available. kretprobes are not used
 * because they miss calls under load; fexit is not used because before 5.12 a trampoline in which
 * tasks sleep may be freed.
 *
 * On kernels without system call tracepoints, the entries of the protocol functions are hooked, by
 * fentry or kprobe. The number of bytes that a call will transfer is not known there; TCP sequence
 * numbers provide it at the next call.
 *
 * The sender of a datagram is in the caller's memory only when the call returns. Data received on
 * unconnected sockets is therefore always captured at the exit. On kernels with socket tracepoints,
 * these exits are hooked when the first process needs them, because a hooked exit slows down all
 * system calls of the host.
 */
#include "bpf/net/net_choice.bpf.h"
#include "bpf/net/net_many.bpf.h"

const volatile __u32 net_by = NET_BY_EXIT;
const volatile bool net_exits = true; /* exits of sendmmsg and recvmmsg are hooked */

__u32 net_thin;
__u32 net_exits_state;
__u32 net_splice_state;
bool net_at_exit[256];

/* Whether the end of the stream was read: copied_seq includes it. */
static __always_inline bool ended(struct sock *sk)
{
	struct tcp_sock *tp = (void *)sk;

	return BPF_CORE_READ(sk, sk_shutdown) & RCV_SHUTDOWN &&
	       BPF_CORE_READ(tp, copied_seq) == BPF_CORE_READ(tp, rcv_nxt);
}

/*
 * `len` bytes were received, ending before sequence number `end`; returns the number of the first
 * byte. The end of the stream has its own sequence number (RFC 9293, 3.4), which the call that
 * reads the end includes.
 */
static __always_inline __u32 received_until(struct sock *sk, struct net_sock *s, __u32 end,
					    __u32 len)
{
	bool known = s->flags & NET_SEQ << NET_RECEIVED;
	__u32 gap = end - len - s->seq[NET_RECEIVED];

	if ((!known || gap == 1) && ended(sk))
		end--;
	else if (known)
		look_for_splice(s, gap);
	reached(s, NET_RECEIVED, end);
	return end - len;
}

/* As count(); returns the sequence number of the call's first byte. */
static __always_inline __u32 count_typed(struct sock *sk, struct net_sock *s, __u32 tgid, __u32 dir,
					 __u32 len, __u64 *pos)
{
	struct tcp_sock *tp = cast_typed(struct tcp_sock, sk);
	__u32 end;

	count_bytes(s, tgid, dir, len, pos, true);
	if (s->transport != IPPROTO_TCP)
		return 0;
	s->retransmits = tp->total_retrans;
	s->srtt_us = tp->srtt_us >> 3;
	end = dir == NET_SENT ? tp->write_seq : tp->copied_seq;
	return dir == NET_RECEIVED ? received_until(sk, s, end, len) : end - len;
}

static __always_inline __u32 count_read(struct sock *sk, struct net_sock *s, __u32 tgid, __u32 dir,
					__u32 len, __u64 *pos)
{
	__u32 seq;

	count(sk, s, tgid, dir, len, pos, true);
	seq = first_seq(sk, s, dir, len);
	if (dir == NET_RECEIVED && s->transport == IPPROTO_TCP)
		return received_until(sk, s, seq + len, len);
	return seq;
}

/* Rewrites a call of sendmmsg or recvmmsg as a sendmsg or recvmsg of its current message. */
static __always_inline void one_of_many(struct call *c)
{
	c->arg[1] += (__u64)net_many_next(c->arg[1], c->arg[2]) * sizeof(struct user_mmsghdr);
	c->nr = c->nr == NR_sendmmsg ? NR_sendmsg : NR_recvmsg;
}

/* Whether a datagram is captured at the exit of the call, because its sender is not in the caller's
 * memory before. */
static __always_inline bool waits_for_exit(const struct net_sock *s, __u32 dir,
					   const struct call *c, __u32 tgid)
{
	if (!left_to_exit(s, dir, c))
		return false;
	*at_exit_of(tgid) = true;
	if (net_exits_state != NET_DEMAND_ON)
		loss_count(LOSS_NET_SENDER);
	return net_exits_state == NET_DEMAND_ON;
}

/* `typed`, a constant: sk may be dereferenced. A probe read costs 10 ns, and a call needs ten. */
static __always_inline int on_sock(struct sock *sk, int ret, __u32 flags, __u32 dir, bool typed)
{
	struct task_struct *current =
		typed ? (void *)bpf_get_current_task_btf() : (void *)bpf_get_current_task();
	struct call c = {.who = typed ? task_who_typed(current) : bpf_get_current_pid_tgid()};
	__u32 tgid = c.who >> 32, seq;
	struct net_sock *s;
	__u64 pos;

	if (ret < 0 && net_many_used)
		net_many_failed();
	if (ret < 0 || !enabled || flags & MSG_PEEK || !is_recorded(tgid))
		return 0;
	if (typed)
		current_call_typed(&c, current, flags);
	else if (current_call(&c))
		return 0;
	if (!ret && !is_datagram(sk, typed))
		return 0;
	s = sock_get_as(sk, sock_inode(sk, typed), tgid, 0);
	if (!s)
		return 0;
	seq = typed ? count_typed(sk, s, tgid, dir, ret, &pos)
		    : count_read(sk, s, tgid, dir, ret, &pos);
	verifier_join();
	if (is_others_call(s, &c, current, typed))
		c.nr = NR_none;
	else if (of_many(&c))
		one_of_many(&c);
	c.nr = net_number(c.nr);
	verifier_join();
	if (has_moved(sk, s, typed))
		net_sock_moved(s->key);
	verifier_join();
	if (wants_payload(s, dir) && !waits_for_exit(s, dir, &c, tgid))
		take_payload(s, dir, ret, pos, seq, &c, net_buffers_of(c.nr), true);
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

/* For kernels without their own BTF. */
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

/*
 * splice() from a TCP socket fires none of the tracepoints above. tcp_read_sock() calls this
 * function with the lock held and copied_seq updated. The end of the stream has its own sequence
 * number (RFC 9293, 3.4) and is not a byte. Not counted: bytes of the first splice() of a
 * connection that existed before the capture, and bytes spliced from Unix sockets.
 */
static __always_inline int on_splice(struct sock *sk, const struct call *c)
{
	__u32 tgid = c->who >> 32, end, moved, first;
	struct tcp_sock *tp = (void *)sk;
	struct net_sock *s;
	__u64 pos;

	if (c->nr != NR_splice || !enabled || !is_recorded(tgid))
		return 0;
	s = sock_get(sk, tgid, 0);
	if (!s)
		return 0;
	end = BPF_CORE_READ(tp, copied_seq);
	first = s->seq[NET_RECEIVED];
	if (!(s->flags & NET_SEQ << NET_RECEIVED))
		first = s->flags & NET_OPENED ? end - ended(sk) - consumed(sk) : end;
	reached(s, NET_RECEIVED, end);
	moved = end - first - ended(sk);
	if ((__s32)moved <= 0)
		return 0;
	count(sk, s, tgid, NET_RECEIVED, moved, &pos, true);
	if (wants_payload(s, NET_RECEIVED))
		take_payload(s, NET_RECEIVED, moved, pos, first, c, BUF_NONE, true);
	return 0;
}

SEC("?tp_btf/tcp_rcv_space_adjust")
int net_sock_splice(__u64 *ctx)
{
	struct task_struct *current = (void *)bpf_get_current_task_btf();
	struct call c = {.who = task_who_typed(current)};

	current_call_typed(&c, current, 0);
	return on_splice((void *)ctx[0], &c);
}

SEC("?raw_tp/tcp_rcv_space_adjust")
int net_sock_splice_raw(struct bpf_raw_tracepoint_args *ctx)
{
	struct call c = {.who = bpf_get_current_pid_tgid()};

	return current_call(&c) ? 0 : on_splice((void *)ctx->args[0], &c);
}
