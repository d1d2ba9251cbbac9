/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Layout of a topology's drawing: positions of boxes and lines.
 *
 * Layers run from left to right: a caller is to the left of what it calls; calls that close a cycle
 * run back. A line that crosses a layer has an item of its own there, so that it does not run
 * behind a box. Each line has its own place at the sides of the boxes. Services of one region and
 * cluster share a horizontal band, so that the frames around them do not overlap. (Sugiyama,
 * Tagawa, Toda: "Methods for visual understanding of hierarchical system structures", 1981.)
 */
#ifndef ANALYZE_TOPOLOGY_LAYOUT_H
#define ANALYZE_TOPOLOGY_LAYOUT_H

#include "analyze/topology/topology.h"

enum { LAYOUT_BOX_W = 210, LAYOUT_MARGIN = 52, LAYOUT_HEAD = 84 };
#define LAYOUT_NONE UINT32_MAX

/* A service, or the place where a line crosses a layer. */
struct layout_item {
	uint32_t node; /* LAYOUT_NONE: belongs to a line */
	uint32_t layer, band;
	double y, h; /* y: of its top edge */
	double want; /* preferred position of its center */
};

/* A part of a line between adjacent layers. */
struct layout_part {
	uint32_t from, to; /* item indexes */
	double y1, y2;
};

/* The line of one edge of the topology. */
struct layout_line {
	size_t edge;
	uint32_t first, cnt; /* parts, from left to right; cnt 0: a service calls itself */
	uint32_t item;	     /* of that service */
	bool back;	     /* called from right to left */
};

struct layout_band {
	const char *region, *cluster; /* NULL: none */
	double y, h;		      /* of the boxes */
	double x1, x2;		      /* horizontal extent; x1 > x2: empty */
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
	/* parts by the item they start and end at: out[out_at[i] .. out_at[i + 1]) */
	uint32_t *out_at, *out, *in_at, *in;
};

int layout__make(struct layout *l, const struct topology *t); /* 0 or -ENOMEM */
void layout__fini(struct layout *l);

double layout_x(const struct layout_item *item); /* its left edge */

#endif
