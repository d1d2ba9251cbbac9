/* SPDX-License-Identifier: BSD-2-Clause */
/* Where calls ended in a stream, as both ends of a connection saw them. */
#ifndef ANALYZE_TRAFFIC_CLOCKS_H
#define ANALYZE_TRAFFIC_CLOCKS_H

#include "analyze/traffic/traffic.h"

/* Keeps the marks with the smallest hashes, which are the same ones at both ends. */
void marks_add(struct marks *m, enum l7_dir dir, struct mark mark);

#endif
