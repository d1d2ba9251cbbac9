/* SPDX-License-Identifier: BSD-2-Clause */
/* What figures of traffic are worth, and what they are divided by. */
#ifndef ANALYZE_TRAFFIC_NOTE_H
#define ANALYZE_TRAFFIC_NOTE_H

#include <stdio.h>

#include "analysis.h"

/* Lines about sampling and losses, when there were any. */
void traffic_note(const struct analysis *a, FILE *out);

/* How long was looked at: the longest capture, within --from and --to; never 0. */
double traffic_seconds(const struct load *l);
uint64_t traffic_start_ns(const struct captures *c); /* the first start, CLOCK_REALTIME */

#endif
