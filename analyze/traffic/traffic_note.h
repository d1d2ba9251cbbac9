/* SPDX-License-Identifier: BSD-2-Clause */
/* Notes on the accuracy of traffic statistics, and the duration that rates are based on. */
#ifndef ANALYZE_TRAFFIC_NOTE_H
#define ANALYZE_TRAFFIC_NOTE_H

#include <stdio.h>

#include "format/text.h"
#include "analyze/load/analysis.h"

/* Prints notes about sampling, losses and payload that was not captured, if there were any.
 * Requires the tables loss, unkept, late and scaling. */
void traffic_note(const struct analysis *a, FILE *out);

/* How statistics of sampled connections were scaled. False: they were not scaled. */
bool traffic_scaled_text(const struct analysis *a, size_t capture, struct strbuf *b);

/* What was missed because payload was not captured. False: nothing, as far as known. */
bool traffic_unkept_text(const struct analysis *a, size_t capture, struct strbuf *b);
/* What was not written because its protocol was not recognized. */
bool traffic_unnamed_text(const struct analysis *a, size_t capture, struct strbuf *b);

/* Calls that could not be paired because the capture began while requests were outstanding. */
bool traffic_late_text(const struct analysis *a, size_t capture, struct strbuf *b);

/* Connections that count in another archive of the host. */
bool traffic_twice_text(const struct analysis *a, size_t capture, struct strbuf *b);

/* A column for the table `from` (figures or edges): the share of unpaired calls, shown only if
 * there are any. */
#define TRAFFIC_UNPAIRED(from)                                                                     \
	"CASE WHEN EXISTS (SELECT 1 FROM " from " WHERE unpaired) THEN 1.0 * unpaired / "          \
	"nullif(calls, 0) END AS \"?unpaired_share\", "

/* Duration of the longest capture, within --from and --to; never 0. */
double traffic_seconds(const struct load *l);
uint64_t traffic_start_ns(const struct captures *c); /* first start, CLOCK_REALTIME */

#endif
