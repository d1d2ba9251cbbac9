/* SPDX-License-Identifier: BSD-2-Clause */
/* The drawing without scripts. */
#ifndef ANALYZE_FLAMEGRAPH_STATIC_H
#define ANALYZE_FLAMEGRAPH_STATIC_H

#include "analyze/graph/flamegraph_drawing.h"

/* Draws the frames that are wide enough to be visible. Returns the height of the rows. `measure`:
 * only returns the height. */
double flame_draw_static(struct flame_drawing *d, double top, bool measure);

#endif
