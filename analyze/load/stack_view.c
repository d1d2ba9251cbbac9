/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/stack_view.h"

#include "analyze/base/index.h"

static int read_all(struct stack_view *v, const struct load *l, uint32_t stack)
{
	const struct location *locations = stacks__locations(l->stacks);
	long cnt = stacks__walk(l->stacks, stack, &v->locations, &v->location_cap);

	v->cnt = 0;
	for (long i = 0; i < cnt; i++) {
		const struct location *loc = &locations[v->locations[i]];

		if (array_reserve(&v->frames, &v->cap, v->cnt + loc->frame_cnt))
			return -ENOMEM;
		for (uint32_t f = 0; f < loc->frame_cnt; f++)
			v->frames[v->cnt++] = loc->first_frame + f;
	}
	return cnt < 0 ? (int)cnt : 0;
}

int stack_view__read(struct stack_view *v, const struct load *l, uint32_t stack)
{
	int err = read_all(v, l, stack);

	v->root_cut = false;
	if (!err && l->cuts) {
		const struct stack_cut *c = &l->cuts[stack];

		if (c->drop)
			return 0; /* no sample has it, but an event may */
		v->root_cut = c->first + c->cnt < v->cnt;
		v->cnt = c->cnt;
		if (c->first)
			memmove(v->frames, v->frames + c->first, c->cnt * sizeof(*v->frames));
	}
	return err;
}

void stack_view__fini(struct stack_view *v)
{
	free(v->frames);
	free(v->locations);
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
		err = read_all(&v, l, i);
		if (!err)
			err = array_reserve(&names, &cap, v.cnt + 1);
		for (size_t f = 0; f < v.cnt && !err; f++)
			names[f] = functions[frames__get(l->frames, v.frames[f])->function];
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
