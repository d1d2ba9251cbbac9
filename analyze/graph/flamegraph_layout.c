/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts the tree to boxes in drawing order and merges the lightest ones. */
#include "analyze/graph/flamegraph_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* State of each node during layout; all arrays are indexed by node. */
struct work {
	const struct flamegraph *f;
	uint64_t (*total)[2];
	uint64_t *width; /* total[0] + total[1] */
	uint32_t *depth;
	uint32_t *first; /* kept children: kids[first[n]..first[n + 1]) */
	uint32_t *kids;
	uint32_t *dropped; /* number of children without a box */
	uint32_t max_depth;
	uint64_t least; /* keep: wider, or equal and at most this deep */
	uint32_t deepest;
};

uint64_t flame_kth_largest(const uint64_t *v, size_t n, size_t k)
{
	uint64_t prefix = 0, mask = 0;

	for (int shift = 56; shift >= 0; shift -= 8) {
		size_t bins[256] = {0};
		unsigned d = 255;

		for (size_t i = 0; i < n; i++)
			if ((v[i] & mask) == prefix)
				bins[v[i] >> shift & 255]++;
		while (d && bins[d] < k)
			k -= bins[d--];
		prefix |= (uint64_t)d << shift;
		mask |= UINT64_C(255) << shift;
	}
	return prefix;
}

static void sum_up(struct work *w)
{
	const struct flamegraph *f = w->f;

	for (uint32_t i = 0; i < f->node_cnt; i++) {
		memcpy(w->total[i], f->nodes[i].self, sizeof(w->total[i]));
		w->depth[i] = i ? w->depth[f->nodes[i].parent] + 1 : 0;
		if (w->depth[i] > w->max_depth)
			w->max_depth = w->depth[i];
	}
	for (uint32_t i = f->node_cnt - 1; i > 0; i--) {
		uint64_t *up = w->total[f->nodes[i].parent];

		up[0] += w->total[i][0];
		up[1] += w->total[i][1];
	}
	for (uint32_t i = 0; i < f->node_cnt; i++)
		w->width[i] = w->total[i][0] + w->total[i][1];
}

/* Chooses which nodes to keep. A child is never wider than its parent and always deeper, so the
 * kept nodes form a tree. */
static int choose(struct work *w, size_t max)
{
	uint32_t n = w->f->node_cnt, *at_depth;
	size_t room = max;

	w->least = 1; /* nodes without weight in either capture are not drawn */
	w->deepest = UINT32_MAX;
	if (n <= max)
		return 0;
	w->least = flame_kth_largest(w->width, n, max);
	if (!w->least) {
		w->least = 1;
		return 0;
	}
	at_depth = calloc((size_t)w->max_depth + 1, sizeof(*at_depth));
	if (!at_depth)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		room -= w->width[i] > w->least;
		at_depth[w->depth[i]] += w->width[i] == w->least;
	}
	for (w->deepest = 0; w->deepest < w->max_depth && at_depth[w->deepest] <= room;
	     w->deepest++)
		room -= at_depth[w->deepest];
	/* Nodes of equal width and depth are kept or dropped together. At least the root's row is
	 * kept. */
	w->deepest = w->deepest ? w->deepest - 1 : 0;
	free(at_depth);
	return 0;
}

static bool kept(const struct work *w, uint32_t i)
{
	return !i || w->width[i] > w->least ||
	       (w->width[i] == w->least && w->depth[i] <= w->deepest);
}

static int by_width(const void *a, const void *b, void *ctx)
{
	const struct work *w = ctx;
	const struct flamegraph *f = w->f;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order;

	if (w->width[x] != w->width[y])
		return w->width[x] < w->width[y] ? 1 : -1;
	order = strcmp(intern__get(f->strings, f->funcs[f->nodes[x].func].name).p,
		       intern__get(f->strings, f->funcs[f->nodes[y].func].name).p);
	return order ? order : x < y ? -1 : 1;
}

/* Fills first, kids and dropped: a counting sort by parent, then each node's children by width. */
static void make_families(struct work *w)
{
	const struct flame_node *nodes = w->f->nodes;
	uint32_t n = w->f->node_cnt, sum = 0;

	for (uint32_t i = 1; i < n; i++) {
		if (kept(w, i))
			w->first[nodes[i].parent]++;
		else if (w->width[i])
			w->dropped[nodes[i].parent]++;
	}
	for (uint32_t i = 0; i <= n; i++) {
		sum += w->first[i];
		w->first[i] =
			sum; /* end of the children; filling from the end turns it into the start */
	}
	for (uint32_t i = n - 1; i > 0; i--)
		if (kept(w, i))
			w->kids[--w->first[nodes[i].parent]] = i;
	for (uint32_t i = 0; i < n; i++)
		if (w->first[i + 1] - w->first[i] > 1)
			qsort_r(w->kids + w->first[i], w->first[i + 1] - w->first[i],
				sizeof(*w->kids), by_width, w);
}

/* The box that stands for all dropped children of `node`. */
static struct flame_box small_box(const struct work *w, uint32_t node)
{
	struct flame_box b = {
		.func = FLAME_SMALL, .depth = w->depth[node] + 1, .kids = w->dropped[node]};

	for (int k = 0; k < 2; k++) {
		b.self[k] = w->total[node][k] - w->f->nodes[node].self[k];
		for (uint32_t i = w->first[node]; i < w->first[node + 1]; i++)
			b.self[k] -= w->total[w->kids[i]][k];
		b.total[k] = b.self[k];
	}
	return b;
}

static void emit(struct flame_layout *l, const struct work *w, uint32_t node)
{
	const struct flame_node *n = &w->f->nodes[node];

	l->boxes[l->cnt++] = (struct flame_box){
		.func = n->func,
		.depth = w->depth[node],
		.kids = w->first[node + 1] - w->first[node] + (w->dropped[node] > 0),
		.self = {n->self[0], n->self[1]},
		.total = {w->total[node][0], w->total[node][1]},
	};
}

/* Preorder traversal with a stack of nodes to draw. SMALL_OF marks the box for the dropped children
 * of a node. */
#define SMALL_OF (UINT32_C(1) << 31)
static void walk(struct flame_layout *l, const struct work *w, uint32_t *todo)
{
	size_t todo_cnt = 0;

	todo[todo_cnt++] = 0;
	while (todo_cnt) {
		uint32_t node = todo[--todo_cnt];

		if (node & SMALL_OF) {
			l->boxes[l->cnt++] = small_box(w, node & ~SMALL_OF);
		} else {
			emit(l, w, node);
			if (w->dropped[node])
				todo[todo_cnt++] = node | SMALL_OF;
			for (uint32_t i = w->first[node + 1]; i > w->first[node]; i--)
				todo[todo_cnt++] = w->kids[i - 1];
		}
		if (l->boxes[l->cnt - 1].depth > l->depth)
			l->depth = l->boxes[l->cnt - 1].depth;
	}
}

int flame_layout_make(struct flame_layout *l, const struct flamegraph *f, size_t max_boxes)
{
	size_t n = f->node_cnt, kept_cnt = 0;
	struct work w = {.f = f};
	uint32_t *todo = NULL;
	int err = -ENOMEM;

	*l = (struct flame_layout){0};
	w.total = malloc(n * sizeof(*w.total));
	w.width = malloc(n * sizeof(*w.width));
	w.depth = malloc(n * sizeof(*w.depth));
	w.first = calloc(n + 1, sizeof(*w.first));
	w.dropped = calloc(n, sizeof(*w.dropped));
	if (!w.total || !w.width || !w.depth || !w.first || !w.dropped)
		goto cleanup;
	sum_up(&w);
	err = choose(&w, max_boxes);
	if (err)
		goto cleanup;
	for (uint32_t i = 0; i < n; i++)
		kept_cnt += kept(&w, i);
	err = -ENOMEM;
	w.kids = malloc(kept_cnt * sizeof(*w.kids));
	todo = malloc(2 * kept_cnt * sizeof(*todo));
	l->boxes = malloc(2 * kept_cnt * sizeof(*l->boxes));
	if (!w.kids || !todo || !l->boxes)
		goto cleanup;
	make_families(&w);
	walk(l, &w, todo);
	l->left_out = n - kept_cnt;
	err = 0;
cleanup:
	free(w.total);
	free(w.width);
	free(w.depth);
	free(w.first);
	free(w.dropped);
	free(w.kids);
	free(todo);
	if (err)
		flame_layout_fini(l);
	return err;
}

void flame_layout_fini(struct flame_layout *l)
{
	free(l->boxes);
	*l = (struct flame_layout){0};
}
