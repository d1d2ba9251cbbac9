/* SPDX-License-Identifier: BSD-2-Clause */
/* Series of the probes, and their cells as counters and histograms. */
#include "analyze/load/load.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/base/index.h"
#include "analyze/base/load_budget.h"
#include "analyze/base/strings.h"
#include "analyze/store/bulk.h"
#include "format/record.h"
#include "format/text.h"

/* A series of an archive, by (capture, id). Names are in l->strings. */
struct series {
	uint32_t capture, id, probe, name;
};

/* Cells of a series with the same key and range. */
struct total {
	uint32_t capture, probe, name, key; /* strings */
	uint64_t low, high;		    /* high 0: a counter */
	uint64_t count, sum;
};

enum { SERIES_MAX = 1 << 16 }; /* cells of further series are named series-N */

struct cell_load {
	struct index index;
	struct series *v;
	size_t cnt, cap;
	uint64_t (*spans)[2];
	struct bulk series, counter, histogram;
	bool adds_up; /* the tables of totals are wanted */
	struct index total_index;
	struct total *totals;
	size_t total_cnt, total_cap;
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
	c->adds_up = load__wants(l, "histogram_total") || load__wants(l, "counter_total");
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

static bool total_equal(const void *owner, uint32_t i, const void *key)
{
	const struct total *a = &((const struct cell_load *)owner)->totals[i], *b = key;

	return a->capture == b->capture && a->probe == b->probe && a->name == b->name &&
	       a->key == b->key && a->low == b->low && a->high == b->high;
}

static int add_total(struct cell_load *c, const struct total *t)
{
	uint64_t hash = hash_mix(hash_mix((uint64_t)t->capture << 32 | t->key) ^
				 ((uint64_t)t->probe << 32 | t->name)) ^
			hash_mix(t->low + t->high);
	uint32_t i;

	if (index_find(&c->total_index, total_equal, c, hash, t, &i)) {
		c->totals[i].count += t->count;
		c->totals[i].sum += t->sum;
		return 0;
	}
	if (array_reserve(&c->totals, &c->total_cap, c->total_cnt + 1) ||
	    index_add(&c->total_index, hash, c->total_cnt))
		return -ENOMEM;
	c->totals[c->total_cnt++] = *t;
	return 0;
}

static int write_totals(struct load *l, const struct cell_load *c)
{
	struct bulk counter = {0}, histogram = {0};
	int err = bulk_open(&counter, l->store, "INSERT INTO counter_total VALUES(?,?,?,?,?,?)");

	if (!err)
		err = bulk_open(&histogram, l->store,
				"INSERT INTO histogram_total VALUES(?,?,?,?,?,?,?,?)");
	for (size_t i = 0; i < c->total_cnt && !err; i++) {
		const struct total *t = &c->totals[i];
		struct bulk *b = t->high ? &histogram : &counter;

		bulk_int(b, capture_id(t->capture));
		bulk_text(b, strings__get(l->strings, t->probe));
		bulk_text(b, strings__get(l->strings, t->name));
		bulk_text(b, strings__get(l->strings, t->key));
		if (t->high) {
			bulk_int(b, t->low);
			bulk_int(b, t->high);
		}
		bulk_int(b, t->count);
		bulk_int(b, t->sum);
		err = bulk_row(b);
	}
	if (!err)
		err = bulk_flush(&counter);
	if (!err)
		err = bulk_flush(&histogram);
	bulk_close(&counter);
	bulk_close(&histogram);
	return err;
}

static int add_cell(struct load *l, struct cell_load *c, uint32_t capture, const struct rec_cell *r)
{
	uint64_t ts_ns = r->ts_ns + l->captures->v[capture].to_realtime;
	struct bulk *b = r->high ? &c->histogram : &c->counter;
	const struct series *s = find_series(c, capture, r->series);
	char lost[32];
	int err;

	if (ts_ns < c->spans[capture][0] || ts_ns >= c->spans[capture][1])
		return 0;
	snprintf(lost, sizeof(lost), "series-%u", r->series);
	bulk_int(b, capture_id(capture));
	bulk_text(b, s ? strings__get(l->strings, s->probe) : "");
	bulk_text(b, s ? strings__get(l->strings, s->name) : lost);
	bulk_span(b, budget_name(r->key));
	bulk_int(b, ts_ns);
	if (r->high) {
		bulk_int(b, r->low);
		bulk_int(b, r->high > INT64_MAX ? INT64_MAX : r->high);
	}
	bulk_int(b, r->count);
	bulk_int(b, r->sum);
	err = bulk_row(b);
	if (err || !c->adds_up || !s)
		return err;
	return add_total(c, &(struct total){capture, s->probe, s->name,
					    strings__add(l->strings, budget_name(r->key)), r->low,
					    r->high > INT64_MAX ? INT64_MAX : r->high, r->count,
					    r->sum});
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
	if (!err && c->adds_up)
		err = write_totals(l, c);
	/* A section reads the cells of a series or two, of the hundred there may be. */
	return err ? err
		   : store__exec(l->store,
				 "CREATE INDEX counter_series ON counter(probe, series);"
				 "CREATE INDEX histogram_series ON histogram(probe, series);"
				 "CREATE INDEX counter_total_series ON counter_total(probe, "
				 "series);"
				 "CREATE INDEX histogram_total_series ON "
				 "histogram_total(probe, series)");
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
	index_fini(&c->total_index);
	free(c->totals);
	free(c->spans);
	free(c->v);
	free(c);
}

const struct loader load_cell_entry = {
	.streams = (const char *const[]){"metric", NULL},
	.tables = (const char *const[]){"series", "counter", "histogram", "histogram_total",
					"counter_total", NULL},
	.begin = cell_begin,
	.rows = cell_rows,
	.finish = cell_finish,
	.free = cell_free,
};
