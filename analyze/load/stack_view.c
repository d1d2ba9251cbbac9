/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/stack_view.h"

#include "analyze/base/index.h"

/* Returns how many outer frames are those of the reading before. */
static long read_all(struct stack_view *v, const struct load *l, uint32_t stack)
{
	const struct location *locations = stacks__locations(l->stacks);
	long kept = stacks__walk(l->stacks, stack, &v->path), same;

	if (kept < 0 || array_reserve(&v->ends, &v->end_cap, v->path.cnt))
		return -ENOMEM;
	same = kept ? v->ends[kept - 1] : 0;
	v->all_cnt = same;
	for (size_t i = kept; i < v->path.cnt; i++) {
		const struct location *loc = &locations[v->path.v[i].location];

		if (array_reserve(&v->all, &v->all_cap, v->all_cnt + loc->frame_cnt))
			return -ENOMEM;
		for (uint32_t f = loc->frame_cnt; f-- > 0;)
			v->all[v->all_cnt++] = loc->first_frame + f;
		v->ends[i] = v->all_cnt;
	}
	return same;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

int stack_view__read(struct stack_view *v, const struct load *l, uint32_t stack)
{
	const struct stack_cut *c = l->cuts ? &l->cuts[stack] : NULL;
	size_t cnt = v->cnt, outer = v->outer;
	long same = read_all(v, l, stack);

	if (same < 0)
		return same;
	v->cnt = v->all_cnt;
	v->outer = 0;
	if (c && !c->drop) { /* no sample has a dropped one, but an event may */
		v->cnt = c->cnt;
		v->outer = v->all_cnt - c->first - c->cnt;
	}
	v->frames = v->all ? v->all + v->outer : NULL;
	v->same = v->outer == outer && (size_t)same > outer ? same - outer : 0;
	v->same = smaller(v->same, smaller(cnt, v->cnt));
	return 0;
}

static uint32_t stack_of(const struct load *l, size_t weight)
{
	return weight < weights__cnt(l->weights) ? weights__get(l->weights, weight)->stack : 0;
}

void stack_view__ahead(const struct load *l, size_t i)
{
	stacks__ahead(l->stacks, stack_of(l, i + 16), stack_of(l, i + 8));
}

void stack_view__fini(struct stack_view *v)
{
	stack_path_fini(&v->path);
	free(v->all);
	free(v->ends);
}

/* By function. Malloc'ed. */
static uint8_t *match_functions(const struct load *l)
{
	size_t cnt = frames__function_cnt(l->frames);
	uint8_t *names = malloc(cnt + 1);

	for (size_t i = 0; names && i < cnt; i++)
		names[i] = sample_filter_name(
			&l->opts.samples,
			strings__get(l->strings, frames__function(l->frames, i)->name));
	return names;
}

int stack_view__cut(struct load *l)
{
	size_t cnt = stacks__cnt(l->stacks), cap = 0;
	struct stack_cut *cuts = calloc(cnt, sizeof(*cuts));
	uint8_t *functions = match_functions(l), *names = NULL;
	struct stack_view v = {0};
	int err = cuts && functions ? 0 : -ENOMEM;

	for (size_t i = 0; i < cnt && !err; i++) {
		err = stack_view__read(&v, l, i);
		if (!err)
			err = array_reserve(&names, &cap, v.cnt + 1);
		for (size_t f = 0; f < v.cnt && !err; f++)
			names[v.cnt - 1 - f] =
				functions[frames__get(l->frames, v.frames[f])->function];
		if (!err)
			cuts[i] = sample_filter_cut(&l->opts.samples, names, v.cnt);
	}
	stack_view__fini(&v);
	free(functions);
	free(names);
	if (err)
		free(cuts);
	else
		l->cuts = cuts;
	return err;
}
