/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Plaintext of TLS libraries: uprobes at the entry and return of their read and write functions.
 *
 * A session is assigned to the socket that is read or written inside the call, as seen by
 * tls_thread.bpf.c. Programs that transfer the ciphertext themselves (memory BIOs: node, Python's
 * asyncio) make no such call. Their sessions are assigned to the socket from which the thread last
 * received, unless that socket carries a known protocol or belongs to another session. This
 * assumption is renewed at each step of the handshake until data is transferred, and replaced by a
 * socket seen inside a call.
 */
#include "bpf/net/net_kernel.bpf.h"
#include "bpf/net/tls_thread.bpf.h"

struct tls_session {
	__u64 ssl;
	__u32 tgid, pad;
};
struct tls_sock {
	__u64 sk;
	__u32 id;
	__u32 sure; /* enum sure */
};
enum sure { SUPPOSED, MOVED_DATA, USED_INSIDE };

/* LRU: a session may be freed without a probed call. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct tls_session);
	__type(value, struct tls_sock);
} tls_sessions SEC(".maps");

static __always_inline struct tls_thread *thread_of(__u32 tid)
{
	struct tls_thread *t = bpf_map_lookup_elem(&tls_threads, &tid);
	struct tls_thread fresh = {0};

	if (t)
		return t;
	bpf_map_update_elem(&tls_threads, &tid, &fresh, BPF_ANY);
	return bpf_map_lookup_elem(&tls_threads, &tid);
}

/* Whether the socket may carry TLS: it is not known to carry another protocol. */
static __always_inline bool may_be_tls(__u64 sk, __u32 id, bool in_use)
{
	struct net_sock *s = bpf_map_lookup_elem(&net_socks, &sk);

	return s && s->id == id && (s->flags & NET_TLS ? in_use : !s->protocol);
}

/*
 * Assigns a session that has transferred no data to the socket from which the thread just received.
 */
static __always_inline void suppose(struct tls_thread *t, __u64 ssl, __u32 tgid)
{
	struct tls_session key = {.ssl = ssl, .tgid = tgid};
	struct tls_sock sock = {.sk = t->last_sk, .id = t->last_id}, *known;

	if (!sock.id)
		return;
	known = bpf_map_lookup_elem(&tls_sessions, &key);
	if (known && known->sure)
		return;
	if (may_be_tls(sock.sk, sock.id, false))
		bpf_map_update_elem(&tls_sessions, &key, &sock, BPF_ANY);
}

static __always_inline int enter(struct arch_ctx_regs *regs, __u32 kind, __u64 buf)
{
	__u64 id = bpf_get_current_pid_tgid(), ssl = CTX_ARG0(regs);
	struct tls_thread *t;
	struct proc *p;

	keep_task_stack();
	if (!enabled || !is_target(id >> 32, &p))
		return 0;
	t = thread_of(id);
	if (!t || (kind == TLS_SESSION && t->now.kind))
		return 0;
	/* A nested call of the same kind counts as one call. */
	if (t->now.kind && (t->now.ssl != ssl || is_write(t->now.kind) != is_write(kind)))
		t->outer = t->now;
	t->now.ssl = ssl;
	t->now.buf = buf;
	t->now.id = 0;
	t->now.ts_ns = bpf_ktime_get_ns();
	if (kind == TLS_READ_EX || kind == TLS_WRITE_EX) {
		/* SSL_write_ex2 (OpenSSL 3.3) has a flags argument before it. */
		t->now.len_at = CTX_ARG3(regs) < 4096 ? CTX_ARG4(regs) : CTX_ARG3(regs);
	}
	t->now.kind = kind;
	suppose(t, ssl, id >> 32);
	return 0;
}

/* The socket of the session whose call just ended; NULL: not known. */
static __always_inline struct tls_sock *sock_of(struct tls_thread *t, struct tls_session *key,
						bool reads, bool moved)
{
	struct tls_sock *known = bpf_map_lookup_elem(&tls_sessions, key), now = {0};
	__u32 last = reads ? t->last_id : 0;

	if (t->now.id) {
		now.sk = t->now.sk;
		now.id = t->now.id;
		now.sure = USED_INSIDE;
	} else if (moved && last && (!known || known->sure < USED_INSIDE) &&
		   may_be_tls(t->last_sk, last, true)) {
		now.sk = t->last_sk;
		now.id = last;
		now.sure = MOVED_DATA;
	} else if (moved && known && !known->sure) {
		known->sure = MOVED_DATA;
	}
	if (reads)
		t->last_id = 0;
	if (!now.id || (known && known->id == now.id && known->sure == now.sure))
		return known;
	bpf_map_update_elem(&tls_sessions, key, &now, BPF_ANY);
	return bpf_map_lookup_elem(&tls_sessions, key);
}

static __always_inline __s64 moved_by(struct arch_ctx_regs *regs, const struct tls_call *c)
{
	__s64 n = (__s32)CTX_RET(regs);

	if (c->kind != TLS_READ_EX && c->kind != TLS_WRITE_EX)
		return n;
	if (n != 1 || bpf_probe_read_user(&n, sizeof(n), (void *)c->len_at))
		return 0;
	return n;
}

static __always_inline void call_ends(struct tls_thread *t)
{
	t->now = t->outer;
	t->outer.kind = TLS_NONE;
}

static __always_inline int leave(struct arch_ctx_regs *regs, bool fetch)
{
	__u64 id = bpf_get_current_pid_tgid(), buf, ts_ns;
	__u32 tid = id, dir;
	struct tls_thread *t = bpf_map_lookup_elem(&tls_threads, &tid);
	struct tls_session key = {.tgid = id >> 32};
	struct tls_sock *s;
	__s64 n;
	int err;

	keep_task_stack();
	if (!t || !t->now.kind || t->now.kind == TLS_SESSION)
		return 0;
	dir = is_write(t->now.kind) ? NET_SENT : NET_RECEIVED;
	n = moved_by(regs, &t->now);
	key.ssl = t->now.ssl;
	buf = t->now.buf;
	ts_ns = dir == NET_SENT ? t->now.ts_ns : bpf_ktime_get_ns();
	s = sock_of(t, &key, dir == NET_RECEIVED, n > 0);
	call_ends(t);
	if (n <= 0 || n > 0x7fffffff)
		return 0;
	if (!s) {
		loss_count(LOSS_TLS_SOCK);
		return 0;
	}
	err = fetch ? net_take_plain(s->sk, PLAIN_ID(s->id, dir), buf, n, ts_ns)
		    : net_take_plain_5_10(s->sk, PLAIN_ID(s->id, dir), buf, n, ts_ns);
	if (err) {
		loss_count(LOSS_TLS_SOCK);
		bpf_map_delete_elem(&tls_sessions, &key);
	}
	return 0;
}

enum { GNUTLS_APPLICATION_DATA = 23 };

static __always_inline int enter_as(struct arch_ctx_regs *regs, __u32 kind)
{
	__u64 buf = CTX_ARG1(regs);

	if (kind == TLS_READ_TYPED) {
		if ((__u32)buf != GNUTLS_APPLICATION_DATA)
			return 0;
		kind = TLS_READ;
		buf = CTX_ARG2(regs);
	} else if (kind == TLS_READ_ELSEWHERE || kind == TLS_WRITE_ELSEWHERE) {
		buf = 0;
	}
	return enter(regs, kind, buf);
}

#define ENTRY(name, kind)                                                                          \
	SEC("?uprobe")                                                                             \
	int name(struct arch_ctx_regs *regs)                                                       \
	{                                                                                          \
		return enter_as(regs, kind);                                                       \
	}

ENTRY(tls_read, TLS_READ)
ENTRY(tls_write, TLS_WRITE)
ENTRY(tls_read_ex, TLS_READ_EX)
ENTRY(tls_write_ex, TLS_WRITE_EX)
ENTRY(tls_read_typed, TLS_READ_TYPED)
ENTRY(tls_read_elsewhere, TLS_READ_ELSEWHERE)
ENTRY(tls_write_elsewhere, TLS_WRITE_ELSEWHERE)
ENTRY(tls_session, TLS_SESSION)

SEC("?uretprobe")
int tls_return(struct arch_ctx_regs *regs)
{
	return leave(regs, true);
}

SEC("?uretprobe")
int tls_return_5_10(struct arch_ctx_regs *regs)
{
	return leave(regs, false);
}

static __always_inline int leave_session(void)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tid = id;
	struct tls_thread *t = bpf_map_lookup_elem(&tls_threads, &tid);
	struct tls_session key = {.tgid = id >> 32};

	keep_task_stack();
	if (!t || t->now.kind != TLS_SESSION)
		return 0;
	key.ssl = t->now.ssl;
	sock_of(t, &key, true, false);
	call_ends(t);
	return 0;
}

SEC("?uretprobe")
int tls_session_return(struct arch_ctx_regs *regs)
{
	return leave_session();
}

static __always_inline int forget(struct arch_ctx_regs *regs)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct tls_session key = {.ssl = CTX_ARG0(regs), .tgid = tgid};
	struct proc *p;

	keep_task_stack();
	/* OpenSSL counts references: a session that is still in use is found again at its next
	 * call. */
	if (enabled && is_target(tgid, &p))
		bpf_map_delete_elem(&tls_sessions, &key);
	return 0;
}

SEC("?uprobe")
int tls_free(struct arch_ctx_regs *regs)
{
	return forget(regs);
}

/* For kernels where one probe can be attached in many places: all entries and all returns of a
 * file. */
SEC("?uprobe")
int tls_entries(struct arch_ctx_regs *regs)
{
	__u32 kind = TLS_COOKIE_KIND(bpf_get_attach_cookie(regs));

	return kind == TLS_FREE ? forget(regs) : enter_as(regs, kind);
}

SEC("?uretprobe")
int tls_returns(struct arch_ctx_regs *regs)
{
	__u32 kind = TLS_COOKIE_KIND(bpf_get_attach_cookie(regs));

	return kind == TLS_SESSION ? leave_session() : leave(regs, true);
}
