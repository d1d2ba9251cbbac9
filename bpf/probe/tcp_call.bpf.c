/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * connect() that fails before a SYN is sent: no route, no permission, no free port, a bad address.
 * Only the call tells the error. A call whose handshake begins is left to tcp.bpf.c; one that could
 * not go on with it (SYN_SENT -> CLOSE, without an error of the socket) is not.
 */
#include "bpf/probe/tcp.bpf.h"

struct socket___state {
	enum { SS_UNCONNECTED = 1 } state;
} __attribute__((preserve_access_index));

SEC("?tracepoint/syscalls/sys_enter_connect")
int tcp_connect_enter(struct syscall_enter *ctx)
{
	struct tcp_call call = {.addr = ctx->args[1], .len = ctx->args[2]};
	struct socket___state *socket;
	struct sock *sk;

	if (!enabled || !is_recorded(bpf_get_current_pid_tgid() >> 32))
		return KEEP_SAMPLES;
	sk = sock_of_fd(ctx->args[0]);
	if (!sk || BPF_CORE_READ(sk, sk_protocol) != IPPROTO_TCP ||
	    BPF_CORE_READ(sk, __sk_common.skc_state) != TCP_CLOSE)
		return KEEP_SAMPLES;
	/* Else it asks what became of an earlier one. */
	socket = (void *)BPF_CORE_READ(sk, sk_socket);
	if (BPF_CORE_READ(socket, state) != SS_UNCONNECTED)
		return KEEP_SAMPLES;
	call.sk = (__u64)sk;
	call_begin(&tcp_calls, &call);
	return KEEP_SAMPLES;
}

struct tcp_called {
	struct tcp_in6 to;
	struct tcp_flow peer; /* remote address and port */
	__u32 error;
	__u64 ns;
};

/* Reads the address that was asked for; what cannot be read is 0. */
static __noinline int tcp_called_read(struct tcp_called *c, const struct tcp_call *call)
{
	struct tcp_in *in = (void *)&c->to;

	if (call->len >= sizeof(c->to))
		bpf_probe_read_user(&c->to, sizeof(c->to), (void *)call->addr);
	else if (call->len >= sizeof(*in))
		bpf_probe_read_user(in, sizeof(*in), (void *)call->addr);
	c->peer.remote_port = bpf_ntohs(in->port);
	in->port = 0;
	if (in->family == AF_INET)
		c->peer.remote[1] = tcp_v4_mapped(in->addr);
	else if (in->family == AF_INET6)
		__builtin_memcpy(c->peer.remote, c->to.addr, sizeof(c->to.addr));
	else
		in->family = 0;
	return 0;
}

SEC("?tracepoint/syscalls/sys_exit_connect")
int tcp_connect_exit(struct syscall_exit *ctx)
{
	__u64 who = bpf_get_current_pid_tgid();
	struct tcp_call *found, call;
	struct tcp_called c = {};
	struct event_tcp_connect *e;
	__u32 tid = who;
	struct sock *sk;

	found = bpf_map_lookup_elem(&tcp_calls, &tid);
	if (!found)
		return KEEP_SAMPLES;
	call = *found;
	bpf_map_delete_elem(&tcp_calls, &tid);
	if (!enabled || ctx->ret >= 0 || call.begun)
		return KEEP_SAMPLES;
	sk = (void *)call.sk;
	c.ns = bpf_ktime_get_ns() - call.begin_ns;
	c.error = -ctx->ret;
	tcp_called_read(&c, &call);
	tcp_count_connect(&c.peer, c.ns, c.error, true);
	if (c.ns < tcp_min_ns)
		return KEEP_SAMPLES;
	e = EVENT_BEGIN_OF(tcp, tcp_connect, SERIES_EVENTS, who >> 32, ENTRY_TRACEPOINT, who, NULL,
			   NULL);
	if (!e)
		return KEEP_SAMPLES;
	TCP_PUT_ENDS(e, sk);
	__builtin_memcpy(e->text + TCP_ADDRESS_SZ, &c.to, sizeof(c.to));
	e->remote_port = c.peer.remote_port;
	e->duration_ns = c.ns;
	e->failed = 1;
	e->error = c.error;
	EVENT_SEND(tcp_connect, e, ENTRY_TRACEPOINT, 2 * TCP_ADDRESS_SZ);
	return KEEP_SAMPLES;
}
