/* SPDX-License-Identifier: BSD-2-Clause */
/* A step of layout__make: layers of the items (services only so far), and the lines' parts. */
#ifndef ANALYZE_TOPOLOGY_LAYERS_H
#define ANALYZE_TOPOLOGY_LAYERS_H

#include "analyze/topology/topology_layout.h"

int layout_find_layers(struct layout *l); /* 0 or -ENOMEM */

#endif
