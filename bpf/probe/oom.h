/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_OOM_H
#define BPF_OOM_H

#include "bpf/metric.h"

enum { SERIES_oom_killed = SERIES_OWN };

/* What ran out, by the kernel's enum oom_constraint: X(number, "text"). */
#define OOM_SCOPES(X) X(0, "host") X(1, "cpuset") X(2, "memory policy") X(3, "cgroup")
enum { OOM_SCOPE_HOST, OOM_SCOPE_CGROUP = 3, OOM_SCOPE_CNT };
#define OOM_SCOPE_LEN 16

#endif
