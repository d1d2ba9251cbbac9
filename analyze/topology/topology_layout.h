/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the boxes and lines of a topology's picture are.
 *
 * Layers from left to right: whoever calls stands left of whom it calls; calls that close a circle
 * run back. A line that passes a layer has a place there, so that it runs behind no box. Each line
 * has its own place at the boxes' sides. Services of one region and cluster share a band from left
 * to right, so that boxes around them overlap nothing. (Sugiyama, Tagawa, Toda: "Methods for visual
 * understanding of hierarchical system structures", 1981.)
 */
#ifndef ANALYZE_TOPOLOGY_LAYOUT_H
#define ANALYZE_TOPOLOGY_LAYOUT_H

#include "analyze/topology/topology.h"

enum { LAYOUT_BOX_W = 210, LAYOUT_MARGIN = 52, LAYOUT_HEAD = 84 };
#define LAYOUT_NONE UINT32_MAX

/* A service, or the place where a line passes a layer. */
struct layout_item {
	uint32_t node; /* LAYOUT_NONE: a line's */
	uint32_t layer, band;
	double y, h; /* of its top */
	double want; /* where its middle would like to be */
};

/* A piece of a line between neighbouring layers. */
struct layout_part {
	uint32_t from, to; /* items */
	double y1, y2;
};

/* Of one of the topology's edges. */
struct layout_line {
	size_t edge;
	uint32_t first, cnt; /* parts, from left to right; 0: from a service to itself */
	uint32_t item;	     /* of that service */
	bool back;	     /* it is called from right to left */
};

struct layout_band {
	const char *region, *cluster; /* NULL: none */
	double y, h;		      /* of the boxes */
	double x1, x2;		      /* what they take; x1 > x2: nothing */
};

struct layout {
	const struct topology *t;
	struct layout_item *items; /* services first */
	struct layout_part *parts;
	struct layout_line *lines;
	struct layout_band *bands;
	size_t item_cnt, item_cap, part_cnt, part_cap, line_cnt, line_cap, band_cnt, band_cap;
	uint32_t layers;
	double w, h;
	/* parts by the item they begin and end at: out[out_at[i] .. out_at[i + 1]) */
	uint32_t *out_at, *out, *in_at, *in;
};

int layout__make(struct layout *l, const struct topology *t); /* 0 or -ENOMEM */
void layout__fini(struct layout *l);

double layout_x(const struct layout_item *item); /* its left side */

#endif
