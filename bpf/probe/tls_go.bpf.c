/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Plaintext of Go's crypto/tls: (*Conn).Read and Write. Calls are identified by their goroutine,
 * which may change its thread; the connection is found through the Conn value.
 */
#include "bpf/net/net_kernel.bpf.h"
#include "bpf/net/net_tls.h"

struct tls_goroutine {
	__u64 g;
	__u32 tgid, pad;
};
struct tls_go_call {
	__u64 conn, buf;
	__u64 ts_ns; /* start of the call */
	__u64 ip;    /* address of the function entry */
	__u64 sk;    /* key of net_socks */
	__u32 id;    /* net_sock.id; 0: not known yet */
	__u32 dir;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct tls_goroutine); /* may change its thread during a call */
	__type(value, struct tls_go_call);
} tls_go_calls SEC(".maps");

#if defined(__TARGET_ARCH_x86)
/*
 * tls.Conn starts with its net.Conn, an interface: type, pointer. The pointer refers to a
 * net.TCPConn, which is a pointer to net.netFD, which starts with poll.FD: a mutex of 16 bytes, the
 * descriptor. The descriptor must be that of a known stream socket. Other types of net.Conn are not
 * supported.
 */
static __always_inline void go_find_sock(struct tls_go_call *c)
{
	__u64 tcp = 0, netfd = 0;
	struct net_sock *s;
	__s32 fd = -1;

	if (bpf_probe_read_user(&tcp, sizeof(tcp), (void *)(c->conn + 8)) || !tcp ||
	    bpf_probe_read_user(&netfd, sizeof(netfd), (void *)tcp) || !netfd ||
	    bpf_probe_read_user(&fd, sizeof(fd), (void *)(netfd + 16)) || fd < 0)
		return;
	c->sk = (__u64)sock_of_fd(fd);
	s = c->sk ? bpf_map_lookup_elem(&net_socks, &c->sk) : NULL;
	if (s && (s->transport == IPPROTO_TCP || s->transport == TRANSPORT_UNIX_STREAM))
		c->id = s->id;
}

/* Go's internal ABI on amd64: arguments and results in AX, BX, CX, ...; R14 is the goroutine. */
static __always_inline int go_enter(struct arch_ctx_regs *regs, __u32 dir)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct tls_goroutine key = {.g = regs->r14, .tgid = tgid};
	struct tls_go_call call = {.conn = regs->ax, .buf = regs->bx, .ip = regs->ip, .dir = dir};
	struct proc *p;

	keep_task_stack();
	if (!enabled || !is_target(tgid, &p))
		return 0;
	call.ts_ns = bpf_ktime_get_ns();
	/* Done now, because another goroutine may close it before the call returns. */
	go_find_sock(&call);
	bpf_map_update_elem(&tls_go_calls, &key, &call, BPF_ANY);
	return 0;
}

/* The goroutine's call has ended and transferred n bytes. */
static __always_inline int go_moved(struct arch_ctx_regs *regs, __s64 n, bool fetch)
{
	struct tls_goroutine key = {.g = regs->r14, .tgid = bpf_get_current_pid_tgid() >> 32};
	struct tls_go_call *c = bpf_map_lookup_elem(&tls_go_calls, &key), call;
	int err = -1;

	keep_task_stack();
	if (!c)
		return 0;
	call = *c;
	bpf_map_delete_elem(&tls_go_calls, &key);
	if (n <= 0 || n > 0x7fffffff)
		return 0;
	if (!call.id)
		go_find_sock(&call);
	if (call.dir == NET_RECEIVED)
		call.ts_ns = bpf_ktime_get_ns();
	if (call.id)
		err = fetch ? net_take_plain(call.sk, PLAIN_ID(call.id, call.dir), call.buf, n,
					     call.ts_ns)
			    : net_take_plain_5_10(call.sk, PLAIN_ID(call.id, call.dir), call.buf, n,
						  call.ts_ns);
	if (err)
		loss_count(LOSS_TLS_SOCK);
	return 0;
}

static __always_inline int go_leave(struct arch_ctx_regs *regs, bool fetch)
{
	return go_moved(regs, regs->ax, fetch);
}

/* Runs in a closure that the call deferred. After a panic the runtime calls the closure, and
 * another frame is above the return address. */
static __always_inline int go_deferred(struct arch_ctx_regs *regs, __u32 result_at)
{
	struct tls_goroutine key = {.g = regs->r14, .tgid = bpf_get_current_pid_tgid() >> 32};
	struct tls_go_call *c = bpf_map_lookup_elem(&tls_go_calls, &key);
	__u64 ret = 0;
	__s64 n = 0;

	if (!c || bpf_probe_read_user(&ret, sizeof(ret), (void *)regs->sp) ||
	    ret - c->ip >= TLS_GO_MAX_SZ ||
	    bpf_probe_read_user(&n, sizeof(n), (void *)(regs->sp + sizeof(ret) + result_at)))
		return 0;
	return go_moved(regs, n, true);
}

SEC("?uprobe")
int tls_go_read(struct arch_ctx_regs *regs)
{
	return go_enter(regs, NET_RECEIVED);
}

SEC("?uprobe")
int tls_go_write(struct arch_ctx_regs *regs)
{
	return go_enter(regs, NET_SENT);
}

SEC("?uprobe")
int tls_go_return(struct arch_ctx_regs *regs)
{
	return go_leave(regs, true);
}

SEC("?uprobe")
int tls_go_return_5_10(struct arch_ctx_regs *regs)
{
	return go_leave(regs, false);
}

/* For kernels where one probe can be attached in many places. */
SEC("?uprobe")
int tls_go_sites(struct arch_ctx_regs *regs)
{
	__u64 cookie = bpf_get_attach_cookie(regs);
	__u32 kind = TLS_COOKIE_KIND(cookie);

	if (kind == TLS_GO_RETURN)
		return go_leave(regs, true);
	if (kind == TLS_GO_DEFERRED)
		return go_deferred(regs, TLS_COOKIE_RESULT_AT(cookie));
	return go_enter(regs, kind == TLS_GO_WRITE ? NET_SENT : NET_RECEIVED);
}
#endif
