/* SPDX-License-Identifier: BSD-2-Clause */
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/host/priority.h"

#define NICE_RAISED (-10)
/*
 * Since 6.12 (857b158dc5e8 "sched/eevdf: Use sched_attr::sched_runtime to set request/slice
 * suggestion") a thread that requests a short slice is scheduled earlier; older kernels ignore it.
 */
#define SLICE_NS 100000

/* struct sched_attr of sched_setattr(2), which glibc 2.36 does not have. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static void set(pid_t tid, int nice, uint64_t slice_ns)
{
	struct attr a = {
		.size = sizeof(a), .policy = SCHED_OTHER, .nice = nice, .runtime = slice_ns};

	syscall(SYS_sched_setattr, tid, &a, 0);
}

void priority_raise(pid_t tid)
{
	/* keep a priority that was set explicitly */
	if (sched_getscheduler(tid) == SCHED_OTHER && !getpriority(PRIO_PROCESS, tid))
		set(tid, NICE_RAISED, SLICE_NS);
}

void priority_lower(pid_t tid)
{
	if (sched_getscheduler(tid) == SCHED_OTHER && getpriority(PRIO_PROCESS, tid) == NICE_RAISED)
		set(tid, 0, 0);
}
