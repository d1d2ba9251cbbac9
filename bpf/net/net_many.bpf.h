/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Calls of sendmmsg and recvmmsg, where each message is a separate event. */
#ifndef BPF_NET_MANY_BPF_H
#define BPF_NET_MANY_BPF_H

#include "bpf/net/net_call.bpf.h"

struct net_many_at {
	__u64 vector; /* struct mmsghdr[] of the thread's last sendmmsg or recvmmsg */
	__u32 next, pad;
};
/* LRU: thread exits are not tracked. */
struct net_many_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32); /* tid */
	__type(value, struct net_many_at);
};
extern struct net_many_map net_many SEC(".maps");
extern bool net_many_used; /* a thread has made such a call */

struct user_mmsghdr {
	struct user_msghdr hdr;
	__u32 len, pad;
};

/* Index of the message just transferred, in a call with `cnt` messages. */
int net_many_next(__u64 vector, __u32 cnt);
/* A call of the current thread failed: it transfers no further messages. */
int net_many_failed(void);

#endif
