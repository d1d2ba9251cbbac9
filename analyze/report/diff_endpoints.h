/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints of two captures side by side: how often they were called, how long that took. */
#ifndef ANALYZE_DIFF_ENDPOINTS_H
#define ANALYZE_DIFF_ENDPOINTS_H

#include "analyze/load/analysis.h"

/* Before load__run of either side: the tables this needs. 0 or -ENOMEM. */
int diff_endpoints_prepare(struct load *l);

/* Makes the view diff_endpoint in `to`, empty. The share of time an endpoint has is what its calls
 * took together, of all the time that was looked at: beyond 1 they overlap. 0 or a reported -EIO.
 */
int diff_endpoints_init(struct store *to);

/* Adds one side, 0 the old and 1 the new one, once it is loaded. *cnt: how many. 0 or a reported
 * -EIO. */
int diff_endpoints_add(struct store *to, const struct analysis *a, int which, size_t *cnt);

#endif
