/* SPDX-License-Identifier: BSD-2-Clause */
/* Traffic as metrics in the Prometheus text exposition format, version 0.0.4. */
#ifndef ANALYZE_PROMETHEUS_H
#define ANALYZE_PROMETHEUS_H

#include <stdio.h>

#include "analyze/load/analysis.h"

/* Adds the tables it reads. Call before load__run. 0 or -ENOMEM. */
int prometheus_prepare(struct load *l);
int prometheus_write(const struct analysis *a, FILE *out); /* 0 or -EIO, reported */

#endif
