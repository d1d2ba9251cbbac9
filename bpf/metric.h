/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Cells: what probes count in the kernel, by series and key, and the buckets of histograms. Shared
 * with record/cells.c, which reads them, and with its tests.
 *
 * Buckets are log-linear: 32 a power of two, so that a bucket's middle is within 1.6 % of what is
 * in it; below 32 each number has its own.
 *
 *   index      0 ... 31 | 32 ... 63 | 64 ... 95   | 96 ... 127   | ...
 *   values     0 ... 31 | 32 ... 63 | 64 ... 127  | 128 ... 255  |
 *   width          1    |     1     |      2      |       4      |
 */
#ifndef BPF_METRIC_H
#define BPF_METRIC_H

#include <linux/types.h>

#define METRIC_SUB_BITS 5
#define METRIC_SUBS (1u << METRIC_SUB_BITS)
/* Values from here on share the last bucket: 78 hours in ns, 256 TiB. */
#define METRIC_VALUE_BITS 48
#define METRIC_BUCKETS (METRIC_SUBS * (METRIC_VALUE_BITS - METRIC_SUB_BITS + 1) + 1)

/* Every probe's first series, which are there for each kind of event. */
enum { SERIES_EVENTS, SERIES_THROTTLED, SERIES_OWN };
#define SERIES_MAX 16 /* of one probe */
#define SERIES_NUMBER(probe, series) ((probe) * SERIES_MAX + (series))
#define SERIES_NUMBERS (64 * SERIES_MAX)

#define METRIC_KEY_PARTS 4

/* What a series counts by; probes say what the parts are. Unused parts are 0. */
struct metric_key {
	__u32 series; /* SERIES_NUMBER() */
	__u32 bucket; /* 0 of a counter */
	__u64 part[METRIC_KEY_PARTS];
};

struct metric_cell {
	__u64 count, sum;
};

/* The number of the highest bit set; of 0: 0. Without a branch for each bit, and without clz, which
 * BPF got late. */
static inline __attribute__((always_inline)) __u32 metric_log2(__u64 v)
{
	__u32 n = 0, more;

#define STEP(bits)                                                                                 \
	more = (v >> (bits) != 0) * (bits);                                                        \
	v >>= more;                                                                                \
	n += more
	STEP(32);
	STEP(16);
	STEP(8);
	STEP(4);
	STEP(2);
	STEP(1);
#undef STEP
	return n;
}

static inline __attribute__((always_inline)) __u32 metric_bucket(__u64 value)
{
	__u32 log;

	if (value < METRIC_SUBS)
		return value;
	if (value >> METRIC_VALUE_BITS)
		return METRIC_BUCKETS - 1;
	log = metric_log2(value);
	return (log - METRIC_SUB_BITS) * METRIC_SUBS + (value >> (log - METRIC_SUB_BITS));
}

/* The least value of a bucket; of the one behind the last: the end of all. */
static inline __u64 metric_low(__u32 bucket)
{
	__u32 log;

	if (bucket < METRIC_SUBS)
		return bucket;
	if (bucket >= METRIC_BUCKETS)
		return ~0ULL;
	log = bucket / METRIC_SUBS - 1;
	return (__u64)(METRIC_SUBS + bucket % METRIC_SUBS) << log;
}

#endif
