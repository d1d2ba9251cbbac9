/* SPDX-License-Identifier: BSD-2-Clause */
/* CPU time of this process, and the median of several runs. */
#ifndef TESTS_BENCH_MEDIAN_H
#define TESTS_BENCH_MEDIAN_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static inline int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts v. */
static inline double median(double *v, size_t cnt)
{
	qsort(v, cnt, sizeof(*v), by_value);
	return v[cnt / 2];
}

#endif
