/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Finds which message of a sendmmsg or recvmmsg a thread has just transferred, where each message
 * is a separate event (tracepoints on sockets): the first, or the one after the last, until the
 * call ends because all were transferred or one failed. A failure before the socket is reached, for
 * example a bad pointer, makes the next call with the same vector start one message too late.
 */
#include "bpf/net/net_many.bpf.h"

struct net_many_map net_many SEC(".maps");
bool net_many_used;

__noinline int net_many_next(__u64 vector, __u32 cnt)
{
	__u32 tid = bpf_get_current_pid_tgid(), at = 0;
	struct net_many_at *m = bpf_map_lookup_elem(&net_many, &tid), first = {.vector = vector};

	net_many_used = true;
	if (m && m->vector == vector && m->next < cnt)
		at = m->next;
	if (m) {
		m->vector = vector;
		m->next = at + 1 < cnt ? at + 1 : 0;
		return at;
	}
	first.next = cnt > 1;
	bpf_map_update_elem(&net_many, &tid, &first, BPF_ANY);
	return 0;
}

__noinline int net_many_failed(void)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct net_many_at *m = bpf_map_lookup_elem(&net_many, &tid);

	if (m)
		m->next = 0;
	return 0;
}
