/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of the SVG writer: its parts, each appending to the document. */
#ifndef ANALYZE_FLAMEGRAPH_SVG_H
#define ANALYZE_FLAMEGRAPH_SVG_H

#include "../format/text.h"
#include "flamegraph_tree.h"

struct flame_drawing {
	const struct flamegraph *f;
	const struct flame_style *style;
	struct flame_layout layout;
	struct strbuf out;
};

/* A name for show, escaped, cut to `max` bytes at a character's end with "..." in the rest's place.
 */
void flame_add_name(struct strbuf *b, struct span name, size_t max);

/* The picture that needs no script: frames wide enough to be seen. Returns the height of its rows;
 * `measure`: that alone. */
double flame_draw_static(struct flame_drawing *d, double top, bool measure);

/* What the script draws from: see flamegraph_data.c for the format. False: the names are too many.
 */
bool flame_add_data(struct flame_drawing *d);

/* Of an inverted graph depth 0 is on top. */
static inline bool flame_grows_down(const struct flame_drawing *d)
{
	return d->f->flags & FLAME_INVERTED;
}

enum { FLAME_WIDTH = 1200, FLAME_ROW = 17, FLAME_PAD = 8, FLAME_NAME_MAX = 4096 };

#endif
