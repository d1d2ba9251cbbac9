/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* The end of a socket. */
#include "net_sock.bpf.h"

/*
 * Only noted: the last send of a TCP socket may be counted after this. (On loopback the peer's RST
 * arrives inside the very send that caused it, before the call's own tracepoint.)
 */
static __always_inline void note_closed(struct sock *sk)
{
	__u64 key = (__u64)sk;
	struct net_sock *s = bpf_map_lookup_elem(&net_socks, &key);

	if (!s || s->closed_ns)
		return;
	s->closed_ns = bpf_ktime_get_ns();
	if (s->transport == IPPROTO_TCP)
		tcp_health(sk, s); /* segments may be sent again after the last call */
}

enum { TCP_CLOSE = 7 };

SEC("?raw_tp/inet_sock_set_state")
int net_tcp_state(struct bpf_raw_tracepoint_args *ctx)
{
	if (enabled && ctx->args[2] == TCP_CLOSE)
		note_closed((void *)ctx->args[0]);
	return 0;
}

/* 6.13, 90ee6ed776c0 ("fs: port files to file_ref"): f_count became f_ref, which counts from 0. */
struct file___f_count {
	struct {
		__s64 counter;
	} f_count;
} __attribute__((preserve_access_index));
struct file___f_ref {
	struct {
		struct {
			__s64 counter;
		} refcnt;
	} f_ref;
} __attribute__((preserve_access_index));

static __always_inline bool last_reference(struct file *file)
{
	struct file___f_ref *now = (void *)file;
	struct file___f_count *old = (void *)file;

	if (bpf_core_field_exists(now->f_ref))
		return !BPF_CORE_READ(now, f_ref.refcnt.counter);
	return BPF_CORE_READ(old, f_count.counter) == 1;
}

struct syscall_enter_ctx {
	__u64 common;
	__s64 nr;
	__u64 arg[6];
};

/* UDP and Unix sockets have no state to watch: the close of the last descriptor is their end. */
SEC("?tp/syscalls/sys_enter_close")
int net_close(struct syscall_enter_ctx *ctx)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct socket *socket;
	struct file *file;
	struct sock *sk;
	struct proc *p;

	if (!enabled || !net_stateless || !is_target(tgid, &p))
		return 0;
	sk = sock_of_fd(ctx->arg[0]);
	if (!sk || transport_of(sk) == IPPROTO_TCP)
		return 0;
	socket = BPF_CORE_READ(sk, sk_socket);
	file = BPF_CORE_READ(socket, file);
	if (file && last_reference(file))
		note_closed(sk);
	return 0;
}
