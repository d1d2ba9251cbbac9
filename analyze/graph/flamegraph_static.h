/* SPDX-License-Identifier: BSD-2-Clause */
/* The drawing that works without script. */
#ifndef ANALYZE_FLAMEGRAPH_STATIC_H
#define ANALYZE_FLAMEGRAPH_STATIC_H

#include "analyze/graph/flamegraph_drawing.h"

/* Frames wide enough to be seen. Returns the height of its rows; `measure`: that alone. */
double flame_draw_static(struct flame_drawing *d, double top, bool measure);

#endif
