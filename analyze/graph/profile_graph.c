/* SPDX-License-Identifier: BSD-2-Clause */
/* The sinks that output the tree of a flame graph. */
#include "analyze/profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/graph/flamegraph.h"

struct graph {
	struct flamegraph *f;
	char *title, *subtitle, *unit;
	size_t primary;
	bool full_names;
	FILE *out;
};

static void graph_free(struct graph *g)
{
	flamegraph__free(g->f);
	free(g->title);
	free(g->subtitle);
	free(g->unit);
	free(g);
}

static const char *unit_of(const struct profile_type *type)
{
	if (!strcmp(type->unit, "nanoseconds"))
		return "ns";
	return strcmp(type->unit, "count") ? type->unit : "samples";
}

static int begin(void **state, const struct profile_info *info, FILE *out, unsigned flags)
{
	struct graph *g = calloc(1, sizeof(*g));

	*state = NULL;
	if (!g)
		return -ENOMEM;
	g->title = strdup(info->title ? info->title : "");
	g->subtitle = strdup(info->subtitle ? info->subtitle : "");
	g->unit = strdup(unit_of(&info->types[info->primary]));
	g->primary = info->primary;
	g->full_names = info->full_names;
	g->out = out;
	if (!g->title || !g->subtitle || !g->unit || flamegraph__new(&g->f, flags)) {
		graph_free(g);
		return -ENOMEM;
	}
	*state = g;
	return 0;
}

static int add(void *state, const struct profile_stack *stack)
{
	struct graph *g = state;

	return flamegraph__add(g->f, stack, stack->values[g->primary], 0);
}

static int svg_begin(const struct profile_sink *self, void **state, const struct profile_info *info,
		     FILE *out)
{
	return begin(state, info, out, info->inverted ? FLAME_INVERTED : 0);
}

static int write_svg(void *state, bool embedded)
{
	struct graph *g = state;
	struct flame_style style = {
		.title = g->title,
		.subtitle = g->subtitle,
		.unit = g->unit,
		.full_names = g->full_names,
		.embedded = embedded,
	};
	int err = flamegraph__write_svg(g->f, &style, g->out);

	graph_free(g);
	return err;
}

static int svg_end(void *state)
{
	return write_svg(state, false);
}

static int inline_end(void *state)
{
	return write_svg(state, true);
}

static int folded_begin(const struct profile_sink *self, void **state,
			const struct profile_info *info, FILE *out)
{
	return begin(state, info, out, 0);
}

static int folded_end(void *state)
{
	struct graph *g = state;
	int err = flamegraph__write_folded(g->f, g->out);

	graph_free(g);
	return err;
}

const struct profile_sink profile_svg = {
	.name = "svg", .begin = svg_begin, .stack = add, .end = svg_end};
const struct profile_sink profile_svg_inline = {
	.name = "svg", .begin = svg_begin, .stack = add, .end = inline_end};
const struct profile_sink profile_folded = {
	.name = "folded", .begin = folded_begin, .stack = add, .end = folded_end};
