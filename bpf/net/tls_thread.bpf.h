/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* The current call of a thread into a TLS library, and the socket data it transfers. Connects
 * tls.bpf.c, which sees the calls, with the traffic probes, which see the sockets. */
#ifndef BPF_TLS_THREAD_BPF_H
#define BPF_TLS_THREAD_BPF_H

#include "bpf/net/net_kernel.bpf.h"
#include "bpf/net/net_tls.h"

struct tls_call {
	__u64 ssl, buf;
	__u64 len_at; /* _EX: address where the length is stored */
	__u64 ts_ns;  /* of a write: its last send or, before any, its start */
	__u64 sk;     /* key in net_socks of the socket used inside the call */
	__u32 id;     /* net_sock.id; 0: none */
	__u32 kind;   /* enum tls_kind */
};

/* `outer`: at the end of a handshake, a read may call back into the program, which then writes. */
struct tls_thread {
	struct tls_call now, outer;
	__u64 last_sk; /* socket last received from */
	__u32 last_id, pad;
};

/* LRU: thread exits are not tracked. */
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

/* The current thread has transferred bytes on the socket. Returns 1 when this happened inside a TLS
 * library, which means that they are ciphertext. */
int tls_moved(__u64 sk, __u32 id, __u32 dir);

#endif
