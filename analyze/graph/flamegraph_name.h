/* SPDX-License-Identifier: BSD-2-Clause */
/* Names as shown in drawings. */
#ifndef ANALYZE_FLAMEGRAPH_NAME_H
#define ANALYZE_FLAMEGRAPH_NAME_H

#include "analyze/graph/flamegraph_drawing.h"

enum { FLAME_NAME_MAX = 4096 };

/* Appends an escaped name, truncated to `max` bytes at a character boundary and then ending in
 * "...". */
void flame_add_name(struct strbuf *b, struct span name, size_t max);

/* Appends the label of a function's box: the short name for compiled code, otherwise the name. */
void flame_add_label(struct strbuf *b, const struct flame_drawing *d, uint32_t func);

#endif
