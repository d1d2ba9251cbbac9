/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Interface between the programs of the probe pmu and obrec. */
#ifndef BPF_PMU_H
#define BPF_PMU_H

#include "bpf/wire.h"

enum { SERIES_pmu_counts = 2, SERIES_pmu_time, SERIES_pmu_multiplexed };

#define PMU_EVENTS 16 /* a power of two */

/* What an event counted; of hardware events the times that it was enabled and on the hardware:
 * struct bpf_perf_event_value. */
struct pmu_value {
	__u64 counted, enabled_ns, running_ns;
};

/* A thread, by PMU_KEY(): map pmu_tasks. */
struct pmu_task {
	__u32 tgid, tid;
	char process[WIRE_COMM_LEN], thread[WIRE_COMM_LEN];
	__u64 ended;	/* it does not run any more */
	__u64 switches; /* that the kernel had counted when this one began */
	struct pmu_value value[PMU_EVENTS];
};

/* Of a thread's id and start: ids are given again. */
#define PMU_KEY(tid, start_ns) ((__u64)(tid) << 32 | (__u32)((start_ns) >> 10))

#endif
