/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_BIND_H
#define BPF_BIND_H

#include "bpf/metric.h"

enum { SERIES_bind_failed = SERIES_OWN };

#endif
