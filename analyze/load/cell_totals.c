/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/cell_totals.h"

#include <stdlib.h>

#include "analyze/base/index.h"
#include "analyze/base/strings.h"
#include "analyze/store/bulk.h"
#include "format/text.h"

#define SECOND 1000000000ull
#define WHOLE UINT64_MAX /* one interval, which has no start_ns */
/* Rows in memory; more are written in parts, which the sections add up. */
#define ROWS_MAX (1u << 18)

static const struct total_table {
	const char *name, *insert, *index;
	bool histogram;	      /* of histograms, otherwise of counters */
	bool keys;	      /* has key; otherwise over all keys of a series */
	bool ranges;	      /* has low and high */
	uint64_t interval_ns; /* 0: that of the cells */
} tables[] = {
#define TABLE(name, params, ...)                                                                   \
	{                                                                                          \
		name, "INSERT INTO " name " VALUES(?,?,?" params ",?,?)",                          \
			"CREATE INDEX " name "_series ON " name "(probe, series)", __VA_ARGS__     \
	}
	TABLE("histogram_total", ",?,?,?", true, true, true, WHOLE),
	TABLE("histogram_minute", ",?,?,?,?", true, true, true, 60 * SECOND),
	TABLE("histogram_count", ",?,?", true, true, false, 0),
	TABLE("histogram_time", ",?,?,?", true, false, true, 0),
	TABLE("counter_total", ",?", false, true, false, WHOLE),
#undef TABLE
};
#define TABLE_CNT (sizeof(tables) / sizeof(*tables))

struct sums {
	bool wanted;
	struct index index;
	struct cell_total *v;
	size_t cnt, cap;
};

struct cell_totals {
	struct load *load;
	struct sums of[TABLE_CNT];
};

int cell_totals__new(struct cell_totals **out, struct load *l)
{
	struct cell_totals *c = calloc(1, sizeof(*c));

	*out = c;
	if (c)
		c->load = l;
	for (size_t i = 0; i < TABLE_CNT && c; i++)
		c->of[i].wanted = load__wants(l, tables[i].name);
	return c ? 0 : -ENOMEM;
}

void cell_totals__free(struct cell_totals *c)
{
	for (size_t i = 0; i < TABLE_CNT && c; i++) {
		index_fini(&c->of[i].index);
		free(c->of[i].v);
	}
	free(c);
}

bool cell_totals__any(const struct cell_totals *c)
{
	for (size_t i = 0; i < TABLE_CNT; i++)
		if (c->of[i].wanted)
			return true;
	return false;
}

static bool total_equal(const void *owner, uint32_t i, const void *key)
{
	const struct cell_total *a = &((const struct sums *)owner)->v[i], *b = key;

	return a->capture == b->capture && a->probe == b->probe && a->series == b->series &&
	       a->key == b->key && a->start_ns == b->start_ns && a->low == b->low &&
	       a->high == b->high;
}

/* Writes the rows and starts anew. */
static int flush(const struct total_table *t, struct sums *s, struct load *l)
{
	struct bulk b = {0};
	int err = bulk_open(&b, l->store, t->insert);

	for (size_t i = 0; i < s->cnt && !err; i++) {
		const struct cell_total *c = &s->v[i];

		bulk_int(&b, capture_id(c->capture));
		bulk_text(&b, strings__get(l->strings, c->probe));
		bulk_text(&b, strings__get(l->strings, c->series));
		if (t->keys)
			bulk_text(&b, strings__get(l->strings, c->key));
		if (t->interval_ns != WHOLE)
			bulk_int(&b, c->start_ns);
		if (t->ranges) {
			bulk_int(&b, c->low);
			bulk_int(&b, c->high);
		}
		bulk_int(&b, c->count);
		bulk_int(&b, c->sum);
		err = bulk_row(&b);
	}
	if (!err)
		err = bulk_flush(&b);
	bulk_close(&b);
	index_fini(&s->index);
	s->cnt = 0;
	return err;
}

static uint64_t hash_of(const struct cell_total *cell)
{
	return hash_mix(hash_mix((uint64_t)cell->capture << 32 | cell->key) ^
			((uint64_t)cell->probe << 32 | cell->series)) ^
	       hash_mix(cell->low + cell->high + cell->start_ns);
}

static int add_to(const struct total_table *t, struct sums *s, const struct cell_total *cell,
		  uint64_t hash, struct load *l)
{
	uint32_t i;
	int err;

	if (index_find(&s->index, total_equal, s, hash, cell, &i)) {
		s->v[i].count += cell->count;
		s->v[i].sum += cell->sum;
		return 0;
	}
	err = s->cnt == ROWS_MAX ? flush(t, s, l) : 0;
	if (err)
		return err;
	if (array_reserve(&s->v, &s->cap, s->cnt + 1) || index_add(&s->index, hash, s->cnt))
		return -ENOMEM;
	s->v[s->cnt++] = *cell;
	return 0;
}

/* What the table has of the cell. */
static struct cell_total part_of(const struct total_table *t, const struct cell_total *cell)
{
	struct cell_total to = *cell;

	if (t->interval_ns == WHOLE)
		to.start_ns = 0;
	else if (t->interval_ns)
		to.start_ns -= to.start_ns % t->interval_ns;
	if (!t->keys)
		to.key = 0;
	if (!t->ranges)
		to.low = to.high = 0;
	return to;
}

int cell_totals__add(struct cell_totals *c, const struct cell_total *cell)
{
	struct cell_total to[TABLE_CNT];
	uint64_t hash[TABLE_CNT];
	bool adds[TABLE_CNT];
	uint32_t entry;
	int err = 0;

	/* The tables are too large for the processor's cache: their memory is fetched side by side.
	 */
	for (size_t i = 0; i < TABLE_CNT; i++) {
		adds[i] = c->of[i].wanted && tables[i].histogram == (cell->high > 0);
		if (!adds[i])
			continue;
		to[i] = part_of(&tables[i], cell);
		hash[i] = hash_of(&to[i]);
		index_ahead(&c->of[i].index, hash[i]);
	}
	for (size_t i = 0; i < TABLE_CNT; i++)
		if (adds[i] && index_guess(&c->of[i].index, hash[i], &entry))
			__builtin_prefetch(&c->of[i].v[entry]);
	for (size_t i = 0; i < TABLE_CNT && !err; i++)
		if (adds[i])
			err = add_to(&tables[i], &c->of[i], &to[i], hash[i], c->load);
	return err;
}

int cell_totals__write(struct cell_totals *c)
{
	int err = 0;

	for (size_t i = 0; i < TABLE_CNT && !err; i++) {
		if (!c->of[i].wanted)
			continue;
		err = flush(&tables[i], &c->of[i], c->load);
		if (!err)
			err = store__later(c->load->store, tables[i].index);
	}
	return err;
}
