/* SPDX-License-Identifier: BSD-2-Clause */
/* A step of layout__make: assigns layers to items (only services at this point) and creates the
 * parts of lines. */
#ifndef ANALYZE_TOPOLOGY_LAYERS_H
#define ANALYZE_TOPOLOGY_LAYERS_H

#include "analyze/topology/topology_layout.h"

int layout_find_layers(struct layout *l); /* 0 or -ENOMEM */

#endif
