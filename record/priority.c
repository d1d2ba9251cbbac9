/* SPDX-License-Identifier: BSD-2-Clause */
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "priority.h"

/*
 * Raised, obrec takes a CPU from whoever has it. Lowered it waits until somebody sleeps, or a few
 * milliseconds: a nice thread that asks for short slices comes to its turn as soon as others.
 *
 * From 6.12 (857b158dc5e8 "sched/eevdf: Use sched_attr::sched_runtime to set request/slice
 * suggestion") a thread that asks for short slices is let in sooner; older kernels ignore it.
 */
static const struct {
	int nice;
	uint64_t slice_ns;
} levels[] = {
	[PRIORITY_NORMAL] = {0, 0},
	[PRIORITY_URGENT] = {-10, 100000},
	[PRIORITY_BULK] = {10, 500000},
};

static _Thread_local enum priority now;

/* struct sched_attr of sched_setattr(2), which glibc 2.36 does not have. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static bool set(enum priority to)
{
	struct attr a = {.size = sizeof(a),
			 .policy = SCHED_OTHER,
			 .nice = levels[to].nice,
			 .runtime = levels[to].slice_ns};

	return !syscall(SYS_sched_setattr, 0, &a, 0);
}

void priority_take(void)
{
	/* a priority somebody gave obrec on purpose stays */
	if (sched_getscheduler(0) == SCHED_OTHER && !getpriority(PRIO_PROCESS, 0) &&
	    set(PRIORITY_URGENT))
		now = PRIORITY_URGENT;
}

void priority_set(enum priority to)
{
	/* who may not be raised could not leave a lower one again */
	if (now == PRIORITY_NORMAL || now == to)
		return;
	set(to);
	now = to;
}
