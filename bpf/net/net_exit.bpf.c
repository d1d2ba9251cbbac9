/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Traffic at the exits of system calls: all of it, or only what is not known earlier. */
#include "bpf/net/net_choice.bpf.h"
#include "bpf/net/net_many.bpf.h"

enum { MESSAGES_MAX = 64 };

static __always_inline __u32 length_of(__u64 message)
{
	__u32 len = 0;

	bpf_probe_read_user(&len, sizeof(len),
			    (void *)message + __builtin_offsetof(struct user_mmsghdr, len));
	return len;
}

/* `pos`: stream position; ~0: not counted yet. */
static __always_inline int take_message(__u64 sk, __u32 dir, __u64 user, __u64 pos, bool fetch)
{
	struct call c = {.who = bpf_get_current_pid_tgid(),
			 .nr = dir == NET_SENT ? NR_sendmsg : NR_recvmsg,
			 .arg = {0, user}};
	struct net_sock *s = bpf_map_lookup_elem(&net_socks, &sk);
	__u32 len = length_of(user);

	if (!s)
		return 0;
	if (pos == ~0ULL)
		count((void *)sk, s, c.who >> 32, dir, len, &pos, fetch);
	if (wants_any_payload(s))
		take_payload(s, dir, len, pos, 0, &c, net_buffers_of(c.nr), fetch);
	return len;
}

/* Global, like the functions below, so that the verifier checks it once and not for each caller. */
__noinline int net_take_message(__u64 sk, __u32 dir, __u64 user, __u64 pos)
{
	return take_message(sk, dir, user, pos, true);
}

__noinline int net_take_message_5_10(__u64 sk, __u32 dir, __u64 user, __u64 pos)
{
	return take_message(sk, dir, user, pos, false);
}

/* Total length of the first `cnt` messages of a vector. */
__noinline int net_length_of_many(__u64 user, __u32 cnt)
{
	__u32 sum = 0;

	for (__u32 i = 0; i < MESSAGES_MAX && i < cnt; i++)
		sum += length_of(user + i * sizeof(struct user_mmsghdr));
	return sum;
}

/* sendmmsg and recvmmsg: `cnt` messages were transferred, each with its own length. */
static __always_inline int take_messages(__u64 sk, __u32 dir, __u64 user, __u32 cnt, bool fetch)
{
	struct net_sock *s = bpf_map_lookup_elem(&net_socks, &sk);
	__u64 pos = ~0ULL;

	if (s && net_by == NET_BY_SOCK)
		pos = s->bytes[dir & 1] - net_length_of_many(user, cnt);
	for (__u32 i = 0; i < MESSAGES_MAX && i < cnt; i++) {
		__u32 len = fetch ? net_take_message(sk, dir, user, pos)
				  : net_take_message_5_10(sk, dir, user, pos);

		if (pos != ~0ULL)
			pos += len;
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

static __always_inline void on_data(const struct call *c, __s64 ret, bool fetch)
{
	__u32 tgid = c->who >> 32;
	bool many = of_many(c);
	__u32 buffers = net_buffers_of(c->nr), dir = buffers >> BUFFERS_DIR;
	bool traced = net_by == NET_BY_SOCK; /* counted by a hook on the socket */
	struct net_sock *s;
	struct sock *sk;
	__u64 pos;

	if (c->nr == NR_sendfile || c->nr == NR_splice)
		dir = NET_SENT;
	else if (!(buffers & BUFFERS_HOW) && !many)
		return;
	if (c->flags & MSG_PEEK)
		return;
	sk = sock_of_fd(c->arg[0]);
	if (c->nr == NR_splice && sk)
		dir = NET_RECEIVED;
	else if (c->nr == NR_splice)
		sk = sock_of_fd(c->arg[2]);
	if (!sk || (!ret && !is_datagram(sk, false)))
		return;
	dir = net_number(dir);
	verifier_join();
	s = sock_get(sk, tgid, 0);
	if (!s)
		return;
	if (has_moved(sk, s, false))
		net_sock_moved(s->key);
	if (many) {
		dir = c->nr == NR_sendmmsg ? NET_SENT : NET_RECEIVED;
		if (traced && !left_to_exit(s, dir, c))
			return;
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
		pos = s->bytes[dir & 1] - ret;
	else
		count(sk, s, tgid, dir, ret, &pos, fetch);
	verifier_join();
	if (wants_payload(s, dir))
		take_payload(s, dir, ret, pos, first_seq(sk, s, dir, ret), c, buffers, fetch);
}

/* Fast check that the exit needs no work: servers make millions of calls, nearly all on connected
 * sockets. */
static __always_inline bool tells_nothing(__u32 tgid)
{
	return net_by == NET_BY_SOCK && !*at_exit_of(tgid);
}

static __always_inline int on_exit(__s64 ret, bool fetch)
{
	struct call c = {.who = bpf_get_current_pid_tgid()};
	__u32 tgid = c.who >> 32;

	if (ret < 0 || tells_nothing(tgid) || !enabled || !is_recorded(tgid) || current_call(&c))
		return 0;
	on_data(&c, ret, fetch);
	return 0;
}

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
