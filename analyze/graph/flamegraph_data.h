/* SPDX-License-Identifier: BSD-2-Clause */
/* What the script draws from. */
#ifndef ANALYZE_FLAMEGRAPH_DATA_H
#define ANALYZE_FLAMEGRAPH_DATA_H

#include "analyze/graph/flamegraph_drawing.h"

/* See flamegraph_data.c for the format. False: the names are too many. */
bool flame_add_data(struct flame_drawing *d);

#endif
