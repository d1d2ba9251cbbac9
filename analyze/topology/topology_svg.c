/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a topology as a single SVG, without scripts or external resources. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "analyze/topology/topology_layout.h"
#include "analyze/topology/topology_style.h"

enum { MAX_NAME = 28, LABEL_H = 12, ARROW = 9, MAX_LABELS = 1000 };
#define LABEL_CHAR 5.9 /* width of a character in a label */

struct rect {
	double x, y, w, h;
};

struct drawing {
	struct layout l;
	FILE *out;
	struct rect *taken; /* by boxes and labels */
	size_t taken_cnt, taken_cap;
	unsigned labels, hidden; /* lines with a label; lines whose label did not fit */
};

static size_t letters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

static void put_text(FILE *out, double x, double y, const char *cls, const char *text, size_t max)
{
	struct strbuf b = {0}, cut = {0};
	size_t len = 0, chars = 0;

	while (text[len] && (chars < max || (text[len] & 0xc0) == 0x80))
		chars += (text[len++] & 0xc0) != 0x80;
	strbuf_add(&cut, text, len);
	if (text[len])
		strbuf_addf(&cut, "…");
	strbuf_escape(&b, ESCAPE_XML, (struct span){cut.p, cut.len});
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">%s</text>\n", x, y, cls,
		b.p ? b.p : "");
	strbuf_fini(&b);
	strbuf_fini(&cut);
}

static void put_title(FILE *out, const char *text)
{
	struct strbuf b = {0};

	strbuf_escape(&b, ESCAPE_XML, span_of(text));
	fprintf(out, "<title>%s</title>", b.p ? b.p : "");
	strbuf_fini(&b);
}

/* ---- occupied areas ---- */

static void take(struct drawing *d, struct rect r)
{
	if (!array_reserve(&d->taken, &d->taken_cap, d->taken_cnt + 1))
		d->taken[d->taken_cnt++] = r;
}

static bool is_free(const struct drawing *d, struct rect r)
{
	for (size_t i = 0; i < d->taken_cnt; i++) {
		const struct rect *t = &d->taken[i];

		if (r.x < t->x + t->w && t->x < r.x + r.w && r.y < t->y + t->h && t->y < r.y + r.h)
			return false;
	}
	return true;
}

/* Covers what is drawn below a text, so that no line runs through it. */
static void put_cover(const struct drawing *d, struct rect r)
{
	fprintf(d->out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"cover\"/>\n",
		r.x, r.y, r.w, r.h);
}

/* ---- boxes ---- */

static void put_node(struct drawing *d, const struct layout_item *item)
{
	const struct topology *t = d->l.t;
	const struct topology_node *n = &t->nodes[item->node];
	char what[96], in[24], to[24];
	const char *level = error_level(n->errors_in, n->calls_in);
	double x = layout_x(item), y = item->y + item->h / 2;

	fprintf(d->out, "<g>");
	put_title(d->out, n->name);
	fprintf(d->out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" rx=\"6\" "
		"class=\"%s%s%s\"/>\n",
		x, item->y, LAYOUT_BOX_W, item->h, n->calls_in ? "serves" : "calls",
		level ? " " : "", level ? level : "");
	put_text(d->out, x + 10, y - 4, "name", n->name, MAX_NAME);
	snprintf(what, sizeof(what), "in %s/s, out %s/s",
		 topology_rate(in, n->calls_in / t->seconds),
		 topology_rate(to, n->calls_out / t->seconds));
	put_text(d->out, x + 10, y + 12, "rates", what, sizeof(what));
	fprintf(d->out, "</g>\n");
}

struct box {
	double x1, y1, x2, y2;
	const char *name;
};

static void put_frame(struct drawing *d, const struct box *b)
{
	fprintf(d->out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"10\" "
		"class=\"place\"/>\n",
		b->x1, b->y1, b->x2 - b->x1, b->y2 - b->y1);
}

static void put_frame_name(struct drawing *d, const struct box *b)
{
	struct rect r = {b->x1 + 8, b->y1 + 4, letters(b->name) * 7.5, 16};

	put_cover(d, r);
	put_text(d->out, b->x1 + 10, b->y1 + 16, "place", b->name, 60);
	take(d, r);
}

/* Calls put for the frames around the services of each cluster, and around the clusters of each
 * region. */
static void each_place(struct drawing *d, void (*put)(struct drawing *d, const struct box *b))
{
	const struct layout *l = &d->l;

	for (size_t i = 0, n; i < l->band_cnt; i += n) {
		const struct layout_band *first = &l->bands[i], *last = first;
		double x1 = first->x1, x2 = first->x2;

		for (n = 1; i + n < l->band_cnt && first->region && l->bands[i + n].region &&
			    !strcmp(l->bands[i + n].region, first->region);
		     n++) {
			last = &l->bands[i + n];
			x1 = last->x1 < x1 ? last->x1 : x1;
			x2 = last->x2 > x2 ? last->x2 : x2;
		}
		if (first->region)
			put(d, &(struct box){x1 - 28, first->y - 24 - (first->cluster ? 26 : 0),
					     x2 + 28, last->y + last->h + (last->cluster ? 30 : 14),
					     first->region});
		for (const struct layout_band *b = first; b <= last; b++)
			if (b->cluster)
				put(d, &(struct box){b->x1 - 14, b->y - 24, b->x2 + 14,
						     b->y + b->h + 14, b->cluster});
	}
}

/* ---- lines ---- */

struct ends {
	double x1, y1, x2, y2;
};

static struct ends ends_of(const struct layout *l, const struct layout_part *p)
{
	return (struct ends){layout_x(&l->items[p->from]) + LAYOUT_BOX_W, p->y1,
			     layout_x(&l->items[p->to]), p->y2};
}

/* In the direction of the call. */
static void put_path(struct drawing *d, const struct layout_line *line, const char *attributes)
{
	const struct layout *l = &d->l;

	fprintf(d->out, "<path d=\"");
	for (uint32_t i = 0; i < line->cnt; i++) {
		struct ends e =
			ends_of(l, &l->parts[line->first + (line->back ? line->cnt - 1 - i : i)]);
		double bend = (e.x2 - e.x1) / 2;

		if (line->back)
			e = (struct ends){e.x2, e.y2, e.x1, e.y1};
		if (line->back)
			bend = -bend;
		fprintf(d->out, "%c%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", i ? 'L' : 'M', e.x1,
			e.y1, e.x1 + bend, e.y1, e.x2 - bend, e.y2, e.x2, e.y2);
	}
	fprintf(d->out, "\" %s/>\n", attributes);
}

static void put_loop(struct drawing *d, const struct layout_item *item, const char *attributes)
{
	double x = layout_x(item) + LAYOUT_BOX_W, y = item->y;

	fprintf(d->out, "<path d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\" %s/>\n", x - 44, y,
		x - 44, y - 22, x - 14, y - 22, x - 14, y, attributes);
}

/* y on a curve whose ends are horizontal. */
static double curve_y(const struct ends *e, double t)
{
	double s = 1 - t;

	return e->y1 * (s * s * s + 3 * s * s * t) + e->y2 * (t * t * t + 3 * s * t * t);
}

static double curve_x(const struct ends *e, double t)
{
	double s = 1 - t, middle = (e->x1 + e->x2) / 2;

	return e->x1 * s * s * s + 3 * middle * s * t + e->x2 * t * t * t;
}

/* y of the curve at x. The curve runs from left to right, and either up or down. */
static double curve_at(const struct ends *e, double x)
{
	double low = 0, high = 1;

	for (int i = 0; i < 20; i++) {
		double t = (low + high) / 2;

		if (curve_x(e, t) < x)
			low = t;
		else
			high = t;
	}
	return curve_y(e, low);
}

static bool meets(const struct ends *e, const struct rect *r)
{
	double left = fmax(r->x, e->x1), right = fmin(r->x + r->w, e->x2), a, b;

	if (left >= right || fmax(e->y1, e->y2) < r->y || fmin(e->y1, e->y2) > r->y + r->h)
		return false;
	a = curve_at(e, left);
	b = curve_at(e, right);
	return fmax(a, b) > r->y && fmin(a, b) < r->y + r->h;
}

static bool is_crossed(const struct drawing *d, const struct rect *r)
{
	const struct layout *l = &d->l;

	for (size_t i = 0; i < l->line_cnt; i++)
		for (uint32_t k = 0; k < l->lines[i].cnt; k++) {
			const struct layout_part *p = &l->parts[l->lines[i].first + k];
			struct ends e = ends_of(l, p), joint = e;

			/* between the part before and this one, where a box would be */
			joint.x1 = k ? e.x1 - LAYOUT_BOX_W : e.x1;
			joint.y1 = k ? p[-1].y2 : e.y1;
			joint.x2 = e.x1;
			joint.y2 = e.y1;
			if (meets(&e, r) || meets(&joint, r))
				return true;
		}
	return false;
}

/* clear: only where no line runs. */
static bool put_label_at(struct drawing *d, double x, double y, const char *text, bool clear)
{
	const struct rect r = {x, y - 10, letters(text) * LABEL_CHAR, LABEL_H};
	bool crossed;

	if (!is_free(d, r))
		return false;
	crossed = is_crossed(d, &r);
	if (crossed && clear)
		return false;
	take(d, r);
	if (crossed)
		put_cover(d, r);
	put_text(d->out, x, y, "label", text, SIZE_MAX);
	return true;
}

/* Above or below a point of a line, which is at the side `align` of the text: 0 left, 1 right. */
static bool put_label_beside(struct drawing *d, double x, double y, double align, const char *text,
			     bool clear)
{
	x -= letters(text) * LABEL_CHAR * align;
	return put_label_at(d, x, y - 4, text, clear) || put_label_at(d, x, y + 12, text, clear);
}

/* At the end with fewer lines, where there is more room; else along the first and the last part. */
static bool put_label_along(struct drawing *d, const struct layout_line *line, const char *text,
			    bool clear)
{
	static const double along[] = {.5, .35, .65, .22, .78};
	const struct layout *l = &d->l;
	const struct layout_part *first = &l->parts[line->first], *last = first + line->cnt - 1;
	struct ends a = ends_of(l, first), b = ends_of(l, last);
	bool left_first = l->out_at[first->from + 1] - l->out_at[first->from] <=
			  l->in_at[last->to + 1] - l->in_at[last->to];

	for (int i = 0; i < 2; i++) {
		bool left = left_first == !i;

		if (put_label_beside(d, left ? a.x1 + ARROW + 3 : b.x2 - ARROW - 3,
				     left ? a.y1 : b.y2, left ? 0 : 1, text, clear))
			return true;
	}
	for (size_t i = 0; i < 2 * sizeof(along) / sizeof(*along); i++) {
		const struct ends *e = i & 1 ? &b : &a;
		double t = along[i / 2];

		if (put_label_beside(d, e->x1 + (e->x2 - e->x1) * t, curve_y(e, t), .5, text,
				     clear))
			return true;
	}
	return false;
}

/* Prefers places where no line runs; else the lines below the label are covered. */
static bool put_label(struct drawing *d, const struct layout_line *line, const char *text)
{
	const struct layout_item *item = &d->l.items[line->item];

	if (!line->cnt)
		return put_label_at(d, layout_x(item) + LAYOUT_BOX_W - 8, item->y - 14, text,
				    false);
	return put_label_along(d, line, text, true) || put_label_along(d, line, text, false);
}

static void put_line(struct drawing *d, const struct layout_line *line)
{
	const struct topology *t = d->l.t;
	const struct topology_edge *e = &t->edges[line->edge];
	const char *level = error_level(e->errors, e->calls);
	struct strbuf label = {0}, title = {0};
	char attributes[128];

	topology_label(&label, t, e);
	strbuf_addf(&title, "%s → %s: %s", t->nodes[e->client].name, t->nodes[e->server].name,
		    label.p ? label.p : "");
	snprintf(attributes, sizeof(attributes),
		 "class=\"edge%s%s\" stroke-width=\"%.1f\" marker-end=\"url(#%s)\"",
		 level ? " " : "", level ? level : "", 1 + log10(1 + e->calls / t->seconds) * 0.6,
		 level ? level : "to");
	fprintf(d->out, "<g>");
	put_title(d->out, title.p ? title.p : "");
	if (line->cnt)
		put_path(d, line, attributes);
	else
		put_loop(d, &d->l.items[line->item], attributes);
	fprintf(d->out, "</g>\n");
	strbuf_fini(&label);
	strbuf_fini(&title);
}

/* Lines with the most calls first; drawn above all lines. */
static void put_labels(struct drawing *d)
{
	for (size_t i = 0; i < d->l.line_cnt; i++) {
		const struct layout_line *line = &d->l.lines[i];
		struct strbuf label = {0};

		topology_label(&label, d->l.t, &d->l.t->edges[line->edge]);
		if (i < MAX_LABELS && put_label(d, line, label.p ? label.p : ""))
			d->labels++;
		else
			d->hidden++;
		strbuf_fini(&label);
	}
}

/* ---- the page ---- */

static void put_key(struct drawing *d, double x, const char *cls, const char *text)
{
	fprintf(d->out,
		"<rect x=\"%.1f\" y=\"53\" width=\"14\" height=\"10\" rx=\"2\" class=\"%s\"/>\n", x,
		cls);
	put_text(d->out, x + 20, 62, "dim", text, 40);
}

/* Explains the colours, and counts labels that did not fit. */
static void put_legend(struct drawing *d)
{
	double x = LAYOUT_MARGIN - 28;
	char text[96];

	put_key(d, x, "calls", "only calls");
	put_key(d, x += 90, "serves", "serves");
	x += 74;
	for (const struct error_level *l = error_levels; l->cls; l++) {
		snprintf(text, sizeof(text), "serves %s", l->cls);
		put_key(d, x, text, l->text);
		x += l->w;
	}
	if (!d->hidden)
		return;
	snprintf(text, sizeof(text), "%u edges have no room for labels: hover to show them",
		 d->hidden);
	put_text(d->out, x, 62, "dim", text, sizeof(text));
}

static void draw(struct drawing *d, const char *subtitle)
{
	const struct layout *l = &d->l;
	double head = 60 + letters(subtitle) * 6.2, w = l->w > head ? l->w : head;

	if (w < 560)
		w = 560;
	fprintf(d->out,
		"<svg class=\"topology\" xmlns=\"http://www.w3.org/2000/svg\" width=\"100%%\" "
		"viewBox=\"0 0 %.0f %.0f\">\n<style>.topology{max-width:%.0fpx}</style>\n",
		w, l->h, w);
	topology_style(d->out, ARROW);
	put_text(d->out, LAYOUT_MARGIN - 28, 26, "title", "Services", 100);
	put_text(d->out, LAYOUT_MARGIN - 28, 43, "dim", subtitle, 400);
	each_place(d, put_frame);
	for (size_t i = 0; i < l->line_cnt; i++)
		put_line(d, &l->lines[i]);
	for (size_t i = 0; i < l->item_cnt; i++) {
		const struct layout_item *item = &l->items[i];

		if (item->node == LAYOUT_NONE)
			continue;
		put_node(d, item);
		take(d, (struct rect){layout_x(item), item->y, LAYOUT_BOX_W, item->h});
	}
	each_place(d, put_frame_name);
	put_labels(d);
	put_legend(d);
	fprintf(d->out, "</svg>\n");
}

static void write_svg(const struct topology *t, const char *subtitle, FILE *out)
{
	struct drawing d = {.out = out};

	if (!layout__make(&d.l, t))
		draw(&d, subtitle);
	layout__fini(&d.l);
	free(d.taken);
}

const struct topology_writer topology_svg = {"svg", write_svg};
