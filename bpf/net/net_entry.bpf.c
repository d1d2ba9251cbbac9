/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Traffic at the entries of the protocol functions; net.bpf.c describes when they are used. */
#include "bpf/net/net_choice.bpf.h"

extern const volatile bool net_exits;

/*
 * Counts the bytes of a TCP socket by its sequence numbers; the socket's lock is held. A send
 * counts the requested bytes; when fewer were sent (write_seq shows it at the next send), the retry
 * counts nothing new. tcp_cleanup_rbuf() is called at the end of a receive, and before that with
 * the bytes so far when the receive continues. Returns whether bytes were transferred; *pos is the
 * position of the call's first byte.
 */
static __always_inline bool count_tcp(struct sock *sk, struct net_sock *s, __u32 tgid, __u32 dir,
				      __u32 len, __u64 *pos)
{
	struct tcp_sock *tp = (void *)sk;
	__u32 end = dir == NET_SENT ? BPF_CORE_READ(tp, write_seq) + len
				    : BPF_CORE_READ(tp, copied_seq);
	__s32 moved = s->flags & NET_SEQ << dir ? (__s32)(end - s->seq[dir]) : (__s32)len;

	if (moved <= 0)
		return false;
	s->flags |= NET_SEQ << dir;
	s->seq[dir] = end;
	s->bytes[dir] += moved;
	if (s->tgid != tgid)
		net_sock_share(s->key, tgid, dir, moved);
	if (dir == NET_SENT || moved >= (__s32)len)
		s->calls[dir]++;
	*pos = s->bytes[dir] - len;
	s->retransmits = BPF_CORE_READ(tp, total_retrans);
	s->srtt_us = BPF_CORE_READ(tp, srtt_us) >> 3;
	return true;
}

static __always_inline int on_entry(struct sock *sk, int len, __u32 transport, __u32 dir)
{
	struct call c = {.who = bpf_get_current_pid_tgid()};
	__u32 tgid = c.who >> 32;
	struct net_sock *s;
	__u64 pos;

	if (len < 0 || !enabled || !is_recorded(tgid) || current_call(&c) || c.flags & MSG_PEEK)
		return 0;
	if (net_exits && of_many(&c))
		return 0;
	s = sock_get(sk, tgid, 0);
	if (!s || s->transport != transport)
		return 0;
	if (has_moved(sk, s, false))
		net_sock_moved(s->key);
	if (transport != IPPROTO_TCP)
		count(sk, s, tgid, dir, len, &pos, false);
	else if (!count_tcp(sk, s, tgid, dir, len, &pos))
		return 0;
	if (is_others_call(s, &c, (void *)bpf_get_current_task(), false))
		c.nr = NR_none;
	if (wants_payload(s, dir) && !left_to_exit(s, dir, &c))
		take_payload(s, dir, len, pos, first_seq(sk, s, dir, len), &c, net_buffers_of(c.nr),
			     false);
	return 0;
}

/* udpv6_sendmsg() calls udp_sendmsg() for IPv4 peers. */
static __always_inline int on_udp_send(struct sock *sk, int len)
{
	if (BPF_CORE_READ(sk, __sk_common.skc_family) != AF_INET)
		return 0;
	return on_entry(sk, len, IPPROTO_UDP, NET_SENT);
}

/* Each function as fentry and as kprobe; user space sets the name of the kernel function. */
#define ENTRY(name, call, ...)                                                                     \
	SEC("?fentry")                                                                             \
	int net_fentry_##name(__u64 *ctx)                                                          \
	{                                                                                          \
		return call(__VA_ARGS__);                                                          \
	}                                                                                          \
	SEC("?kprobe")                                                                             \
	int net_kprobe_##name(struct arch_ctx_regs *regs)                                          \
	{                                                                                          \
		__u64 ctx[] = {CTX_ARG0(regs), CTX_ARG1(regs), CTX_ARG2(regs), CTX_ARG3(regs)};    \
		return call(__VA_ARGS__);                                                          \
	}

ENTRY(tcp_send, on_entry, (void *)ctx[0], ctx[2], IPPROTO_TCP, NET_SENT)
ENTRY(tcp_sendpage, on_entry, (void *)ctx[0], ctx[3], IPPROTO_TCP, NET_SENT)
ENTRY(tcp_receive, on_entry, (void *)ctx[0], ctx[1], IPPROTO_TCP, NET_RECEIVED)
ENTRY(udp_send, on_udp_send, (void *)ctx[0], ctx[2])
ENTRY(udp6_send, on_entry, (void *)ctx[0], ctx[2], IPPROTO_UDP, NET_SENT)
ENTRY(udp_receive, on_entry, (void *)ctx[0], ctx[2], IPPROTO_UDP, NET_RECEIVED)
