/* SPDX-License-Identifier: BSD-2-Clause */
/* The SVG document while it is written; each part appends to it. */
#ifndef ANALYZE_FLAMEGRAPH_DRAWING_H
#define ANALYZE_FLAMEGRAPH_DRAWING_H

#include "format/text.h"
#include "analyze/graph/flamegraph_tree.h"

struct flame_drawing {
	const struct flamegraph *f;
	const struct flame_style *style;
	struct flame_layout layout;
	struct strbuf out;
};

/* In an inverted graph, depth 0 is at the top. */
static inline bool flame_grows_down(const struct flame_drawing *d)
{
	return d->f->flags & FLAME_INVERTED;
}

enum { FLAME_WIDTH = 1200, FLAME_ROW = 17, FLAME_PAD = 8 };

#endif
