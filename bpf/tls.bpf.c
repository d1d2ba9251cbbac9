/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Clear text from inside TLS libraries: uprobes at the entry and return of the functions that
 * programs read and write through.
 *
 * A session belongs to the socket that is read or written inside the call, as net.bpf.c sees it.
 * Programs that move the cipher text themselves (memory BIOs: node, Python's asyncio) make no such
 * call: theirs is the socket that the thread last received from, noted when the session next takes
 * a step of its handshake or gives data. What was seen inside a call is never replaced by what was
 * only seen before one.
 */
#include "net.bpf.h"
#include "tls.h"

struct tls_thread {
	__u64 ssl, buf;
	__u64 len_at;		/* _EX: where the length will stand */
	__u64 call_sk, last_sk; /* keys of net_socks: used inside the call; last received from */
	__u32 call_id, last_id; /* net_sock.id; 0: none */
	__u32 kind;		/* enum tls_kind of the call it is in */
	__u32 pad;
};

struct tls_session {
	__u64 ssl;
	__u32 tgid, pad;
};
struct tls_sock {
	__u64 sk;
	__u32 id;
	__u32 inside; /* it was used inside a call */
};

/* LRU: threads end, and sessions are freed, without a word. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32); /* tid */
	__type(value, struct tls_thread);
} tls_threads SEC(".maps");
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

/* The current thread has moved bytes on this socket. 1: inside a TLS library, so they are cipher
 * text. */
__noinline int tls_moved(__u64 sk, __u32 id, __u32 dir)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct tls_thread *t = bpf_map_lookup_elem(&tls_threads, &tid);

	if (!t)
		return 0;
	if (!t->kind) {
		if (dir == NET_RECEIVED) {
			t->last_sk = sk;
			t->last_id = id;
		}
		return 0;
	}
	/* A read may have to answer an alert first, and the other way round. */
	if (t->kind == TLS_HANDSHAKE ||
	    (dir == NET_SENT) == (t->kind == TLS_WRITE || t->kind == TLS_WRITE_EX)) {
		t->call_sk = sk;
		t->call_id = id;
	}
	return 1;
}

static __always_inline int enter(struct arch_ctx_regs *regs, __u32 kind)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct tls_thread *t;
	struct proc *p;

	if (!enabled || !is_target(id >> 32, &p))
		return 0;
	t = thread_of(id);
	if (!t || (kind == TLS_HANDSHAKE && t->kind))
		return 0;
	t->ssl = CTX_ARG0(regs);
	t->buf = CTX_ARG1(regs);
	t->call_id = 0;
	if (kind == TLS_READ_EX || kind == TLS_WRITE_EX) {
		/* OpenSSL 3.3 (SSL_write_ex2) has flags before it. */
		t->len_at = CTX_ARG3(regs) < 4096 ? CTX_ARG4(regs) : CTX_ARG3(regs);
	}
	t->kind = kind;
	return 0;
}

/* The socket of the session that a call on it just ended; NULL: not known. */
static __always_inline struct tls_sock *sock_of(struct tls_thread *t, struct tls_session *key,
						bool reads, bool moved)
{
	struct tls_sock *known = bpf_map_lookup_elem(&tls_sessions, key), now = {0};
	__u32 last = reads ? t->last_id : 0;

	if (t->call_id) {
		now.sk = t->call_sk;
		now.id = t->call_id;
		now.inside = 1;
	} else if (last && (!known || (moved && !known->inside))) {
		now.sk = t->last_sk;
		now.id = last;
	}
	if (reads)
		t->last_id = 0;
	if (!now.id || (known && known->id == now.id && known->inside == now.inside))
		return known;
	bpf_map_update_elem(&tls_sessions, key, &now, BPF_ANY);
	return bpf_map_lookup_elem(&tls_sessions, key);
}

static __always_inline __s64 moved_by(struct arch_ctx_regs *regs, struct tls_thread *t, __u32 kind)
{
	__s64 n = (__s32)CTX_RET(regs);

	if (kind != TLS_READ_EX && kind != TLS_WRITE_EX)
		return n;
	if (n != 1 || bpf_probe_read_user(&n, sizeof(n), (void *)t->len_at))
		return 0;
	return n;
}

static __always_inline int leave(struct arch_ctx_regs *regs, bool fetch)
{
	__u64 id = bpf_get_current_pid_tgid(), buf;
	__u32 tid = id, kind, dir;
	struct tls_thread *t = bpf_map_lookup_elem(&tls_threads, &tid);
	struct tls_session key = {.tgid = id >> 32};
	struct tls_sock *s;
	__s64 n;
	int err;

	if (!t || !t->kind || t->kind == TLS_HANDSHAKE)
		return 0;
	kind = t->kind;
	t->kind = TLS_NONE;
	dir = kind == TLS_WRITE || kind == TLS_WRITE_EX ? NET_SENT : NET_RECEIVED;
	n = moved_by(regs, t, kind);
	key.ssl = t->ssl;
	buf = t->buf;
	s = sock_of(t, &key, dir == NET_RECEIVED, n > 0);
	if (n <= 0 || n > 0x7fffffff)
		return 0;
	if (!s) {
		loss_count(LOSS_TLS_SOCK);
		return 0;
	}
	err = fetch ? net_take_plain(s->sk, s->id, dir, buf, n)
		    : net_take_plain_5_10(s->sk, s->id, dir, buf, n);
	if (err) {
		loss_count(LOSS_TLS_SOCK);
		bpf_map_delete_elem(&tls_sessions, &key);
	}
	return 0;
}

#define ENTRY(name, kind)                                                                          \
	SEC("?uprobe")                                                                             \
	int name(struct arch_ctx_regs *regs)                                                       \
	{                                                                                          \
		return enter(regs, kind);                                                          \
	}

ENTRY(tls_read, TLS_READ)
ENTRY(tls_write, TLS_WRITE)
ENTRY(tls_read_ex, TLS_READ_EX)
ENTRY(tls_write_ex, TLS_WRITE_EX)
ENTRY(tls_handshake, TLS_HANDSHAKE)

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

SEC("?uretprobe")
int tls_shaken(struct arch_ctx_regs *regs)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tid = id;
	struct tls_thread *t = bpf_map_lookup_elem(&tls_threads, &tid);
	struct tls_session key = {.tgid = id >> 32};

	if (!t || t->kind != TLS_HANDSHAKE)
		return 0;
	t->kind = TLS_NONE;
	key.ssl = t->ssl;
	sock_of(t, &key, true, false);
	return 0;
}

SEC("?uprobe")
int tls_free(struct arch_ctx_regs *regs)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct tls_session key = {.ssl = CTX_ARG0(regs), .tgid = tgid};
	struct proc *p;

	/* OpenSSL counts references: a session that lives on is found again by its next call. */
	if (enabled && is_target(tgid, &p))
		bpf_map_delete_elem(&tls_sessions, &key);
	return 0;
}
