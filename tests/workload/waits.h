/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that wait for each other for a known time. */
#ifndef WORKLOAD_WAITS_H
#define WORKLOAD_WAITS_H

#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>

#include "need.h"

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static inline void nap_ms(double ms)
{
	struct timespec nap = {0, ms * 1000000};

	nanosleep(&nap, NULL);
}

/* Whether the thread sleeps in futex(2). */
static inline int waits(pid_t tid)
{
	char path[64];
	int nr = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	f = fopen(path, "r");
	NEED(f);
	if (fscanf(f, "%d", &nr) != 1)
		nr = -1;
	fclose(f);
	return nr == SYS_futex;
}

#endif
