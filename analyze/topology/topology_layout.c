/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/topology/topology_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/topology/topology_layers.h"

enum {
	GAP_X = 330,
	GAP_Y = 26,
	GAP_LINE = 12, /* above and below a line that crosses a layer */
	BOX_H = 44,
	PITCH = 14, /* between lines at the side of a box */
	BAND_GAP = 34,
	BAND_TOP = 24, /* of a frame: space for its name */
	BAND_PAD = 14,
	ROUNDS = 12,
};

double layout_x(const struct layout_item *item)
{
	return LAYOUT_MARGIN + item->layer * (double)(LAYOUT_BOX_W + GAP_X);
}

/* ---- items and bands ---- */

static bool same(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static int by_name(const void *a, const void *b)
{
	const struct layout_band *x = a, *y = b;
	int order = strcmp(x->region ? x->region : "", y->region ? y->region : "");

	return order ? order : strcmp(x->cluster ? x->cluster : "", y->cluster ? y->cluster : "");
}

/* Linear search: there are few places. */
static int find_bands(struct layout *l)
{
	for (size_t i = 0; i < l->item_cnt; i++) {
		const struct topology_node *n = &l->t->nodes[l->items[i].node];
		size_t at = 0;

		while (at < l->band_cnt && (!same(l->bands[at].region, n->region) ||
					    !same(l->bands[at].cluster, n->cluster)))
			at++;
		if (at < l->band_cnt)
			continue;
		if (array_reserve(&l->bands, &l->band_cap, at + 1))
			return -ENOMEM;
		l->bands[l->band_cnt++] =
			(struct layout_band){.region = n->region, .cluster = n->cluster};
	}
	if (l->band_cnt)
		qsort(l->bands, l->band_cnt, sizeof(*l->bands), by_name);
	for (size_t i = 0; i < l->item_cnt; i++) {
		const struct topology_node *n = &l->t->nodes[l->items[i].node];

		while (!same(l->bands[l->items[i].band].region, n->region) ||
		       !same(l->bands[l->items[i].band].cluster, n->cluster))
			l->items[i].band++;
	}
	return 0;
}

static int take_shown(struct layout *l)
{
	const struct topology *t = l->t;

	for (uint32_t i = 0; i < t->node_cnt; i++) {
		if (!t->nodes[i].shown)
			continue;
		if (array_reserve(&l->items, &l->item_cap, l->item_cnt + 1))
			return -ENOMEM;
		l->items[l->item_cnt++] = (struct layout_item){.node = i};
	}
	for (size_t i = 0; i < t->edge_cnt; i++) {
		if (!t->edges[i].shown)
			continue;
		if (array_reserve(&l->lines, &l->line_cap, l->line_cnt + 1))
			return -ENOMEM;
		l->lines[l->line_cnt++] = (struct layout_line){.edge = i};
	}
	return find_bands(l);
}

/* ---- neighbours ---- */

static int group_parts(const struct layout *l, bool at_end, uint32_t **at, uint32_t **list)
{
	uint32_t *fill = calloc(l->item_cnt + 1, sizeof(*fill));

	*at = calloc(l->item_cnt + 2, sizeof(**at));
	*list = calloc(l->part_cnt + 1, sizeof(**list));
	if (!fill || !*at || !*list) {
		free(fill);
		return -ENOMEM;
	}
	for (size_t i = 0; i < l->part_cnt; i++)
		(*at)[(at_end ? l->parts[i].to : l->parts[i].from) + 1]++;
	for (size_t i = 0; i < l->item_cnt; i++)
		(*at)[i + 1] += (*at)[i];
	for (size_t i = 0; i < l->part_cnt; i++) {
		uint32_t item = at_end ? l->parts[i].to : l->parts[i].from;

		(*list)[(*at)[item] + fill[item]++] = i;
	}
	free(fill);
	return 0;
}

static double middle(const struct layout_item *i)
{
	return i->y + i->h / 2;
}

static void find_heights(struct layout *l)
{
	for (size_t i = 0; i < l->item_cnt; i++) {
		struct layout_item *item = &l->items[i];
		uint32_t out = l->out_at[i + 1] - l->out_at[i], in = l->in_at[i + 1] - l->in_at[i],
			 most = out > in ? out : in;

		item->h = item->node == LAYOUT_NONE ? PITCH
			  : most * PITCH > BOX_H    ? most * (double)PITCH
						    : BOX_H;
	}
}

/* ---- vertical positions ---- */

static const struct layout *sorting; /* qsort has no context */

static int by_want(const void *a, const void *b)
{
	const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct layout_item *x = &sorting->items[i], *y = &sorting->items[k];

	if (x->layer != y->layer)
		return x->layer < y->layer ? -1 : 1;
	if (x->band != y->band)
		return x->band < y->band ? -1 : 1;
	if (x->want != y->want)
		return x->want < y->want ? -1 : 1;
	return i < k ? -1 : 1;
}

static double gap(const struct layout_item *a, const struct layout_item *b)
{
	return a->node == LAYOUT_NONE || b->node == LAYOUT_NONE ? GAP_LINE : GAP_Y;
}

/* Mean position of its neighbours in the left layer, the right layer, or both. */
static void find_want(struct layout *l, uint32_t i, bool left, bool right)
{
	struct layout_item *item = &l->items[i];
	double sum = 0;
	size_t cnt = 0;

	for (uint32_t k = l->in_at[i]; left && k < l->in_at[i + 1]; k++, cnt++)
		sum += middle(&l->items[l->parts[l->in[k]].from]);
	for (uint32_t k = l->out_at[i]; right && k < l->out_at[i + 1]; k++, cnt++)
		sum += middle(&l->items[l->parts[l->out[k]].to]);
	item->want = cnt ? sum / cnt : middle(item);
}

/* Places one column of one band: each item as close to its preferred position as order and room
 * allow. */
static void place_column(struct layout *l, const uint32_t *v, size_t cnt, double top, double room)
{
	double y = top;

	for (size_t i = 0; i < cnt; i++) {
		struct layout_item *item = &l->items[v[i]];

		if (i)
			y += gap(&l->items[v[i - 1]], item);
		item->y = item->want - item->h / 2 > y ? item->want - item->h / 2 : y;
		y = item->y + item->h;
	}
	y = top + room;
	for (size_t i = cnt; i-- > 0;) {
		struct layout_item *item = &l->items[v[i]];

		if (i + 1 < cnt)
			y -= gap(item, &l->items[v[i + 1]]);
		if (item->y + item->h <= y)
			break;
		item->y = y - item->h;
		y = item->y;
	}
}

static size_t column_len(const struct layout *l, const uint32_t *order, size_t i)
{
	const struct layout_item *first = &l->items[order[i]];
	size_t n = 1;

	while (i + n < l->item_cnt && l->items[order[i + n]].layer == first->layer &&
	       l->items[order[i + n]].band == first->band)
		n++;
	return n;
}

/* The height of a band is that of its highest column; gaps depend on the order. */
static void find_band_heights(struct layout *l, const uint32_t *order)
{
	for (size_t i = 0; i < l->band_cnt; i++)
		l->bands[i].h = 0;
	for (size_t i = 0, n; i < l->item_cnt; i += n) {
		struct layout_band *b = &l->bands[l->items[order[i]].band];
		double h = 0;

		n = column_len(l, order, i);
		for (size_t k = i; k < i + n; k++)
			h += l->items[order[k]].h +
			     (k > i ? gap(&l->items[order[k - 1]], &l->items[order[k]]) : 0);
		b->h = h > b->h ? h : b->h;
	}
}

static bool begins_region(const struct layout *l, size_t band)
{
	return l->bands[band].region &&
	       (!band || !same(l->bands[band].region, l->bands[band - 1].region));
}

static bool ends_region(const struct layout *l, size_t band)
{
	return l->bands[band].region &&
	       (band + 1 == l->band_cnt || !same(l->bands[band].region, l->bands[band + 1].region));
}

static void place_bands(struct layout *l)
{
	double y = LAYOUT_HEAD;

	for (size_t i = 0; i < l->band_cnt; i++) {
		struct layout_band *b = &l->bands[i];

		if (i)
			y += BAND_GAP;
		y += BAND_TOP * (begins_region(l, i) + !!b->cluster);
		b->y = y;
		y += b->h + BAND_PAD * (ends_region(l, i) + !!b->cluster);
	}
	l->h = y + BAND_GAP;
	l->w = 2 * LAYOUT_MARGIN + l->layers * (double)LAYOUT_BOX_W +
	       (l->layers ? l->layers - 1 : 0) * (double)GAP_X;
}

static void place_all(struct layout *l, const uint32_t *order)
{
	for (size_t i = 0, n; i < l->item_cnt; i += n) {
		const struct layout_band *b = &l->bands[l->items[order[i]].band];

		n = column_len(l, order, i);
		place_column(l, order + i, n, b->y, b->h);
	}
}

/* Orders items by the positions of neighbours, alternating between left and right, then places
 * them. */
static int find_places(struct layout *l)
{
	uint32_t *order = calloc(l->item_cnt + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->item_cnt; i++) {
		order[i] = i;
		l->items[i].want = i * (double)(BOX_H + GAP_Y);
	}
	for (int round = 0; round <= ROUNDS; round++) {
		bool both = round + 4 > ROUNDS;

		for (uint32_t i = 0; i < l->item_cnt && round; i++)
			find_want(l, i, both || round % 2, both || !(round % 2));
		sorting = l;
		if (l->item_cnt && !both) /* the last rounds keep the order */
			qsort(order, l->item_cnt, sizeof(*order), by_want);
		find_band_heights(l, order);
		place_bands(l);
		place_all(l, order);
	}
	free(order);
	return 0;
}

static void find_extents(struct layout *l)
{
	for (size_t i = 0; i < l->band_cnt; i++) {
		l->bands[i].x1 = 1;
		l->bands[i].x2 = 0;
	}
	for (size_t i = 0; i < l->item_cnt; i++) {
		const struct layout_item *item = &l->items[i];
		struct layout_band *b = &l->bands[item->band];
		double x = layout_x(item);
		bool first = b->x1 > b->x2;

		if (item->node == LAYOUT_NONE)
			continue;
		b->x1 = first || x < b->x1 ? x : b->x1;
		b->x2 = first || x + LAYOUT_BOX_W > b->x2 ? x + LAYOUT_BOX_W : b->x2;
	}
}

/* ---- ends of lines ---- */

static bool sorting_ends;

static int by_other_end(const void *a, const void *b)
{
	const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct layout_part *p = &sorting->parts[i], *q = &sorting->parts[k];
	double x = middle(&sorting->items[sorting_ends ? p->from : p->to]),
	       y = middle(&sorting->items[sorting_ends ? q->from : q->to]);

	if (x != y)
		return x < y ? -1 : 1;
	return i < k ? -1 : 1;
}

static void place_ends(struct layout *l, bool at_end, const uint32_t *at, uint32_t *list)
{
	sorting = l;
	sorting_ends = at_end;
	for (size_t i = 0; i < l->item_cnt; i++) {
		uint32_t cnt = at[i + 1] - at[i];
		double y = middle(&l->items[i]) - (cnt - 1.0) / 2 * PITCH;

		if (cnt)
			qsort(list + at[i], cnt, sizeof(*list), by_other_end);
		for (uint32_t k = 0; k < cnt; k++) {
			struct layout_part *p = &l->parts[list[at[i] + k]];

			*(at_end ? &p->y2 : &p->y1) = y + k * (double)PITCH;
		}
	}
}

int layout__make(struct layout *l, const struct topology *t)
{
	int err;

	*l = (struct layout){.t = t};
	err = take_shown(l);
	if (!err)
		err = layout_find_layers(l);
	if (!err)
		err = group_parts(l, false, &l->out_at, &l->out);
	if (!err)
		err = group_parts(l, true, &l->in_at, &l->in);
	if (err)
		return err;
	find_heights(l);
	err = find_places(l);
	find_extents(l);
	place_ends(l, false, l->out_at, l->out);
	place_ends(l, true, l->in_at, l->in);
	return err;
}

void layout__fini(struct layout *l)
{
	free(l->items);
	free(l->parts);
	free(l->lines);
	free(l->bands);
	free(l->out_at);
	free(l->out);
	free(l->in_at);
	free(l->in);
	*l = (struct layout){0};
}
