/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Finds events that a BPF program missed because it was already running on the CPU.
 *
 * The kernel does not run a program on a CPU where it is already running (6.1, 05b24ff9b2cf, "bpf:
 * Prevent bpf program recursion for raw tracepoint probes"). Segments may arrive, sometimes
 * hundreds in a row, while a program handles a socket of the current task. Two programs are
 * therefore attached to socket state changes, one after the other; the second detects which changes
 * the first one missed. Compiled for BPF and, in the tests, for user space, where barrier()
 * simulates interrupts.
 */
#ifndef BPF_STATES_H
#define BPF_STATES_H

#ifndef __bpf__
#include <stdbool.h>
#endif

enum { STATES_STALE = 4096 }; /* after so many inner changes, the outer one is taken as finished */

/* State of one CPU. A change is identified by a number. `outer` and `inner` are the changes that
 * the first program has finished and the second one has not: */
struct states {
	__u64 outer, inner; /* inner: interrupted the outer one */
	__u64 inner_cnt;    /* number of inner changes since the outer one */
	__u64 second; /* the second program runs and may miss changes */
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

/*
 * Called by the second program: whether the first one missed the change. Ends with states_end(). A
 * change that interrupts it before its first or after its last step here may leave its number in
 * `inner` or `outer`.
 */
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
