/* SPDX-License-Identifier: BSD-2-Clause */
/* What figures of traffic are worth, and what they are divided by. */
#ifndef ANALYZE_TRAFFIC_NOTE_H
#define ANALYZE_TRAFFIC_NOTE_H

#include <stdio.h>

#include "format/text.h"
#include "analyze/load/analysis.h"

/* Lines about sampling, losses and payload that was not kept, when there were any; needs the tables
 * loss, unkept and scaling. */
void traffic_note(const struct analysis *a, FILE *out);

/* How figures of sampled connections were scaled; false: they were not. */
bool traffic_scaled_text(const struct analysis *a, size_t capture, struct strbuf *b);

/* What was missed because payload was not kept; false: nothing, as far as is known. */
bool traffic_unkept_text(const struct analysis *a, size_t capture, struct strbuf *b);
/* What was not written because no protocol could be named for it. */
bool traffic_unnamed_text(const struct analysis *a, size_t capture, struct strbuf *b);

/* Of figures or edges, the table `from`: a column of text that is there when it has some. */
#define TRAFFIC_UNPAIRED(from)                                                                     \
	"CASE WHEN EXISTS (SELECT 1 FROM " from " WHERE unpaired) THEN 1.0 * unpaired / "          \
	"nullif(calls, 0) END AS \"?unpaired_share\", "

/* How long was looked at: the longest capture, within --from and --to; never 0. */
double traffic_seconds(const struct load *l);
uint64_t traffic_start_ns(const struct captures *c); /* the first start, CLOCK_REALTIME */

#endif
