/* SPDX-License-Identifier: BSD-2-Clause */
/* Totals of a flame graph by function, and scaling of one side of a diff. */
#include "analyze/graph/flamegraph_tree.h"

#include <errno.h>
#include <stdlib.h>

uint64_t flamegraph__weight(const struct flamegraph *f, int which)
{
	return f->weight[which];
}

/* The rounding error of each node is carried to the next, so the sum is exact. */
void flamegraph__scale(struct flamegraph *f, int which, uint64_t total)
{
	unsigned __int128 carry = 0;

	if (!f->weight[which])
		return;
	if (total > FLAME_MAX_WEIGHT)
		total = FLAME_MAX_WEIGHT;
	for (uint32_t i = 0; i < f->node_cnt; i++) {
		carry += (unsigned __int128)f->nodes[i].self[which] * total;
		f->nodes[i].self[which] = carry / f->weight[which];
		carry %= f->weight[which];
	}
	f->weight[which] = total;
}

/* Boxes are in preorder: `path` holds the functions from the root to the previous box. */
static void add_up(const struct flamegraph *f, const struct flame_layout *l,
		   struct flame_function *sums, uint32_t *path, uint32_t *on_path)
{
	uint32_t depth = 0;

	for (size_t i = 0; i < l->cnt; i++) {
		const struct flame_box *b = &l->boxes[i];
		struct flame_function *sum = &sums[b->func];

		while (depth > b->depth)
			on_path[path[--depth]]--;
		path[depth++] = b->func;
		for (int k = 0; k < 2; k++) {
			sum->self[k] += b->self[k];
			if (!on_path[b->func])
				sum->total[k] += b->total[k];
		}
		on_path[b->func]++;
	}
}

int flamegraph__functions(const struct flamegraph *f, struct flame_function **list, size_t *cnt)
{
	struct flame_function *sums = calloc(f->func_cnt, sizeof(*sums));
	uint32_t *on_path = calloc(f->func_cnt, sizeof(*on_path)), *path = NULL;
	struct flame_layout l = {0};
	int err = -ENOMEM;

	*list = NULL;
	*cnt = 0;
	if (!sums || !on_path)
		goto cleanup;
	err = flame_layout_make(&l, f, SIZE_MAX);
	if (err)
		goto cleanup;
	path = malloc((l.depth + 1) * sizeof(*path));
	err = path ? 0 : -ENOMEM;
	if (err)
		goto cleanup;
	add_up(f, &l, sums, path, on_path);
	for (uint32_t i = FLAME_FUNCS; i < f->func_cnt; i++) {
		sums[*cnt] = sums[i];
		sums[*cnt].name = intern__get(f->strings, f->funcs[i].name).p;
		sums[*cnt].binary = intern__get(f->strings, f->funcs[i].binary).p;
		sums[*cnt].id = i;
		sums[(*cnt)++].kind = f->funcs[i].kind;
	}
	*list = sums;
	sums = NULL;
cleanup:
	flame_layout_fini(&l);
	free(sums);
	free(on_path);
	free(path);
	return err;
}
