/* SPDX-License-Identifier: BSD-2-Clause */
/* Names as a drawing shows them. */
#ifndef ANALYZE_FLAMEGRAPH_NAME_H
#define ANALYZE_FLAMEGRAPH_NAME_H

#include "analyze/graph/flamegraph_drawing.h"

enum { FLAME_NAME_MAX = 4096 };

/* A name for show, escaped, cut to `max` bytes at a character's end with "..." in the rest's place.
 */
void flame_add_name(struct strbuf *b, struct span name, size_t max);

/* Appends what a function is called in its box; it is code that a compiler named, or called as it
 * is. */
void flame_add_label(struct strbuf *b, const struct flame_drawing *d, uint32_t func);

#endif
