/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#include "bpf/metric.bpf.h"

struct metrics_map metrics SEC(".maps");
struct metric_others_map metric_others SEC(".maps");
__u32 metric_other_at[SERIES_NUMBERS];
__u64 metric_other_cnt;

__noinline int metric_bucket_of(__u64 value)
{
	return metric_bucket(value);
}
