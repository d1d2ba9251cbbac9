/* SPDX-License-Identifier: BSD-2-Clause */
/* The tree of a flame graph while stacks are added. */
#include "analyze/graph/flamegraph_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "analyze/base/index.h"

static uint64_t func_hash(const struct flamegraph *f, const struct profile_frame *frame)
{
	uint64_t h = intern_hash(span_of(frame->name), f->seed + frame->kind);

	return frame->binary ? intern_hash(span_of(frame->binary), h) : h;
}

static bool same(const struct flamegraph *f, uint32_t id, const char *s)
{
	return !strcmp(intern__get(f->strings, id).p, s ? s : "");
}

static bool func_equal(const void *owner, uint32_t i, const void *key)
{
	const struct flamegraph *f = owner;
	const struct profile_frame *frame = key;
	const struct flame_func *fn = &f->funcs[i];

	return fn->kind == frame->kind && same(f, fn->name, frame->name) &&
	       same(f, fn->binary, frame->binary);
}

/* Index of the function, adding it if new. UINT32_MAX: out of memory. */
static uint32_t find_func(struct flamegraph *f, const struct profile_frame *frame)
{
	uint64_t hash = func_hash(f, frame);
	struct flame_func *fn;
	uint32_t i;

	if (index_find(&f->func_index, func_equal, f, hash, frame, &i)) {
		if (f->funcs[i].line != frame->line)
			f->funcs[i].line = 0; /* several lines: only the file is common */
		return i;
	}
	if (array_reserve(&f->funcs, &f->func_cap, f->func_cnt + 1))
		return UINT32_MAX;
	fn = &f->funcs[f->func_cnt];
	*fn = (struct flame_func){
		.name = intern__add(f->strings, span_of(frame->name)),
		.binary = intern__add(f->strings, span_of(frame->binary)),
		.file = intern__add(f->strings, span_of(frame->file)),
		.line = frame->line,
		.kind = frame->kind,
	};
	if (fn->name == INTERN_FAILED || fn->binary == INTERN_FAILED || fn->file == INTERN_FAILED)
		return UINT32_MAX;
	if (index_add(&f->func_index, hash, f->func_cnt))
		return UINT32_MAX;
	return f->func_cnt++;
}

static bool node_equal(const void *owner, uint32_t i, const void *key)
{
	const struct flame_node *n = &((const struct flamegraph *)owner)->nodes[i], *k = key;

	return n->parent == k->parent && n->func == k->func;
}

/* Finds or adds the child of `parent` for a function. 1: found or added, 0: limit reached, or
 * -ENOMEM. */
static int find_child(struct flamegraph *f, uint32_t parent, uint32_t func, uint32_t max,
		      uint32_t *child)
{
	struct flame_node key = {.parent = parent, .func = func};
	uint64_t hash = hash_mix(f->seed ^ ((uint64_t)parent << 32 | func));

	if (index_find(&f->node_index, node_equal, f, hash, &key, child))
		return 1;
	if (f->node_cnt >= max)
		return 0;
	if (array_reserve(&f->nodes, &f->node_cap, f->node_cnt + 1))
		return -ENOMEM;
	f->nodes[f->node_cnt] = key;
	if (index_add(&f->node_index, hash, f->node_cnt))
		return -ENOMEM;
	*child = f->node_cnt++;
	return 1;
}

int flamegraph__new(struct flamegraph **out, unsigned flags)
{
	static const char *const names[FLAME_FUNCS] = {
		[FLAME_SMALL] = "(small frames)",
		[FLAME_ALL] = "all",
		[FLAME_DEEPER] = "[deeper frames: too many, omitted]",
	};
	struct flamegraph *f = calloc(1, sizeof(*f));
	int err = f ? intern__new(&f->strings) : -ENOMEM;

	*out = NULL;
	if (err)
		goto fail;
	f->flags = flags;
	f->node_max = FLAME_MAX_NODES;
	f->seed = intern_seed();
	err = intern__add(f->strings, span_of("")) == INTERN_FAILED ? -ENOMEM : 0;
	for (uint32_t i = 0; !err && i < FLAME_FUNCS; i++) {
		/* No binary is named "\n", so no frame of a capture can be mistaken for these. */
		struct profile_frame frame = {
			.name = names[i], .binary = "\n", .kind = PROFILE_NOTE};

		if (find_func(f, &frame) != i)
			err = -ENOMEM;
		else
			f->funcs[i].binary = 0;
	}
	if (!err)
		f->funcs[FLAME_ALL].kind = PROFILE_GROUP;
	if (!err)
		err = array_reserve(&f->nodes, &f->node_cap, 1);
	if (err)
		goto fail;
	f->nodes[0] = (struct flame_node){.func = FLAME_ALL};
	f->node_cnt = 1;
	*out = f;
	return 0;
fail:
	flamegraph__free(f);
	return err;
}

void flamegraph__free(struct flamegraph *f)
{
	if (!f)
		return;
	intern__free(f->strings);
	free(f->funcs);
	index_fini(&f->func_index);
	free(f->nodes);
	index_fini(&f->node_index);
	free(f->path);
	free(f);
}

static size_t leading_groups(const struct profile_frame *frames, size_t cnt)
{
	size_t n = 0;

	while (n < cnt && frames[n].kind == PROFILE_GROUP)
		n++;
	return n;
}

/* Sums saturate at the limit (73 years of nanoseconds) instead of overflowing. */
static void add_weight(struct flamegraph *f, uint32_t node, int which, uint64_t weight)
{
	if (weight > FLAME_MAX_WEIGHT - f->weight[which])
		weight = FLAME_MAX_WEIGHT - f->weight[which];
	f->weight[which] += weight;
	f->nodes[node].self[which] += weight;
}

/* The node of the frames that the path of the stack before has in common. */
static uint32_t common_node(struct flamegraph *f, const struct profile_stack *stack)
{
	size_t same = f->flags & FLAME_INVERTED ? 0 : stack->same;

	if (f->path_cnt > same)
		f->path_cnt = same;
	return f->path_cnt ? f->path[f->path_cnt - 1] : 0;
}

int flamegraph__add(struct flamegraph *f, const struct profile_stack *stack, uint64_t weight,
		    uint64_t weight2)
{
	size_t cnt = stack->cnt, groups = leading_groups(stack->frames, cnt);
	uint32_t node = common_node(f, stack), func;

	if (array_reserve(&f->path, &f->path_cap, cnt))
		return -ENOMEM;
	for (size_t i = f->path_cnt; i < cnt; i++) {
		bool turn = f->flags & FLAME_INVERTED && i >= groups;
		int found;

		func = find_func(f, &stack->frames[turn ? cnt - 1 - (i - groups) : i]);
		if (func == UINT32_MAX)
			return -ENOMEM;
		found = find_child(f, node, func, f->node_max, &node);
		if (found < 0)
			return found;
		if (!found) {
			/* These nodes may exceed the limit by an eighth. Beyond that, the weight is
			 * added to the caller's self. */
			if (find_child(f, node, FLAME_DEEPER, f->node_max / 8 * 9, &node) < 0)
				return -ENOMEM;
			f->cut_cnt++;
			break;
		}
		f->path[f->path_cnt++] = node;
	}
	f->stack_cnt++;
	add_weight(f, node, 0, weight);
	add_weight(f, node, 1, weight2);
	return 0;
}
