/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * bind() and listen(). Address and options are those of the socket at the call's exit: the kernel
 * chooses the port where 0 was asked for. The address of a bind() that failed is the one asked for.
 */
#include "bpf/event.bpf.h"
#include "bpf/net/net_kernel.bpf.h"
#include "bpf/probe/bind.h"
#include "bpf/syscall_args.bpf.h"

const volatile bool bind_failed; /* only failed calls */
const volatile bool bind_stack;

#define SOCKADDR_MAX 128 /* struct sockaddr_storage */
#define SOCKADDR_UN_SZ 110

struct bind_in {
	__u16 family, port;
	__u32 addr;
	__u64 zero;
};
struct bind_in6 {
	__u16 family, port;
	__u32 flow;
	__u8 addr[16];
	__u32 scope;
};

struct sock___bind {
	struct {
		unsigned char skc_reuse : 4;
		unsigned char skc_reuseport : 1;
		int skc_bound_dev_if;
	} __sk_common;
} __attribute__((preserve_access_index));
/* c274af224269 ("inet: introduce inet->inet_flags", 6.6) and what follows made flags of the bits.
 */
struct inet_sock___flags {
	unsigned long inet_flags;
} __attribute__((preserve_access_index));
struct inet_sock___bits {
	__u8 freebind : 1, transparent : 1, bind_address_no_port : 1;
} __attribute__((preserve_access_index));
enum { FLAG_FREEBIND = 11, FLAG_TRANSPARENT = 15, FLAG_NO_PORT = 18 }; /* INET_FLAGS_* */

struct bind_call {
	__u64 begin_ns, addr;
	__u32 fd;
	int arg; /* length of the address; backlog */
};
CALLS_IN_PROGRESS(bind_calls, bind_call);

static __always_inline int bind_enter(__u32 fd, __u64 addr, int arg)
{
	struct bind_call call = {.addr = addr, .fd = fd, .arg = arg};

	return call_begin(&bind_calls, &call);
}

SEC("?tracepoint/syscalls/sys_enter_bind")
int bind_enter_bind(struct syscall_enter *ctx)
{
	bind_enter(ctx->args[0], ctx->args[1], ctx->args[2]);
	return KEEP_SAMPLES;
}

SEC("?tracepoint/syscalls/sys_enter_listen")
int bind_enter_listen(struct syscall_enter *ctx)
{
	bind_enter(ctx->args[0], 0, ctx->args[1]);
	return KEEP_SAMPLES;
}

static __always_inline void bind_put_options(struct event_bind *e, struct sock *sk)
{
	struct inet_sock___flags *with_flags = (void *)sk;
	struct inet_sock___bits *with_bits = (void *)sk;
	struct sock___bind *s = (void *)sk;
	unsigned long flags;

	e->device = BPF_CORE_READ(s, __sk_common.skc_bound_dev_if);
	e->reuse_addr = !!BPF_CORE_READ_BITFIELD_PROBED(s, __sk_common.skc_reuse);
	e->reuse_port = BPF_CORE_READ_BITFIELD_PROBED(s, __sk_common.skc_reuseport);
	if (e->family != AF_INET && e->family != AF_INET6)
		return;
	if (bpf_core_field_exists(with_flags->inet_flags)) {
		flags = BPF_CORE_READ(with_flags, inet_flags);
		e->free_bind = flags >> FLAG_FREEBIND & 1;
		e->transparent = flags >> FLAG_TRANSPARENT & 1;
		e->no_port = flags >> FLAG_NO_PORT & 1;
	} else if (bpf_core_field_exists(with_bits->freebind)) {
		e->free_bind = BPF_CORE_READ_BITFIELD_PROBED(with_bits, freebind);
		e->transparent = BPF_CORE_READ_BITFIELD_PROBED(with_bits, transparent);
		e->no_port = BPF_CORE_READ_BITFIELD_PROBED(with_bits, bind_address_no_port);
	}
}

/* The socket's own address, as a struct sockaddr. */
static __always_inline void bind_put_address(struct event_bind *e, struct sock *sk)
{
	struct bind_in6 *in6 = (void *)e->text;
	struct bind_in *in = (void *)e->text;
	struct unix_address *name;
	__u32 len;

	if (e->family == AF_UNIX) {
		name = BPF_CORE_READ((struct unix_sock *)sk, addr);
		len = name ? BPF_CORE_READ(name, len) : 0;
		e->addr = len < SOCKADDR_UN_SZ ? len : SOCKADDR_UN_SZ;
		bpf_probe_read_kernel(e->text, SOCKADDR_UN_SZ,
				      __builtin_preserve_access_index(&name->name));
		return;
	}
	if (e->family != AF_INET && e->family != AF_INET6)
		return;
	in->family = e->family;
	e->port = bpf_ntohs(BPF_CORE_READ((struct inet_sock *)sk, inet_sport));
	if (e->family == AF_INET) {
		in->addr = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
		e->addr = sizeof(*in);
	} else {
		BPF_CORE_READ_INTO(&in6->addr, sk, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr8);
		e->addr = sizeof(*in6);
	}
}

static __always_inline void bind_put_asked(struct event_bind *e, const struct bind_call *call)
{
	__u32 len = call->arg < 0 ? 0 : call->arg > SOCKADDR_MAX ? SOCKADDR_MAX : call->arg;
	struct bind_in *in = (void *)e->text;

	e->addr =
		EVENT_LEN(event_user_bytes(ENTRY_TRACEPOINT, EVENT_TEXT_AT(bind), call->addr, len));
	if (e->addr >= 4 && (in->family == AF_INET || in->family == AF_INET6))
		e->port = bpf_ntohs(in->port);
}

static __always_inline int bind_exit(struct syscall_exit *ctx, bool listen)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tid = id;
	struct bind_call *found = bpf_map_lookup_elem(&bind_calls, &tid), call;
	struct event_bind *e;
	struct sock *sk;

	if (!found)
		return 0;
	call = *found;
	bpf_map_delete_elem(&bind_calls, &tid);
	if (!enabled || (bind_failed && ctx->ret >= 0))
		return 0;
	if (ctx->ret < 0)
		event_count_error(PROBE_bind, SERIES_bind_failed, -ctx->ret);
	e = EVENT_BEGIN(bind, ENTRY_TRACEPOINT, id);
	if (!e)
		return 0;
	e->duration_ns = bpf_ktime_get_ns() - call.begin_ns;
	e->error = ctx->ret < 0 ? -ctx->ret : 0;
	e->listen = listen;
	e->backlog = listen ? call.arg : 0;
	sk = sock_of_fd(call.fd);
	if (sk) {
		e->family = BPF_CORE_READ(sk, __sk_common.skc_family);
		e->type = BPF_CORE_READ(sk, sk_type);
		e->protocol = BPF_CORE_READ(sk, sk_protocol);
		e->netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
		bind_put_options(e, sk);
	}
	if (bind_stack)
		event_stacks(ctx, ENTRY_TRACEPOINT, e);
	if (ctx->ret < 0 && !listen)
		bind_put_asked(e, &call);
	else if (sk)
		bind_put_address(e, sk);
	EVENT_SEND(bind, e, ENTRY_TRACEPOINT, e->addr);
	return 0;
}

SEC("?tracepoint/syscalls/sys_exit_bind")
int bind_exit_bind(struct syscall_exit *ctx)
{
	bind_exit(ctx, false);
	return KEEP_SAMPLES;
}

SEC("?tracepoint/syscalls/sys_exit_listen")
int bind_exit_listen(struct syscall_exit *ctx)
{
	bind_exit(ctx, true);
	return KEEP_SAMPLES;
}
