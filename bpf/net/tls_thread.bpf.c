/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Finds the socket that is used inside a call into a TLS library. */
#include "bpf/net/tls_thread.bpf.h"

struct tls_threads_map tls_threads SEC(".maps");

__noinline int tls_moved(__u64 sk, __u32 id, __u32 dir)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct tls_thread *t = bpf_map_lookup_elem(&tls_threads, &tid);

	if (!t)
		return 0;
	if (!t->now.kind) {
		if (dir == NET_RECEIVED) {
			t->last_sk = sk;
			t->last_id = id;
		}
		return 0;
	}
	/* A read may send an alert, and a write may receive data; only the call's own direction
	 * counts. */
	if (t->now.kind == TLS_SESSION || (dir == NET_SENT) == is_write(t->now.kind)) {
		t->now.sk = sk;
		t->now.id = id;
		t->now.ts_ns = bpf_ktime_get_ns();
	}
	return 1;
}
