/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Layers from left to right: whoever calls stands left of whom it calls, circles aside. Within a
 * layer the order is that of the neighbours' mean places, so that few edges cross.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../format/text.h"
#include "topology.h"

enum { BOX_W = 210, BOX_H = 44, GAP_X = 260, GAP_Y = 34, MARGIN = 24, HEAD = 64, MAX_NAME = 30 };

struct layout {
	struct topology t; /* a copy of the struct: nodes are placed, the rest is borrowed */
	unsigned layers, rows;
	double *place; /* by node: where its neighbours are */
};

/* A longest path that stops at what is on the path already. */
static void put_right_of(struct layout *l, uint32_t node, unsigned layer, bool *on_path,
			 unsigned *budget)
{
	struct topology_node *n = &l->t.nodes[node];

	if (on_path[node] || !*budget)
		return;
	--*budget;
	if (layer > n->layer)
		n->layer = layer;
	on_path[node] = true;
	for (size_t i = 0; i < l->t.edge_cnt; i++) {
		const struct topology_edge *e = &l->t.edges[i];

		if (e->shown && e->client == node && l->t.nodes[e->server].layer <= n->layer)
			put_right_of(l, e->server, n->layer + 1, on_path, budget);
	}
	on_path[node] = false;
}

static bool has_caller(const struct topology *t, uint32_t node)
{
	for (size_t i = 0; i < t->edge_cnt; i++)
		if (t->edges[i].shown && t->edges[i].server == node && t->edges[i].client != node)
			return true;
	return false;
}

static void find_layers(struct layout *l)
{
	bool *on_path = calloc(l->t.node_cnt + 1, sizeof(*on_path));
	unsigned budget = 20000; /* steps: a dense graph has many paths */

	for (int round = 0; on_path && round < 2; round++)
		for (uint32_t i = 0; i < l->t.node_cnt; i++) {
			struct topology_node *n = &l->t.nodes[i];

			/* first from those nobody calls, then what only circles reach */
			if (n->shown && (round ? !n->layer : !has_caller(&l->t, i)))
				put_right_of(l, i, 0, on_path, &budget);
		}
	for (size_t i = 0; i < l->t.node_cnt; i++)
		if (l->t.nodes[i].shown && l->t.nodes[i].layer + 1 > l->layers)
			l->layers = l->t.nodes[i].layer + 1;
	free(on_path);
}

static const struct layout *sorting; /* qsort has no context */

static int by_place(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct topology_node *p = &sorting->t.nodes[x], *q = &sorting->t.nodes[y];
	double d = sorting->place[x] - sorting->place[y];

	if (d)
		return d < 0 ? -1 : 1;
	if (p->calls_in + p->calls_out != q->calls_in + q->calls_out)
		return p->calls_in + p->calls_out > q->calls_in + q->calls_out ? -1 : 1;
	return strcmp(p->name, q->name);
}

static double mean_place(const struct layout *l, uint32_t node)
{
	double sum = 0, cnt = 0;

	for (size_t i = 0; i < l->t.edge_cnt; i++) {
		const struct topology_edge *e = &l->t.edges[i];
		uint32_t other = e->client == node ? e->server : e->client;

		if (!e->shown || (e->client != node && e->server != node) || other == node)
			continue;
		sum += l->t.nodes[other].row;
		cnt++;
	}
	return cnt ? sum / cnt : l->t.nodes[node].row;
}

static void sort_layer(struct layout *l, unsigned layer, uint32_t *order)
{
	unsigned cnt = 0;

	for (uint32_t i = 0; i < l->t.node_cnt; i++)
		if (l->t.nodes[i].shown && l->t.nodes[i].layer == layer)
			order[cnt++] = i;
	sorting = l;
	if (cnt)
		qsort(order, cnt, sizeof(*order), by_place);
	for (unsigned i = 0; i < cnt; i++)
		l->t.nodes[order[i]].row = i;
	if (cnt > l->rows)
		l->rows = cnt;
}

static void find_rows(struct layout *l)
{
	uint32_t *order = calloc(l->t.node_cnt + 1, sizeof(*order));

	for (int round = 0; order && round < 8; round++)
		for (unsigned layer = 0; layer < l->layers; layer++) {
			for (uint32_t i = 0; round && i < l->t.node_cnt; i++)
				if (l->t.nodes[i].layer == layer)
					l->place[i] = mean_place(l, i);
			sort_layer(l, layer, order);
		}
	free(order);
}

static double box_x(const struct topology_node *n)
{
	return MARGIN + n->layer * (double)(BOX_W + GAP_X);
}

static double box_y(const struct topology_node *n)
{
	return HEAD + n->row * (double)(BOX_H + GAP_Y);
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
	fprintf(out, "<text x=\"%g\" y=\"%g\" class=\"%s\">%s</text>\n", x, y, cls, b.p ? b.p : "");
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

static void put_node(const struct topology *t, const struct topology_node *n, FILE *out)
{
	char what[96], in[24], to[24];
	double x = box_x(n), y = box_y(n);

	fprintf(out, "<g>");
	put_title(out, n->name);
	fprintf(out, "<rect x=\"%g\" y=\"%g\" width=\"%d\" height=\"%d\" rx=\"6\" class=\"%s\"/>\n",
		x, y, BOX_W, BOX_H,
		n->errors_in  ? "bad"
		: n->calls_in ? "serves"
			      : "calls");
	put_text(out, x + 10, y + 18, "name", n->name, MAX_NAME);
	snprintf(what, sizeof(what), "in %s/s, out %s/s",
		 topology_rate(in, n->calls_in / t->seconds),
		 topology_rate(to, n->calls_out / t->seconds));
	put_text(out, x + 10, y + 34, "dim", what, sizeof(what));
	fprintf(out, "</g>\n");
}

/* `nth` of the edges between the same two: their labels lie below one another. */
static void put_edge(const struct topology *t, const struct topology_edge *e, unsigned nth,
		     FILE *out)
{
	const struct topology_node *a = &t->nodes[e->client], *b = &t->nodes[e->server];
	double x1 = box_x(a) + BOX_W, y1 = box_y(a) + BOX_H / 2.0, x2 = box_x(b),
	       y2 = box_y(b) + BOX_H / 2.0, bend = GAP_X / 2.0, width, at_y;
	struct strbuf label = {0};

	topology_label(&label, t, e);
	width = 1 + log10(1 + e->calls / t->seconds) * 0.8;
	at_y = (y1 + y2) / 2 - 5 + nth * 13;
	if (a->layer >= b->layer) { /* backwards, or within the layer: around below */
		bend = GAP_X / 2.5;
		at_y += BOX_H;
	}
	fprintf(out, "<g>");
	put_title(out, label.p ? label.p : "");
	if (a->layer < b->layer)
		fprintf(out, "<path d=\"M%g %gC%g %g %g %g %g %g\"", x1, y1, x1 + bend, y1,
			x2 - bend, y2, x2, y2);
	else
		fprintf(out, "<path d=\"M%g %gC%g %g %g %g %g %g\"", x1, y1, x1 + bend,
			y1 + 2 * BOX_H, x2 - bend, y2 + 2 * BOX_H, x2, y2);
	fprintf(out, " class=\"%s\" stroke-width=\"%.1f\" marker-end=\"url(#to)\"/>\n",
		e->errors ? "edge bad" : "edge", width);
	put_text(out, (x1 + x2) / 2 - GAP_X / 2.0 + 8, at_y, "label", label.p ? label.p : "", 60);
	fprintf(out, "</g>\n");
	strbuf_fini(&label);
}

static unsigned nth_of(const struct topology *t, size_t edge)
{
	unsigned n = 0;

	for (size_t i = 0; i < edge; i++)
		n += t->edges[i].shown && t->edges[i].client == t->edges[edge].client &&
		     t->edges[i].server == t->edges[edge].server;
	return n;
}

/* The colours and fonts of flamegraph.css. */
static const char style[] =
	"<style>svg{background:#ffffff}"
	"text{font:11px ui-monospace,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;fill:#1c1917}"
	".title{font:600 15px system-ui,\"Segoe UI\",Helvetica,Arial,\"DejaVu Sans\",sans-serif}"
	".dim,.label{fill:#6b6560;font:11px system-ui,\"Segoe UI\",Helvetica,Arial,\"DejaVu "
	"Sans\",sans-serif}"
	".label{font-size:10px;paint-order:stroke;stroke:#ffffff;stroke-width:3px}"
	".name{font-weight:600}rect{stroke:#6b6560;stroke-width:.6}"
	".serves{fill:#f7c48f}.calls{fill:#9cc9ec}rect.bad{fill:#f2a95e;stroke:#b91c1c}"
	".edge{fill:none;stroke:#6b6560;opacity:.75}.edge.bad{stroke:#b91c1c}</style>\n"
	"<defs><marker id=\"to\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" "
	"markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
	"<path d=\"M0 0L8 4L0 8z\" fill=\"#6b6560\"/></marker></defs>\n";

static void draw(const struct layout *l, const char *subtitle, FILE *out)
{
	unsigned layers = l->layers ? l->layers : 1, rows = l->rows ? l->rows : 1;
	double w = 2 * MARGIN + layers * (double)BOX_W + (layers - 1) * (double)GAP_X,
	       h = HEAD + rows * (double)(BOX_H + GAP_Y) + MARGIN + BOX_H;

	if (w < 480)
		w = 480;
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 "
		"0 %g %g\">\n%s",
		w, h, w, h, style);
	put_text(out, MARGIN, 26, "title", "Services", 100);
	put_text(out, MARGIN, 44, "dim", subtitle, 200);
	for (size_t i = 0; i < l->t.edge_cnt; i++)
		if (l->t.edges[i].shown)
			put_edge(&l->t, &l->t.edges[i], nth_of(&l->t, i), out);
	for (size_t i = 0; i < l->t.node_cnt; i++)
		if (l->t.nodes[i].shown)
			put_node(&l->t, &l->t.nodes[i], out);
	fprintf(out, "</svg>\n");
}

static void write_svg(const struct topology *t, const char *subtitle, FILE *out)
{
	struct layout l = {.t = *t};

	l.place = calloc(t->node_cnt + 1, sizeof(*l.place));
	if (!l.place)
		return;
	for (size_t i = 0; i < t->node_cnt; i++)
		l.place[i] = 0;
	find_layers(&l);
	find_rows(&l);
	draw(&l, subtitle, out);
	free(l.place);
}

const struct topology_writer topology_svg = {"svg", write_svg};
