/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_CAP_H
#define BPF_CAP_H

#include "bpf/metric.h"

enum { SERIES_cap_checks = SERIES_OWN };
/* Key parts after the process name. */
enum { CAP_PART_NUMBER = 2, CAP_PART_DENIED };

#endif
