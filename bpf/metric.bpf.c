/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#include "bpf/metric.bpf.h"

struct metrics_map metrics SEC(".maps");
struct metric_others_map metric_others SEC(".maps");
__u32 metric_other_at[SERIES_NUMBERS];
__u64 metric_other_cnt;
const volatile __u32 metric_reserved, metric_shared;
/* Keys that have entered: of each series, and of all beyond those reserved. Keys that two CPUs add
 * at once count twice. */
static __u64 metric_entered[SERIES_NUMBERS];
static __u64 metric_beyond;

__noinline int metric_has_room(__u32 series)
{
	__u64 *entered = &metric_entered[series & (SERIES_NUMBERS - 1)];

	if (*entered < metric_reserved) {
		add_atomically(entered, 1);
		return 1;
	}
	if (metric_beyond >= metric_shared)
		return 0;
	add_atomically(&metric_beyond, 1);
	return 1;
}

__noinline int metric_bucket_of(__u64 value)
{
	return metric_bucket(value);
}
