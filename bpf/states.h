/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * No program is run on a CPU while it is running there already (6.1, 05b24ff9b2cf, "bpf: Prevent
 * bpf program recursion for raw tracepoint probes"), but segments arrive, hundreds in a row at
 * times, while a task's own socket is in its hands. Two programs follow the changes of a CPU's
 * sockets, one attached behind the other: here the second finds out which of them the first missed.
 * Compiled for BPF and, in the tests, for user space, with interrupts at each barrier().
 */
#ifndef BPF_STATES_H
#define BPF_STATES_H

#ifndef __bpf__
#include <stdbool.h>
#endif

enum { STATES_STALE = 4096 }; /* what is interrupted so often is over, its end was not seen */

/* A CPU's. A change is a number; those that the first was through with, and the second not yet: */
struct states {
	__u64 outer, inner; /* inner: came amid the outer one */
	__u64 inner_cnt;    /* since the outer one */
	__u64 second; /* it is at work, and misses what interrupts it; the first does not */
};

static __always_inline void states_first(struct states *st, __u64 change)
{
	if (st->second)
		return;
	barrier();
	if (!st->outer || ++st->inner_cnt > STATES_STALE) {
		st->inner_cnt = 0;
		st->outer = change;
	} else {
		st->inner = change;
	}
	barrier();
}

/* In the second, until states_end(): whether the first missed the change. What interrupts it before
 * its first or behind its last step here may leave its mark in `inner` or `outer`. */
static __always_inline bool states_missed(struct states *st, __u64 change)
{
	st->second = 1;
	barrier();
	if (st->inner == change) {
		st->inner = 0;
		return false;
	}
	if (st->outer != change)
		return true;
	st->outer = 0;
	return false;
}

static __always_inline void states_end(struct states *st)
{
	barrier();
	st->second = 0;
}

#endif
