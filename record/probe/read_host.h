/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the state of the host, of processes and of their cgroups in a reader process: /proc waits
 * for locks that processes hold. Values are cumulative, except those of gauges. */
#ifndef RECORD_READ_HOST_H
#define RECORD_READ_HOST_H

#include "record/base/parcel.h"

/*
 * HOST_SERIES(name, kind, unit, "parts of the key"). The keys of a process begin with its name,
 * which may change.
 *
 *   counter  count: how often, 0 where that is unknown; sum: in the unit
 *   gauge    count: 1; sum: the value
 */
#define HOST_SERIES_LIST(HOST_SERIES)                                                              \
	HOST_SERIES(cpu, counter, "ns", "state")                                                   \
	HOST_SERIES(cpus, counter, "ns", "cpu\tstate")                                             \
	HOST_SERIES(tasks, gauge, "", "state")                                                     \
	HOST_SERIES(memory, gauge, "bytes", "part")                                                \
	HOST_SERIES(activity, counter, "", "event")                                                \
	HOST_SERIES(pressure, counter, "ns", "resource\tkind")                                     \
	HOST_SERIES(disk, counter, "bytes", "device\toperation")                                   \
	HOST_SERIES(disk_time, counter, "ns", "device\toperation")                                 \
	HOST_SERIES(net, counter, "bytes", "interface\tdirection")                                 \
	HOST_SERIES(net_errors, counter, "", "interface\tdirection\tkind")                         \
	HOST_SERIES(cgroup_cpu, counter, "ns", "cgroup\tstate")                                    \
	HOST_SERIES(cgroup_periods, counter, "ns", "cgroup\tkind")                                 \
	HOST_SERIES(cgroup_memory, gauge, "bytes", "cgroup")                                       \
	HOST_SERIES(cgroup_pressure, counter, "ns", "cgroup\tresource\tkind")                      \
	HOST_SERIES(process_cpu, counter, "ns", "process\tpid\tstate")                             \
	HOST_SERIES(process_memory, gauge, "bytes", "process\tpid")                                \
	HOST_SERIES(process_faults, counter, "", "process\tpid\tkind")                             \
	HOST_SERIES(process_objects, gauge, "", "process\tpid\tkind")

enum host_series {
#define HOST_SERIES(name, ...) HOST_##name,
	HOST_SERIES_LIST(HOST_SERIES)
#undef HOST_SERIES
		HOST_SERIES_CNT
};

struct host_cell {
	uint64_t series; /* enum host_series */
	uint64_t born;	 /* of a process: its start in clock ticks since boot, at least 1; else 0 */
	uint64_t count, sum;
	struct span key;
};

/* Runs in the reader: */
int read_host_serve(int proc, struct parcel *request, struct parcel *answer);
/*
 * Asks for the host, and for as many of the processes as can be read with that much CPU time, at
 * least one.
 */
void read_host_ask(struct parcel *m, const uint32_t *pids, size_t cnt, uint64_t cpu_ns);
bool read_host_next(struct parcel *answer, struct host_cell *c);
/* After the last cell: how many of the processes were read, and the CPU time that it took. */
void read_host_end(struct parcel *answer, uint64_t *pid_cnt, uint64_t *cpu_ns);

#endif
