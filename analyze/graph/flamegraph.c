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

static uint32_t node_hash(const struct flamegraph *f, uint32_t parent, uint32_t func)
{
	uint64_t h = ((uint64_t)parent << 32 | func) ^ f->seed;

	h = (h ^ h >> 32) * 0xd6e8feb86659fd93;
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93;
	return h ^ h >> 32;
}

/* Doubles an array, and clears and doubles its hash table. */
static int grow(void **items, size_t item_sz, uint32_t *cap, uint32_t **slots)
{
	uint32_t more = *cap ? *cap * 2 : 1024, *new_slots;
	void *p;

	if (more > UINT32_MAX / 4)
		return -ENOMEM;
	new_slots = calloc((size_t)more * 2, sizeof(*new_slots));
	p = new_slots ? realloc(*items, more * item_sz) : NULL;
	if (!p) {
		free(new_slots);
		return -ENOMEM;
	}
	*items = p;
	*cap = more;
	free(*slots);
	*slots = new_slots;
	return 0;
}

static int grow_funcs(struct flamegraph *f)
{
	int err = grow((void **)&f->funcs, sizeof(*f->funcs), &f->func_cap, &f->func_slots);
	uint32_t mask = f->func_cap * 2 - 1;

	for (uint32_t i = 0; !err && i < f->func_cnt; i++) {
		uint32_t at = f->funcs[i].hash & mask;

		while (f->func_slots[at])
			at = (at + 1) & mask;
		f->func_slots[at] = i + 1;
	}
	return err;
}

static int grow_nodes(struct flamegraph *f)
{
	int err = grow((void **)&f->nodes, sizeof(*f->nodes), &f->node_cap, &f->node_slots);
	uint32_t mask = f->node_cap * 2 - 1;

	for (uint32_t i = 0; !err && i < f->node_cnt; i++) {
		uint32_t at = node_hash(f, f->nodes[i].parent, f->nodes[i].func) & mask;

		while (f->node_slots[at])
			at = (at + 1) & mask;
		f->node_slots[at] = i + 1;
	}
	return err;
}

static bool same(const struct flamegraph *f, uint32_t id, const char *s)
{
	return !strcmp(intern__get(f->strings, id).p, s ? s : "");
}

/* Index of the function, adding it if new. UINT32_MAX: out of memory. */
static uint32_t find_func(struct flamegraph *f, const struct profile_frame *frame)
{
	uint64_t hash = func_hash(f, frame);
	struct flame_func *fn;
	uint32_t at, mask;

	if (f->func_cnt == f->func_cap && grow_funcs(f))
		return UINT32_MAX;
	mask = f->func_cap * 2 - 1;
	for (at = hash & mask; f->func_slots[at]; at = (at + 1) & mask) {
		fn = &f->funcs[f->func_slots[at] - 1];
		if (fn->hash != hash || fn->kind != frame->kind ||
		    !same(f, fn->name, frame->name) || !same(f, fn->binary, frame->binary))
			continue;
		if (fn->line != frame->line)
			fn->line = 0; /* several lines: only the file is common */
		return fn - f->funcs;
	}
	fn = &f->funcs[f->func_cnt];
	*fn = (struct flame_func){
		.name = intern__add(f->strings, span_of(frame->name)),
		.binary = intern__add(f->strings, span_of(frame->binary)),
		.file = intern__add(f->strings, span_of(frame->file)),
		.line = frame->line,
		.kind = frame->kind,
		.hash = hash,
	};
	if (fn->name == INTERN_FAILED || fn->binary == INTERN_FAILED || fn->file == INTERN_FAILED)
		return UINT32_MAX;
	f->func_slots[at] = ++f->func_cnt;
	return f->func_cnt - 1;
}

/* Finds or adds the child of `parent` for a function. 1: found or added, 0: limit reached, or
 * -ENOMEM. */
static int find_child(struct flamegraph *f, uint32_t parent, uint32_t func, uint32_t max,
		      uint32_t *child)
{
	uint32_t at, mask;

	if (f->node_cnt == f->node_cap && grow_nodes(f))
		return -ENOMEM;
	mask = f->node_cap * 2 - 1;
	for (at = node_hash(f, parent, func) & mask; f->node_slots[at]; at = (at + 1) & mask) {
		const struct flame_node *n = &f->nodes[f->node_slots[at] - 1];

		if (n->parent == parent && n->func == func) {
			*child = n - f->nodes;
			return 1;
		}
	}
	if (f->node_cnt >= max)
		return 0;
	f->nodes[f->node_cnt] = (struct flame_node){.parent = parent, .func = func};
	f->node_slots[at] = ++f->node_cnt;
	*child = f->node_cnt - 1;
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
		err = grow_nodes(f);
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
	free(f->func_slots);
	free(f->nodes);
	free(f->node_slots);
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
