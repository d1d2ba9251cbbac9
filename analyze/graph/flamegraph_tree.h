/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of flame graphs: the tree while it is built, and the layout for drawing. */
#ifndef ANALYZE_FLAMEGRAPH_TREE_H
#define ANALYZE_FLAMEGRAPH_TREE_H

#include "analyze/graph/flamegraph.h"
#include "analyze/base/index.h"
#include "analyze/base/intern.h"

/*
 * Limit: 4 million nodes take about 250 MB including everything derived from them. Frames beyond it
 * are counted in a FLAME_DEEPER child of the last frame that fits.
 */
#define FLAME_MAX_NODES (4u << 20)
/* Sums of weights stay below this, so that additions do not overflow. */
#define FLAME_MAX_WEIGHT (UINT64_C(1) << 61)

/* A function in a binary, as drawn. Strings are ids in `strings`, 0 is "". */
struct flame_func {
	uint32_t name, binary, file, line;
	enum profile_kind kind;
};

/* Functions present in every graph, by index. */
enum { FLAME_SMALL, FLAME_ALL, FLAME_DEEPER, FLAME_FUNCS };

struct flame_node {
	uint32_t parent; /* always a lower index; the root, node 0, is its own parent */
	uint32_t func;
	uint64_t self[2];
};

struct flamegraph {
	unsigned flags;
	uint64_t seed;
	struct intern *strings;
	struct flame_func *funcs;
	struct index func_index, node_index;
	uint32_t func_cnt, node_cnt;
	size_t func_cap, node_cap;
	struct flame_node *nodes;
	uint32_t node_max; /* FLAME_MAX_NODES */
	uint32_t *path;	   /* nodes of the stack added last, from the root */
	size_t path_cnt, path_cap;
	uint64_t weight[2];
	uint64_t stack_cnt;
	uint64_t cut_cnt; /* truncated stacks */
};

/* One box of the drawing. Boxes are in preorder, siblings heaviest first, the box of small ones
 * last. */
struct flame_box {
	uint32_t func;
	uint32_t depth;
	uint32_t kids; /* FLAME_SMALL: number of siblings merged */
	uint64_t self[2], total[2];
};

struct flame_layout {
	struct flame_box *boxes;
	size_t cnt;
	uint32_t depth;	   /* maximum depth of the boxes */
	uint32_t left_out; /* nodes of the tree without a box of their own */
};

/*
 * Keeps about max_boxes nodes at most, the heaviest (among equals, those nearest to the root). The
 * others are merged into a FLAME_SMALL box beside their kept siblings, so that each level is
 * complete.
 */
int flame_layout_make(struct flame_layout *l, const struct flamegraph *f, size_t max_boxes);
void flame_layout_fini(struct flame_layout *l);

static inline uint64_t flame_width(const struct flame_box *b)
{
	return b->total[0] + b->total[1];
}

/* The k-th largest of v[0..n), 0 < k <= n. */
uint64_t flame_kth_largest(const uint64_t *v, size_t n, size_t k);

#endif
