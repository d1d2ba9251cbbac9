/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_RUNQ_H
#define BPF_RUNQ_H

#include "bpf/metric.h"

enum { SERIES_runq_latency = SERIES_OWN };
enum { RUNQ_PART_CGROUP = 2 }; /* key part after the process name */

#endif
