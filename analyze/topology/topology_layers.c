/* SPDX-License-Identifier: BSD-2-Clause */
/* Assigns services to layers and creates the parts of lines between layers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/topology/topology_layers.h"

/* Lines by item: list[at[i] .. at[i + 1]); without self-loops. */
struct lines {
	uint32_t *at, *list;
};

struct search {
	struct layout *l;
	uint32_t *item; /* by node */
	struct lines out, in;
	uint32_t *out_left, *in_left; /* lines to and from items not placed yet */
	uint32_t *rank, *queue;
	bool *placed;
};

static uint32_t caller(const struct search *s, const struct layout_line *line)
{
	return s->item[s->l->t->edges[line->edge].client];
}

static uint32_t called(const struct search *s, const struct layout_line *line)
{
	return s->item[s->l->t->edges[line->edge].server];
}

/* ---- which lines are reversed ---- */

static uint32_t other_end(const struct search *s, uint32_t line, bool from_caller)
{
	return from_caller ? called(s, &s->l->lines[line]) : caller(s, &s->l->lines[line]);
}

/* Removes a placed item from the counts of its neighbours. Neighbours left without lines on one
 * side are queued. */
static void leave(struct search *s, uint32_t item, uint32_t *queue, size_t *end)
{
	s->placed[item] = true;
	for (int side = 0; side < 2; side++) {
		const struct lines *mine = side ? &s->in : &s->out;

		for (uint32_t k = mine->at[item]; k < mine->at[item + 1]; k++) {
			uint32_t other = other_end(s, mine->list[k], !side);
			uint32_t *left = side ? &s->out_left[other] : &s->in_left[other];

			if (other != item && !s->placed[other] && !--*left)
				queue[(*end)++] = other;
		}
	}
}

/* In a cycle: the item with the most outgoing minus incoming lines. */
static uint32_t best_source(const struct search *s)
{
	uint32_t best = LAYOUT_NONE;
	int64_t most = INT64_MIN;

	for (uint32_t i = 0; i < s->l->item_cnt; i++)
		if (!s->placed[i] && (int64_t)s->out_left[i] - s->in_left[i] > most) {
			most = (int64_t)s->out_left[i] - s->in_left[i];
			best = i;
		}
	return best;
}

/*
 * Sources go to the front of an order, sinks to its end, then one item of a cycle to the front, and
 * so on. Lines against that order are reversed. (Eades, Lin, Smyth: "A fast and effective heuristic
 * for the feedback arc set problem", 1993.)
 */
static void find_back(struct search *s)
{
	struct layout *l = s->l;
	size_t begin = 0, end = 0;
	uint32_t front = 0, back = l->item_cnt;

	for (uint32_t i = 0; i < l->item_cnt; i++)
		if (!s->in_left[i] || !s->out_left[i])
			s->queue[end++] = i;
	while (front < back) {
		uint32_t i = begin < end ? s->queue[begin++] : best_source(s);

		if (i == LAYOUT_NONE)
			break;
		if (s->placed[i])
			continue;
		if (!s->in_left[i] || s->out_left[i])
			s->rank[i] = front++;
		else
			s->rank[i] = --back;
		leave(s, i, s->queue, &end);
	}
	for (size_t i = 0; i < l->line_cnt; i++)
		l->lines[i].back =
			s->rank[caller(s, &l->lines[i])] > s->rank[called(s, &l->lines[i])];
}

/* ---- layers ---- */

static void ends(const struct search *s, const struct layout_line *line, uint32_t *left,
		 uint32_t *right)
{
	uint32_t a = caller(s, line), b = called(s, line);

	*left = line->back ? b : a;
	*right = line->back ? a : b;
}

/* Longest path from the left. Without cycles, as many rounds as there are layers suffice. */
static void find_layers(struct search *s)
{
	struct layout *l = s->l;
	bool moved = true;

	for (size_t round = 0; moved && round < l->item_cnt; round++) {
		moved = false;
		for (size_t i = 0; i < l->line_cnt; i++) {
			uint32_t left, right;

			ends(s, &l->lines[i], &left, &right);
			if (left == right || l->items[right].layer > l->items[left].layer)
				continue;
			l->items[right].layer = l->items[left].layer + 1;
			moved = true;
		}
	}
}

/* Moves items without incoming lines next to what they call. */
static void pull_right(struct search *s)
{
	struct layout *l = s->l;
	uint32_t *nearest = malloc((l->item_cnt + 1) * sizeof(*nearest));

	if (nearest)
		memset(nearest, 0xff, l->item_cnt * sizeof(*nearest));
	for (size_t i = 0; nearest && i < l->line_cnt; i++) {
		uint32_t left, right;

		ends(s, &l->lines[i], &left, &right);
		if (left != right && l->items[right].layer < nearest[left])
			nearest[left] = l->items[right].layer;
	}
	for (size_t i = 0; nearest && i < l->item_cnt; i++)
		if (!l->items[i].layer && nearest[i] != UINT32_MAX)
			l->items[i].layer = nearest[i] - 1;
	free(nearest);
	for (size_t i = 0; i < l->item_cnt; i++)
		if (l->items[i].layer + 1 > l->layers)
			l->layers = l->items[i].layer + 1;
}

static int add_part(struct layout *l, uint32_t from, uint32_t to)
{
	if (array_reserve(&l->parts, &l->part_cap, l->part_cnt + 1))
		return -ENOMEM;
	l->parts[l->part_cnt++] = (struct layout_part){.from = from, .to = to};
	return 0;
}

/* Adds a part for each layer crossed, in the band of the item where the line ends. */
static int add_parts(const struct search *s, struct layout_line *line)
{
	struct layout *l = s->l;
	uint32_t left, right;

	line->item = caller(s, line);
	ends(s, line, &left, &right);
	if (left == right)
		return 0;
	line->first = l->part_cnt;
	for (uint32_t layer = l->items[left].layer + 1; layer < l->items[right].layer; layer++) {
		if (array_reserve(&l->items, &l->item_cap, l->item_cnt + 1))
			return -ENOMEM;
		l->items[l->item_cnt] = (struct layout_item){
			.node = LAYOUT_NONE, .layer = layer, .band = l->items[right].band};
		if (add_part(l, left, l->item_cnt))
			return -ENOMEM;
		left = l->item_cnt++;
	}
	if (add_part(l, left, right))
		return -ENOMEM;
	line->cnt = l->part_cnt - line->first;
	return 0;
}

static int group_lines(const struct search *s, bool in, struct lines *g, uint32_t *left)
{
	const struct layout *l = s->l;

	g->at = calloc(l->item_cnt + 2, sizeof(*g->at));
	g->list = calloc(l->line_cnt + 1, sizeof(*g->list));
	if (!g->at || !g->list)
		return -ENOMEM;
	for (size_t i = 0; i < l->line_cnt; i++)
		if (other_end(s, i, true) != other_end(s, i, false))
			g->at[other_end(s, i, in) + 1]++;
	for (size_t i = 0; i < l->item_cnt; i++)
		g->at[i + 1] += g->at[i];
	for (size_t i = 0; i < l->line_cnt; i++) {
		uint32_t item = other_end(s, i, in);

		if (item != other_end(s, i, !in))
			g->list[g->at[item] + left[item]++] = i;
	}
	return 0;
}

static int init(struct search *s)
{
	const struct layout *l = s->l;
	int err;

	s->item = calloc(l->t->node_cnt + 1, sizeof(*s->item));
	s->out_left = calloc(l->item_cnt + 1, sizeof(*s->out_left));
	s->in_left = calloc(l->item_cnt + 1, sizeof(*s->in_left));
	s->rank = calloc(l->item_cnt + 1, sizeof(*s->rank));
	s->queue = calloc(3 * l->item_cnt + 1, sizeof(*s->queue));
	s->placed = calloc(l->item_cnt + 1, sizeof(*s->placed));
	if (!s->item || !s->out_left || !s->in_left || !s->rank || !s->queue || !s->placed)
		return -ENOMEM;
	for (size_t i = 0; i < l->item_cnt; i++)
		s->item[l->items[i].node] = i;
	err = group_lines(s, false, &s->out, s->out_left);
	return err ? err : group_lines(s, true, &s->in, s->in_left);
}

static void fini(struct search *s)
{
	free(s->item);
	free(s->out.at);
	free(s->out.list);
	free(s->in.at);
	free(s->in.list);
	free(s->out_left);
	free(s->in_left);
	free(s->rank);
	free(s->queue);
	free(s->placed);
}

int layout_find_layers(struct layout *l)
{
	struct search s = {.l = l};
	int err = init(&s);

	if (!err) {
		find_back(&s);
		find_layers(&s);
		pull_right(&s);
	}
	for (size_t i = 0; i < l->line_cnt && !err; i++)
		err = add_parts(&s, &l->lines[i]);
	fini(&s);
	return err;
}
