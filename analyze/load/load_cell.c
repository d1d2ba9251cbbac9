/* SPDX-License-Identifier: BSD-2-Clause */
/* Series of the probes, and their cells as counters and histograms. */
#include "analyze/load/load.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/base/index.h"
#include "analyze/base/load_budget.h"
#include "analyze/base/strings.h"
#include "analyze/load/cell_totals.h"
#include "analyze/store/bulk.h"
#include "format/record.h"
#include "format/text.h"

/* A series of an archive, by (capture, id). Names are in l->strings. */
struct series {
	uint32_t capture, id, probe, name;
};

enum { SERIES_MAX = 1 << 16 }; /* cells of further series are named series-N */

struct cell_load {
	struct index index;
	struct series *v;
	size_t cnt, cap;
	uint64_t (*spans)[2];
	struct bulk series, counter, histogram;
	bool counters, histograms; /* are wanted */
	struct cell_totals *totals;
	bool adds_up; /* any of the totals is wanted */
};

static bool series_equal(const void *owner, uint32_t i, const void *key)
{
	const struct series *s = &((const struct cell_load *)owner)->v[i], *k = key;

	return s->capture == k->capture && s->id == k->id;
}

static struct series *find_series(const struct cell_load *c, uint32_t capture, uint32_t id)
{
	struct series key = {.capture = capture, .id = id};
	uint32_t i;

	return index_find(&c->index, series_equal, c, hash_mix((uint64_t)capture << 32 | id), &key,
			  &i)
		       ? &c->v[i]
		       : NULL;
}

static int cell_begin(struct load *l, void **state)
{
	struct cell_load *c = calloc(1, sizeof(*c));
	int err;

	*state = c;
	if (!c)
		return -ENOMEM;
	c->spans = calloc(l->captures->cnt + 1, sizeof(*c->spans));
	if (!c->spans)
		return -ENOMEM;
	if (cell_totals__new(&c->totals, l))
		return -ENOMEM;
	c->adds_up = cell_totals__any(c->totals);
	c->counters = load__wants(l, "counter");
	c->histograms = load__wants(l, "histogram");
	for (size_t i = 0; i < l->captures->cnt; i++)
		load__span(l, i, c->spans[i]);
	err = bulk_open(&c->series, l->store, "INSERT INTO series VALUES(?,?,?,?,?,?)");
	if (!err)
		err = bulk_open(&c->counter, l->store, "INSERT INTO counter VALUES(?,?,?,?,?,?,?)");
	if (!err)
		err = bulk_open(&c->histogram, l->store,
				"INSERT INTO histogram VALUES(?,?,?,?,?,?,?,?,?)");
	return err;
}

static struct series *new_series(struct load *l, struct cell_load *c, uint32_t capture, uint32_t id,
				 struct span probe, struct span name)
{
	if (c->cnt == SERIES_MAX || array_reserve(&c->v, &c->cap, c->cnt + 1))
		return NULL;
	c->v[c->cnt] = (struct series){capture, id, strings__add(l->strings, budget_name(probe)),
				       strings__add(l->strings, budget_name(name))};
	if (index_add(&c->index, hash_mix((uint64_t)capture << 32 | id), c->cnt))
		return NULL;
	return &c->v[c->cnt++];
}

/* Definitions are repeated in the stream; the first is used. */
static int add_series(struct load *l, struct cell_load *c, uint32_t capture,
		      const struct rec_series *r)
{
	if (find_series(c, capture, r->id))
		return 0;
	if (!new_series(l, c, capture, r->id, r->probe, r->name))
		return c->cnt == SERIES_MAX ? 0 : -ENOMEM;
	bulk_int(&c->series, capture_id(capture));
	bulk_span(&c->series, budget_name(r->probe));
	bulk_span(&c->series, budget_name(r->name));
	bulk_span(&c->series, budget_name(r->kind));
	bulk_span(&c->series, budget_name(r->unit));
	bulk_span(&c->series, budget_name(r->keys));
	return bulk_row(&c->series);
}

/* The row in the table of cells. `series` NULL: its definition was lost. */
static int put_cell(struct load *l, struct bulk *b, uint32_t capture, const struct series *series,
		    const struct rec_cell *r, const struct cell_total *cell)
{
	char lost[32];

	snprintf(lost, sizeof(lost), "series-%u", r->series);
	bulk_int(b, capture_id(capture));
	bulk_text(b, series ? strings__get(l->strings, series->probe) : "");
	bulk_text(b, series ? strings__get(l->strings, series->name) : lost);
	bulk_span(b, budget_name(r->key));
	bulk_int(b, cell->start_ns);
	if (cell->high) {
		bulk_int(b, cell->low);
		bulk_int(b, cell->high);
	}
	bulk_int(b, cell->count);
	bulk_int(b, cell->sum);
	return bulk_row(b);
}

static int add_cell(struct load *l, struct cell_load *c, uint32_t capture, const struct rec_cell *r)
{
	const struct series *s = find_series(c, capture, r->series);
	struct cell_total cell = {
		.capture = capture,
		.start_ns = r->ts_ns + l->captures->v[capture].to_realtime,
		.low = r->low,
		.high = r->high > INT64_MAX ? INT64_MAX : r->high,
		.count = r->count,
		.sum = r->sum,
	};
	int err = 0;

	if (cell.start_ns < c->spans[capture][0] || cell.start_ns >= c->spans[capture][1])
		return 0;
	if (r->high ? c->histograms : c->counters)
		err = put_cell(l, r->high ? &c->histogram : &c->counter, capture, s, r, &cell);
	if (err || !c->adds_up || !s)
		return err;
	cell.probe = s->probe;
	cell.series = s->name;
	cell.key = strings__add(l->strings, budget_name(r->key));
	return cell_totals__add(c->totals, &cell);
}

static int cell_rows(struct load *l, void *state, uint32_t capture, enum rec_kind kind,
		     const void *rows, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++)
		if ((int)kind == REC_series)
			err = add_series(l, state, capture, (const struct rec_series *)rows + i);
		else if ((int)kind == REC_cell)
			err = add_cell(l, state, capture, (const struct rec_cell *)rows + i);
	return err;
}

static int cell_finish(struct load *l, void *state)
{
	struct cell_load *c = state;
	int err = bulk_flush(&c->series);

	if (!err)
		err = bulk_flush(&c->counter);
	if (!err)
		err = bulk_flush(&c->histogram);
	/* A section reads the cells of a series or two, of the hundred there may be. */
	if (!err && c->counters)
		err = store__later(l->store,
				  "CREATE INDEX counter_series ON counter(probe, series)");
	if (!err && c->histograms)
		err = store__later(l->store,
				  "CREATE INDEX histogram_series ON histogram(probe, series)");
	return err ? err : cell_totals__write(c->totals);
}

static void cell_free(void *state)
{
	struct cell_load *c = state;

	if (!c)
		return;
	bulk_close(&c->series);
	bulk_close(&c->counter);
	bulk_close(&c->histogram);
	index_fini(&c->index);
	cell_totals__free(c->totals);
	free(c->spans);
	free(c->v);
	free(c);
}

const struct loader load_cell_entry = {
	.streams = (const char *const[]){"metric", NULL},
	.tables = (const char *const[]){"series", "counter", "histogram", "histogram_total",
					"histogram_minute", "histogram_count", "histogram_time",
					"counter_total", NULL},
	.begin = cell_begin,
	.rows = cell_rows,
	.finish = cell_finish,
	.free = cell_free,
};
