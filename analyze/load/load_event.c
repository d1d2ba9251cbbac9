/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads events of all kinds into the tables made by event_tables.c. */
#include "analyze/load/load.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/base/load_budget.h"
#include "analyze/load/event_tables.h"
#include "analyze/store/bulk.h"
#include "format/record.h"
#include "format/text.h"

/* Maps the rows of a kind in one capture to a table. Set up at its first row. */
struct event_map {
	bool found;
	int table; /* -1: not wanted */
	const struct rec_field *ts, *thread, *user_stack, *kernel_stack;
	const struct rec_field *own[EVENT_COLUMNS_MAX]; /* NULL: not in this capture */
};

struct event_load {
	uint64_t (*spans)[2];
	struct event_map *maps; /* by capture and kind */
	struct bulk *bulks;	/* by table */
	size_t table_cnt;
};

static bool event_wanted(const struct load *l)
{
	for (size_t i = 0; i < event_tables__cnt(l->events); i++)
		if (load__wants(l, event_tables__get(l->events, i)->name))
			return true;
	return false;
}

/* Stacks are loaded only if the column is read, since they need everything that stacks
 * consist of. */
static int event_need(struct load *l)
{
	return load__wants(l, "stack_id") || load__wants(l, "stack")
		       ? name_set_add(&l->wanted, "stack")
		       : 0;
}

static int event_begin(struct load *l, void **state)
{
	size_t tables = event_tables__cnt(l->events), captures = l->captures->cnt;
	struct event_load *e = calloc(1, sizeof(*e));

	*state = e;
	if (!e)
		return -ENOMEM;
	e->spans = calloc(captures + 1, sizeof(*e->spans));
	e->maps = calloc(captures * REC_KIND_MAX + 1, sizeof(*e->maps));
	e->bulks = calloc(tables + 1, sizeof(*e->bulks));
	e->table_cnt = tables;
	if (!e->spans || !e->maps || !e->bulks)
		return -ENOMEM;
	for (size_t i = 0; i < captures; i++)
		load__span(l, i, e->spans[i]);
	return 0;
}

static const struct rec_field *field_of(const struct rec_info *info, const char *name)
{
	for (unsigned i = 0; i < info->field_cnt; i++)
		if (!strcmp(info->fields[i].name, name))
			return &info->fields[i];
	return NULL;
}

static const struct rec_field *number_of(const struct rec_info *info, const char *name)
{
	const struct rec_field *f = field_of(info, name);

	return f && (f->type == REC_T_u32 || f->type == REC_T_u64) ? f : NULL;
}

static int open_table(struct load *l, struct bulk *bulk, const struct event_table *t)
{
	struct strbuf b = {0};
	int err;

	if (bulk->columns)
		return 0;
	strbuf_addf(&b, "INSERT INTO %s VALUES(?,?,?,?,?", t->name);
	for (unsigned i = 0; i < t->column_cnt; i++)
		strbuf_addf(&b, ",?");
	strbuf_addf(&b, ")");
	err = b.failed ? -ENOMEM : bulk_open(bulk, l->store, b.p);
	strbuf_fini(&b);
	return err;
}

static int find_map(struct load *l, struct event_load *e, struct event_map *m,
		    const struct rec_info *info)
{
	const struct event_table *t;

	m->found = true;
	m->table = event_tables__find(l->events, info->name);
	if (m->table < 0)
		return 0;
	t = event_tables__get(l->events, m->table);
	if (!load__wants(l, t->name)) {
		m->table = -1;
		return 0;
	}
	m->ts = number_of(info, "ts_ns");
	m->thread = number_of(info, "thread");
	m->user_stack = number_of(info, "user_stack");
	m->kernel_stack = number_of(info, "kernel_stack");
	for (unsigned i = 0; i < t->column_cnt; i++)
		m->own[i] = field_of(info, t->columns[i].field);
	return open_table(l, &e->bulks[m->table], t);
}

static uint64_t number(const uint8_t *row, const struct rec_field *f)
{
	uint32_t v;
	uint64_t wide;

	if (!f)
		return 0;
	if (f->type == REC_T_u32) {
		memcpy(&v, row + f->offset, sizeof(v));
		return v;
	}
	memcpy(&wide, row + f->offset, sizeof(wide));
	return wide;
}

static void put_field(struct bulk *b, const uint8_t *row, const struct rec_field *f)
{
	if (!f)
		bulk_null(b);
	else if (f->type == REC_T_str)
		bulk_span(b, budget_name(*(const struct span *)(row + f->offset)));
	else
		bulk_int(b, number(row, f));
}

enum { OVERLAP_EVENT = 0x10000 }; /* numbers of tables are behind those of sample kinds */

static int add_event(struct load *l, struct event_load *e, const struct event_map *m,
		     uint32_t capture, const uint8_t *row)
{
	const struct event_table *t = event_tables__get(l->events, m->table);
	struct bulk *b = &e->bulks[m->table];
	uint64_t ts_ns = number(row, m->ts) + l->captures->v[capture].to_realtime;
	uint32_t user = number(row, m->user_stack), kernel = number(row, m->kernel_stack);

	if (ts_ns < e->spans[capture][0] || ts_ns >= e->spans[capture][1])
		return 0;
	if (!overlap__counts(l->overlap, capture, OVERLAP_EVENT + m->table, number(row, m->thread),
			     number(row, m->ts), 1))
		return 0;
	bulk_int(b, capture_id(capture));
	bulk_int(b, ts_ns);
	if (number(row, m->thread))
		bulk_int(b, capture_row(capture, number(row, m->thread)));
	else
		bulk_null(b);
	if ((user || kernel) && l->stack_row)
		bulk_int(b, l->stack_row(l, capture, user, kernel));
	else
		bulk_null(b);
	bulk_null(b);
	for (unsigned i = 0; i < t->column_cnt; i++)
		put_field(b, row, m->own[i]);
	return bulk_row(b);
}

static int event_rows(struct load *l, void *state, uint32_t capture, enum rec_kind kind,
		      const void *rows, size_t cnt)
{
	const struct rec_info *info = obz_reader__info(l->captures->v[capture].reader, kind);
	struct event_load *e = state;
	struct event_map *m = &e->maps[(size_t)capture * REC_KIND_MAX + kind];
	int err = 0;

	if (!info || strcmp(info->stream, REC_EVENT_STREAM))
		return 0;
	if (!m->found)
		err = find_map(l, e, m, info);
	for (size_t i = 0; m->table >= 0 && i < cnt && !err; i++)
		err = add_event(l, e, m, capture, (const uint8_t *)rows + i * info->sz);
	return err;
}

static int event_finish(struct load *l, void *state)
{
	struct event_load *e = state;
	int err = 0;

	for (size_t i = 0; i < event_tables__cnt(l->events) && !err; i++)
		if (e->bulks[i].columns)
			err = bulk_flush(&e->bulks[i]);
	return err;
}

static void event_free(void *state)
{
	struct event_load *e = state;

	if (!e)
		return;
	for (size_t i = 0; e->bulks && i < e->table_cnt; i++)
		bulk_close(&e->bulks[i]);
	free(e->spans);
	free(e->maps);
	free(e->bulks);
	free(e);
}

const struct loader load_event_entry = {
	/* identity: see overlap.h */
	.streams = (const char *const[]){"identity", REC_EVENT_STREAM, NULL},
	.tables = (const char *const[]){NULL},
	.wanted = event_wanted,
	.need = event_need,
	.begin = event_begin,
	.rows = event_rows,
	.finish = event_finish,
	.free = event_free,
};
