/* SPDX-License-Identifier: BSD-2-Clause */
/* Positions and times at which calls ended in a stream, as seen by both ends of a connection. */
#ifndef ANALYZE_TRAFFIC_CLOCKS_H
#define ANALYZE_TRAFFIC_CLOCKS_H

#include "analyze/traffic/traffic.h"

/* Keeps the marks with the smallest hashes, which are the same at both ends. */
void marks_add(struct marks *m, enum l7_dir dir, struct mark mark);

#endif
