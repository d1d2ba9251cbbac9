/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FORMAT_CLOCK_H
#define FORMAT_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of a clock of clock_gettime(2), which cannot fail for the clocks used here. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* The clock of the archive and of bpf_ktime_get_ns(). */
static inline uint64_t clock_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#endif
