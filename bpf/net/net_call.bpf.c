/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* What of a system call is verified once, for all programs that ask. */
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
