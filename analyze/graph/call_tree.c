/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sink that writes stacks as an indented tree of calls. A frame that takes nearly all of its
 * caller's weight is not indented further, so that deep stacks stay narrow:
 *
 *   TOTAL %   SELF %   TOTAL  FUNCTION
 *   100.00%    0.00%  1.20 s  main
 *   100.00%    0.00%  1.20 s  serve
 *    70.00%   10.00%  840 ms    parse
 *    30.00%   30.00%  360 ms    write
 */
#include "analyze/profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/name_short.h"
#include "analyze/graph/flamegraph_tree.h"
#include "format/text.h"

enum { TREE_FRAMES = 60, CHAIN_SHARE = 98 };

struct tree {
	struct flamegraph *f;
	char *unit;
	size_t primary;
	bool full_names;
	FILE *out;
};

static void tree_free(struct tree *t)
{
	flamegraph__free(t->f);
	free(t->unit);
	free(t);
}

static int tree_begin(const struct profile_sink *self, void **state,
		      const struct profile_info *info, FILE *out)
{
	struct tree *t = calloc(1, sizeof(*t));

	*state = NULL;
	if (!t)
		return -ENOMEM;
	t->unit = strdup(info->types[info->primary].unit);
	t->primary = info->primary;
	t->full_names = info->full_names;
	t->out = out;
	if (!t->unit || flamegraph__new(&t->f, info->inverted ? FLAME_INVERTED : 0)) {
		tree_free(t);
		return -ENOMEM;
	}
	*state = t;
	return 0;
}

static int tree_stack(void *state, const struct profile_stack *stack)
{
	struct tree *t = state;

	return flamegraph__add(t->f, stack, stack->values[t->primary], 0);
}

static const char *value_text(const struct tree *t, char buf[24], uint64_t value)
{
	if (!strcmp(t->unit, "nanoseconds"))
		return format_duration(buf, value);
	return !strcmp(t->unit, "bytes") ? format_bytes(buf, value) : format_count(buf, value);
}

static void put_box(const struct tree *t, const struct flame_box *b, int indent)
{
	const struct flame_func *fn = &t->f->funcs[b->func];
	struct span name = intern__get(t->f->strings, fn->name);
	struct strbuf label = {0}, text = {0};
	double all = flamegraph__weight(t->f, 0);
	char buf[24];

	if (b->func == FLAME_SMALL)
		strbuf_addf(&label, "(%u more)", b->kids);
	else if (!t->full_names && fn->kind <= PROFILE_INLINED)
		name_short(&label, name);
	else
		strbuf_add(&label, name.p, name.len);
	strbuf_escape(&text, ESCAPE_TERMINAL, (struct span){label.p, label.len});
	fprintf(t->out, "%6.2f%%  %6.2f%%  %7s  %*s%s\n", b->total[0] / all * 100,
		b->self[0] / all * 100, value_text(t, buf, b->total[0]), indent, "",
		text.p ? text.p : "");
	strbuf_fini(&label);
	strbuf_fini(&text);
}

/* indents: by depth. The root box is every stack and not written. */
static void put_boxes(const struct tree *t, const struct flame_layout *l, int *indents)
{
	const struct flame_box **above = calloc(l->depth + 1, sizeof(*above));

	if (!above)
		return;
	fprintf(t->out, "TOTAL %%   SELF %%    TOTAL  FUNCTION\n");
	for (size_t i = 0; i < l->cnt; i++) {
		const struct flame_box *b = &l->boxes[i], *up;

		above[b->depth] = b;
		if (!b->depth)
			continue;
		up = above[b->depth - 1];
		indents[b->depth] = b->depth == 1 ? 0
				    : (unsigned __int128)b->total[0] * 100 >=
						    (unsigned __int128)up->total[0] * CHAIN_SHARE
					    ? indents[b->depth - 1]
					    : indents[b->depth - 1] + 2;
		put_box(t, b, indents[b->depth]);
	}
	free(above);
}

static int tree_end(void *state)
{
	struct tree *t = state;
	struct flame_layout l = {0};
	int *indents = NULL, err = flame_layout_make(&l, t->f, TREE_FRAMES);

	if (!err)
		indents = calloc(l.depth + 1, sizeof(*indents));
	if (!err && !indents)
		err = -ENOMEM;
	if (!err && flamegraph__weight(t->f, 0))
		put_boxes(t, &l, indents);
	if (!err && (fflush(t->out) || ferror(t->out)))
		err = errno ? -errno : -EIO;
	free(indents);
	flame_layout_fini(&l);
	tree_free(t);
	return err;
}

const struct profile_sink profile_tree = {
	.name = "tree", .begin = tree_begin, .stack = tree_stack, .end = tree_end};
