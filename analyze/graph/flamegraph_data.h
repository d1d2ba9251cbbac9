/* SPDX-License-Identifier: BSD-2-Clause */
/* The data from which the script draws. */
#ifndef ANALYZE_FLAMEGRAPH_DATA_H
#define ANALYZE_FLAMEGRAPH_DATA_H

#include "analyze/graph/flamegraph_drawing.h"

/* Format: see flamegraph_data.c. False: the names exceed the size limit. */
bool flame_add_data(struct flame_drawing *d);

#endif
