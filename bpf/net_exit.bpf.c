/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Traffic at the ends of system calls: of all of them, or of the few whose end tells more. */
#include "net_choice.bpf.h"

enum { MESSAGES_MAX = 64 };

/* Global for the verifier's sake, as are those below: it sees them once, whatever led there. */
__noinline int net_opened(__u32 tgid, __u32 fd, __u32 role)
{
	struct sock *sk = sock_of_fd(fd);
	struct net_sock *s;

	if (!sk)
		return 0;
	s = sock_get(sk, tgid, role | NET_OPENED);
	/* Data came first: the handshake of a non-blocking connect, or a socket known as
	 * unconnected. */
	if (!s || s->flags & role)
		return 0;
	s->flags |= role;
	if (s->transport < 256)
		read_addrs(sk, s);
	announce_entry(sk, s, false);
	return 0;
}

struct user_mmsghdr {
	struct user_msghdr hdr;
	__u32 len, pad;
};

static __always_inline int take_message(__u64 sk_addr, __u32 dir, __u64 user, bool fetch)
{
	struct net_sock *s = bpf_map_lookup_elem(&net_socks, &sk_addr);
	struct user_mmsghdr m;
	struct net_scratch *n;
	__u32 kept;
	__u64 pos;

	if (!s || bpf_probe_read_user(&m, sizeof(m), (void *)user))
		return 0;
	count((void *)sk_addr, s, dir, m.len, &pos, fetch);
	n = wants_any_payload(s) ? payload_begin(s, dir, m.len, pos, 0) : NULL;
	if (!n)
		return 0;
	if (!s->remote.family)
		read_peer(&n->record.peer, m.hdr.name);
	kept = net_gather(m.hdr.iov, m.hdr.iov_cnt, want_of(s, m.len));
	if (wants_guess(s, n, dir, m.len)) {
		remember(s, GUESS_PROTOCOL(net_guess(bpf_get_smp_processor_id(), kept, m.len, 1)));
		if (!is_chosen(s, dir, kept)) {
			n->busy = 0;
			return 0;
		}
	}
	payload_end(n, kept);
	return 0;
}

__noinline int net_take_message(__u64 sk_addr, __u32 dir, __u64 user)
{
	return take_message(sk_addr, dir, user, true);
}

__noinline int net_take_message_5_10(__u64 sk_addr, __u32 dir, __u64 user)
{
	return take_message(sk_addr, dir, user, false);
}

/* sendmmsg and recvmmsg: `cnt` messages went, each with its length. */
static __always_inline int take_messages(__u64 sk, __u32 dir, __u64 user, __u32 cnt, bool fetch)
{
	for (__u32 i = 0; i < MESSAGES_MAX && i < cnt; i++) {
		if (fetch)
			net_take_message(sk, dir, user);
		else
			net_take_message_5_10(sk, dir, user);
		user += sizeof(struct user_mmsghdr);
	}
	if (cnt > MESSAGES_MAX)
		loss_count(LOSS_NET_MESSAGES);
	return 0;
}

__noinline int net_take_messages(__u64 sk, __u32 dir, __u64 user, __u32 cnt)
{
	return take_messages(sk, dir, user, cnt, true);
}

__noinline int net_take_messages_5_10(__u64 sk, __u32 dir, __u64 user, __u32 cnt)
{
	return take_messages(sk, dir, user, cnt, false);
}

static __always_inline void on_data(const struct call *c, __u32 tgid, __s64 ret, bool fetch)
{
	bool many = c->nr == NR_sendmmsg || c->nr == NR_recvmmsg;
	__u32 dir;
	enum buffers how = buffers_of(c->nr, &dir);
	bool traced = net_by == NET_BY_SOCK; /* counted by a hook on the socket */
	struct net_sock *s;
	struct sock *sk;
	__u64 pos;

	if (c->nr == NR_sendfile || c->nr == NR_splice)
		dir = NET_SENT;
	else if (how == BUF_NONE && !many)
		return;
	if (peeks(c))
		return;
	sk = sock_of_fd(c->arg[0]);
	if (c->nr == NR_splice && sk) {
		/* Out of a stream, of which no tracepoint tells: tcp_splice_read(). */
		dir = NET_RECEIVED;
		traced = traced && is_datagram(sk, false);
	} else if (c->nr == NR_splice) {
		sk = sock_of_fd(c->arg[2]);
	}
	if (!sk || (!ret && !is_datagram(sk, false)))
		return;
	s = sock_get(sk, tgid, 0);
	if (!s)
		return;
	if (many) {
		dir = c->nr == NR_sendmmsg ? NET_SENT : NET_RECEIVED;
		if (fetch)
			net_take_messages((__u64)sk, dir, c->arg[1], ret);
		else
			net_take_messages_5_10((__u64)sk, dir, c->arg[1], ret);
		return;
	}
	if (net_by == NET_BY_ENTRY)
		traced = s->transport < 256;
	if (traced && !left_to_exit(s, dir, c))
		return;
	if (traced)
		pos = s->bytes[dir] - ret;
	else
		count(sk, s, dir, ret, &pos, fetch);
	if (wants_payload(s, dir))
		take_payload(s, dir, ret, pos, first_seq(sk, s, dir, ret), c);
}

static __always_inline int on_exit(__s64 ret, bool fetch)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct proc *p;
	struct call c;

	if (!enabled || !is_target(tgid, &p) || current_call(&c))
		return 0;
	if (c.nr == NR_connect && (!ret || ret == -115)) /* EINPROGRESS */
		net_opened(tgid, c.arg[0], NET_CLIENT);
	else if ((c.nr == NR_accept || c.nr == NR_accept4) && ret >= 0)
		net_opened(tgid, ret, NET_SERVER);
	else if (ret >= 0)
		on_data(&c, tgid, ret, fetch);
	return 0;
}

/* Before 6.3: every system call. */
SEC("?raw_tp/sys_exit")
int net_sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
	return on_exit(ctx->args[1], true);
}

SEC("?raw_tp/sys_exit")
int net_sys_exit_5_10(struct bpf_raw_tracepoint_args *ctx)
{
	return on_exit(ctx->args[1], false);
}

struct syscall_exit_ctx {
	__u64 common;
	__s32 nr; /* what follows it is whatever was on the stack */
	__s32 pad;
	__s64 ret;
};

/* Servers make these by the million, and nearly all on connected sockets. */
static __always_inline bool tells_nothing(__s32 nr)
{
	return net_by == NET_BY_SOCK && (nr == NR_recvfrom || nr == NR_recvmsg) &&
	       !*at_exit_of(bpf_get_current_pid_tgid() >> 32);
}

/* Where bytes are counted elsewhere: attached to the few calls whose end tells more. */
SEC("?tp")
int net_exit_of(struct syscall_exit_ctx *ctx)
{
	return tells_nothing(ctx->nr) ? 0 : on_exit(ctx->ret, true);
}

SEC("?tp")
int net_exit_of_5_10(struct syscall_exit_ctx *ctx)
{
	return on_exit(ctx->ret, false);
}
