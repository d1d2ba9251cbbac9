/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Cells: counters and histogram buckets that probes maintain in the kernel, by series and key.
 * Shared with record/cells.c, which reads them, and with its tests.
 *
 * Buckets are log-linear: 32 per power of two, so that the middle of a bucket is within 1.6 % of
 * every value in it. Below 32, each value has its own bucket.
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
/* Values of 2^48 and more share the last bucket: 78 hours in ns, 256 TiB. */
#define METRIC_VALUE_BITS 48
#define METRIC_BUCKETS (METRIC_SUBS * (METRIC_VALUE_BITS - METRIC_SUB_BITS + 1) + 1)

/* The first two series exist for every probe with events. */
enum { SERIES_EVENTS, SERIES_THROTTLED, SERIES_OWN };
#define SERIES_MAX 32 /* series per probe */
#define SERIES_NUMBER(probe, series) ((probe)*SERIES_MAX + (series))
#define SERIES_NUMBERS (64 * SERIES_MAX)

#define METRIC_KEY_PARTS 4
#define METRIC_PART_ERROR 2 /* errno, after the process name, in series by both */

/* Key of a cell within its series; each probe defines the parts. Unused parts are 0. */
struct metric_key {
	__u32 series; /* SERIES_NUMBER() */
	__u32 bucket; /* 0 for counters */
	__u64 part[METRIC_KEY_PARTS];
};

struct metric_cell {
	__u64 count, sum;
};

/*
 * Cells of one program in an array of its own (metric.bpf.h): METRIC_OWN_SLOTS for each CPU. The
 * cell of a key is in the slot of its hash or the one beside it. A slot with count 0 is free. The
 * key of a slot never changes.
 */
#define METRIC_OWN_SLOTS 2048
struct metric_own {
	struct metric_key key;
	struct metric_cell cell;
	__u64 pad; /* a cache line */
};

static inline __attribute__((always_inline)) __u32 metric_own_slot(const struct metric_key *key)
{
	__u64 h = ((__u64)key->bucket << 32 | key->series) * 0x9e3779b97f4a7c15ULL;

	for (int i = 0; i < METRIC_KEY_PARTS; i++)
		h = (h ^ key->part[i]) * 0xff51afd7ed558ccdULL;
	return (h >> 40) & (METRIC_OWN_SLOTS - 1);
}

/* Number of the highest set bit; 0 for 0. Without branches per bit and without clz, which older BPF
 * targets do not have. */
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

/* The first of METRIC_COARSE_JOIN buckets, which stands for all: 8 per power of two, the middle
 * within 6 % of every value. For series with many keys. */
#define METRIC_COARSE_JOIN 4
#define METRIC_COARSE(bucket) ((bucket) & ~(METRIC_COARSE_JOIN - 1u))

/* Lowest value of a bucket; for the index after the last bucket, the maximum of u64. */
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
