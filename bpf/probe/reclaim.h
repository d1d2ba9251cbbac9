/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_RECLAIM_H
#define BPF_RECLAIM_H

#include "bpf/metric.h"

enum { SERIES_reclaim_latency = SERIES_OWN, SERIES_reclaim_reclaimed };
enum { RECLAIM_PART_CAUSE = 2 }; /* key part after the process name */

#define RECLAIM_CAUSES(X)                                                                          \
	X(RECLAIM_DIRECT, "direct reclaim")                                                        \
	X(RECLAIM_CGROUP, "cgroup reclaim")                                                        \
	X(RECLAIM_NODE, "node reclaim")                                                            \
	X(RECLAIM_COMPACTION, "compaction")                                                        \
	X(RECLAIM_WRITE_BACK, "write-back")                                                        \
	X(RECLAIM_SWAP_IN, "swap-in")
#define RECLAIM_CAUSE_LEN 16
enum reclaim_cause {
#define X(number, text) number,
	RECLAIM_CAUSES(X)
#undef X
		RECLAIM_CAUSE_CNT
};

#endif
