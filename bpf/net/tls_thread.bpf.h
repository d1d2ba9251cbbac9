/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* The call into a TLS library that a thread is in, and what it moves meanwhile: between tls.bpf.c,
 * which sees the calls, and the traffic probes, which see the sockets. */
#ifndef BPF_TLS_THREAD_BPF_H
#define BPF_TLS_THREAD_BPF_H

#include "bpf/net/net_kernel.bpf.h"
#include "bpf/net/tls.h"

struct tls_call {
	__u64 ssl, buf;
	__u64 len_at; /* _EX: where the length will stand */
	__u64 ts_ns; /* of a write: when it sent last, else when it began, as the answer may be here
			before it returns */
	__u64 sk;    /* key of net_socks: used inside the call */
	__u32 id;    /* net_sock.id; 0: none */
	__u32 kind;  /* enum tls_kind */
};

/* `outer`: the end of a handshake, in a read, may call back into the program, which writes then. */
struct tls_thread {
	struct tls_call now, outer;
	__u64 last_sk; /* last received from */
	__u32 last_id, pad;
};

/* LRU: threads end without a word. */
struct tls_threads_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32); /* tid */
	__type(value, struct tls_thread);
};
extern struct tls_threads_map tls_threads SEC(".maps");

static __always_inline bool is_write(__u32 kind)
{
	return kind == TLS_WRITE || kind == TLS_WRITE_EX || kind == TLS_WRITE_ELSEWHERE;
}

/* The current thread has moved bytes on the socket; 1: inside a TLS library, so they are cipher
 * text. */
int tls_moved(__u64 sk, __u32 id, __u32 dir);

#endif
