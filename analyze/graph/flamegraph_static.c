/* SPDX-License-Identifier: BSD-2-Clause */
/* The frames as plain SVG elements, for viewers without scripts. */
#include "analyze/graph/flamegraph_static.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/graph/flamegraph_name.h"

/* More elements make the file large without showing more. */
#define STATIC_MAX 6000
/* Narrower boxes are merged with their narrow siblings; a merged box below FAINT is not drawn. */
#define STATIC_LEAST 0.5
#define STATIC_FAINT 0.1

/* Merged frames of at least this width have a dashed outline. */
#define OUTLINED 8

#define TEXT_CHAR 6.63 /* advance of an 11 px monospace character */
#define TEXT_PAD 3

/* A stable hash (FNV-1a), so that a function has the same shade in every graph. */
static unsigned shade(struct span name)
{
	uint32_t h = 2166136261;

	for (size_t i = 0; i < name.len; i++)
		h = (h ^ (unsigned char)name.p[i]) * 16777619;
	return (h ^ h >> 16) & 3;
}

/* CSS class as in flamegraph.js: letter of the kind and shade, or step of change. */
struct flame_class {
	char name[4];
};

/* Change in a diff: 0 (large decrease) to 8 (large increase); 4: about the same. */
static unsigned change_step(uint64_t was, uint64_t is)
{
	static const double steps[] = {0.05, 0.15, 0.35, 0.65};
	double change = (double)is - (double)was, share = change / (was > is ? was : is);
	unsigned n = 0;

	if (was == is)
		return 4;
	while (n < 4 && (share < 0 ? -share : share) >= steps[n])
		n++;
	return share < 0 ? 4 - n : 4 + n;
}

static struct flame_class class_of(const struct flame_drawing *d, const struct flame_box *b,
				   double w)
{
	static const char letters[] = "uikjgn";
	const struct flame_func *fn = &d->f->funcs[b->func];
	struct flame_class c = {.name = {'n', w < OUTLINED ? '0' : '1'}};

	if (b->func == FLAME_SMALL || fn->kind == PROFILE_NOTE)
		return c;
	if (d->style->diff) {
		c.name[0] = 'd';
		c.name[1] = '0' + change_step(b->total[0], b->total[1]);
		return c;
	}
	c.name[0] = letters[fn->kind];
	c.name[1] = '0' + shade(intern__get(d->f->strings, fn->name));
	return c;
}

struct canvas {
	struct flame_drawing *d;
	bool measure;	  /* only determine the deepest row */
	uint32_t deepest; /* deepest row drawn */
	double top, least, scale;
};

static double row_y(const struct canvas *c, uint32_t depth)
{
	uint32_t row = flame_grows_down(c->d) ? depth : c->deepest - depth;

	return c->top + row * (double)FLAME_ROW;
}

static void add_title(const struct canvas *c, const struct flame_box *b, struct span name)
{
	double all = flame_width(&c->d->layout.boxes[0]);

	strbuf_addf(&c->d->out, "<title>");
	flame_add_name(&c->d->out, name, 300);
	strbuf_addf(&c->d->out, " (%.2f%%)</title>", all > 0 ? 100 * flame_width(b) / all : 0);
}

static void draw_frame(const struct canvas *c, const struct flame_box *b, double x, double w)
{
	const struct flame_func *fn = &c->d->f->funcs[b->func];
	struct span name = intern__get(c->d->f->strings, fn->name);
	struct strbuf *out = &c->d->out;
	double y = row_y(c, b->depth);
	size_t room = w > 2 * TEXT_PAD ? (w - 2 * TEXT_PAD) / TEXT_CHAR : 0;
	struct strbuf label = {0};
	char small[40];

	if (b->func == FLAME_SMALL) {
		snprintf(small, sizeof(small), "(%u small frames)", b->kids);
		name = span_of(small);
	}
	if (room < 3) {
		strbuf_addf(
			out,
			"<rect x=\"%.2f\" y=\"%g\" width=\"%.2f\" height=\"16\" class=\"%s\"/>\n",
			x, y, w > 1.5 ? w - 0.5 : w, class_of(c->d, b, w).name);
		return;
	}
	strbuf_addf(out, "<g>");
	add_title(c, b, name);
	strbuf_addf(out, "<rect x=\"%.2f\" y=\"%g\" width=\"%.2f\" height=\"16\" class=\"%s\"/>", x,
		    y, w - 0.5, class_of(c->d, b, w).name);
	strbuf_addf(out, "<text x=\"%.2f\" y=\"%g\"%s>", x + TEXT_PAD, y + 12,
		    fn->kind == PROFILE_INLINED ? " class=\"in\"" : "");
	if (b->func == FLAME_SMALL)
		strbuf_add(&label, name.p, name.len);
	else
		flame_add_label(&label, c->d, b->func);
	flame_add_name(out, (struct span){label.p, label.len}, room);
	strbuf_addf(out, "</text></g>\n");
	out->failed |= label.failed;
	strbuf_fini(&label);
}

/* Draws the siblings that are too narrow as one box, after the wider ones. */
static void draw_narrow(const struct canvas *c, uint32_t depth, double x, double w)
{
	strbuf_addf(&c->d->out,
		    "<rect x=\"%.2f\" y=\"%g\" width=\"%.2f\" height=\"16\" class=\"n0\"/>\n", x,
		    row_y(c, depth), w);
}

/* b NULL: narrow siblings. */
static void draw(struct canvas *c, const struct flame_box *b, uint32_t depth, double x, double w)
{
	if (!b && w < STATIC_FAINT)
		return;
	if (c->measure)
		c->deepest = depth > c->deepest ? depth : c->deepest;
	else if (b)
		draw_frame(c, b, x, w);
	else
		draw_narrow(c, depth, x, w);
}

static double least_width(const struct flame_layout *l, double scale)
{
	uint64_t *widths = l->cnt > STATIC_MAX ? malloc(l->cnt * sizeof(*widths)) : NULL;
	double least = STATIC_LEAST, most;

	if (!widths)
		return least;
	for (size_t i = 0; i < l->cnt; i++)
		widths[i] = flame_width(&l->boxes[i]);
	most = flame_kth_largest(widths, l->cnt, STATIC_MAX) * scale;
	free(widths);
	/* Of many equal boxes, either all or none are drawn. */
	return most > least ? most * 1.0000001 : least;
}

/*
 * Boxes are in preorder, siblings widest first. x[d]: start of the next box at depth d. narrow[d]:
 * start of the narrow siblings at depth d, -1: none. A group of siblings ends at the next box of
 * smaller depth.
 */
static void walk(struct canvas *c, double *x, double *narrow)
{
	const struct flame_layout *l = &c->d->layout;
	uint32_t hidden = UINT32_MAX,
		 open = 0; /* below `hidden` nothing is drawn; `open`: sibling groups */

	x[0] = FLAME_PAD;
	narrow[0] = -1;
	for (size_t i = 0; i <= l->cnt; i++) {
		const struct flame_box *b = i < l->cnt ? &l->boxes[i] : NULL;
		double w = b ? flame_width(b) * c->scale : 0;

		for (; open > (b ? b->depth : 0); open--)
			if (narrow[open] >= 0)
				draw(c, NULL, open, narrow[open], x[open] - narrow[open]);
		if (!b || (hidden != UINT32_MAX && b->depth > hidden))
			continue;
		hidden = UINT32_MAX;
		if (w >= c->least || !b->depth) {
			draw(c, b, b->depth, x[b->depth], w);
			open = b->depth + 1;
			x[open] = x[b->depth];
			narrow[open] = -1;
		} else {
			if (narrow[b->depth] < 0)
				narrow[b->depth] = x[b->depth];
			hidden = b->depth;
		}
		x[b->depth] += w;
	}
}

double flame_draw_static(struct flame_drawing *d, double top, bool measure)
{
	const struct flame_layout *l = &d->layout;
	double all = flame_width(&l->boxes[0]), *x = malloc((l->depth + 2) * sizeof(*x));
	double *narrow = malloc((l->depth + 2) * sizeof(*narrow));
	struct canvas c = {.d = d,
			   .top = top,
			   .measure = true,
			   .scale = all > 0 ? (FLAME_WIDTH - 2 * FLAME_PAD) / all : 0};

	if (x && narrow) {
		c.least = least_width(l, c.scale);
		walk(&c, x, narrow);
		c.measure = measure;
		if (!measure)
			walk(&c, x, narrow);
	} else {
		d->out.failed = 1;
	}
	free(x);
	free(narrow);
	return (c.deepest + 1.0) * FLAME_ROW;
}
