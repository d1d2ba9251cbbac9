/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the endpoints of two captures: call rate and latency. */
#ifndef ANALYZE_DIFF_ENDPOINTS_H
#define ANALYZE_DIFF_ENDPOINTS_H

#include "analyze/load/analysis.h"

/* Adds the tables needed. Call before load__run of either side. 0 or -ENOMEM. */
int diff_endpoints_prepare(struct load *l);

/* Creates the empty view diff_endpoint in `to`. An endpoint's share of time is the summed duration
 * of its calls divided by the time recorded; it exceeds 1 if calls overlap. 0 or -EIO, reported. */
int diff_endpoints_init(struct store *to);

/* Adds one side after it was loaded: 0 old, 1 new. *cnt: number of endpoints. 0 or -EIO,
 * reported. */
int diff_endpoints_add(struct store *to, const struct analysis *a, int which, size_t *cnt);

#endif
