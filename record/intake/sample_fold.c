/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "record/intake/sample_fold.h"

/* If an interval has more distinct rows, they are written early to bound memory. */
enum { MAX_ROWS = 65536, SLOTS = 2 * MAX_ROWS };

struct fold {
	struct obz_writer *writer;
	uint64_t interval_ns;
	uint64_t ends_ns; /* end of the current interval */
	struct rec_sample *rows;
	uint32_t *slots; /* row + 1, 0: free; open addressing */
	uint32_t cnt;
};

int fold__new(struct fold **out, struct obz_writer *writer, uint64_t interval_ns)
{
	struct fold *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->writer = writer;
	f->interval_ns = interval_ns;
	if (interval_ns) {
		f->rows = malloc(MAX_ROWS * sizeof(*f->rows));
		f->slots = calloc(SLOTS, sizeof(*f->slots));
		if (!f->rows || !f->slots) {
			fold__free(f);
			return -ENOMEM;
		}
	}
	*out = f;
	return 0;
}

void fold__free(struct fold *f)
{
	if (!f)
		return;
	free(f->rows);
	free(f->slots);
	free(f);
}

static bool equal(const struct rec_sample *a, const struct rec_sample *b)
{
	return a->thread == b->thread && a->user_stack == b->user_stack &&
	       a->kernel_stack == b->kernel_stack && a->kind == b->kind;
}

static uint32_t slot_of(const struct rec_sample *s)
{
	uint64_t h = s->kind;

	h = (h ^ s->thread) * 0x9e3779b97f4a7c15ULL;
	h = (h ^ h >> 32 ^ s->user_stack) * 0x9e3779b97f4a7c15ULL;
	h = (h ^ h >> 32 ^ s->kernel_stack) * 0x9e3779b97f4a7c15ULL;
	return (h >> 32) % SLOTS;
}

static int write_rows(struct fold *f)
{
	int err = 0;

	/* Rows that the writer refuses are not counted as written. */
	for (uint32_t i = 0; i < f->cnt; i++) {
		int e = obz_writer__put(f->writer, REC_sample, &f->rows[i]);

		err = err ? err : e;
	}
	if (f->cnt)
		memset(f->slots, 0, SLOTS * sizeof(*f->slots));
	f->cnt = 0;
	return err;
}

int fold__add(struct fold *f, const struct rec_sample *s)
{
	struct rec_sample *row;
	uint32_t slot;
	int err = 0;

	if (!f->interval_ns)
		return obz_writer__put(f->writer, REC_sample, s);
	if (s->ts_ns >= f->ends_ns || f->cnt == MAX_ROWS)
		err = write_rows(f);
	if (s->ts_ns >= f->ends_ns)
		f->ends_ns = s->ts_ns - s->ts_ns % f->interval_ns + f->interval_ns;
	for (slot = slot_of(s); f->slots[slot]; slot = (slot + 1) % SLOTS) {
		row = &f->rows[f->slots[slot] - 1];
		if (!equal(row, s))
			continue;
		row->count += s->count;
		row->value += s->value;
		if (s->ts_ns < row->ts_ns)
			row->ts_ns = s->ts_ns;
		return err;
	}
	f->rows[f->cnt++] = *s;
	f->slots[slot] = f->cnt;
	return err;
}

int fold__flush(struct fold *f, uint64_t now_ns)
{
	return f->cnt && now_ns >= f->ends_ns ? write_rows(f) : 0;
}
