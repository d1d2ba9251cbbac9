/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* System call functions that are verified once for all programs. */
#include "bpf/net/net_call.bpf.h"

__noinline int net_flags_of(__u64 nr, __u64 arg2, __u64 arg3)
{
	switch (nr) {
	case NR_recvfrom:
	case NR_recvmmsg:
		return arg3;
	case NR_recvmsg:
		return arg2;
	}
	return 0;
}

static __always_inline enum buffers buffers_of(__u64 nr)
{
	switch (nr) {
	case NR_read:
	case NR_write:
	case NR_sendto:
	case NR_recvfrom:
		return BUF_PLAIN;
	case NR_readv:
	case NR_writev:
		return BUF_IOVEC;
	case NR_sendmsg:
	case NR_recvmsg:
		return BUF_MSGHDR;
	}
	return BUF_NONE;
}

__noinline int net_buffers_of(__u64 nr)
{
	bool sends = nr == NR_write || nr == NR_writev || nr == NR_sendto || nr == NR_sendmsg;

	return buffers_of(nr) | (sends ? NET_SENT : NET_RECEIVED) << BUFFERS_DIR;
}

__noinline int net_number(__u64 number)
{
	asm volatile("" : "+r"(number));
	return number;
}
