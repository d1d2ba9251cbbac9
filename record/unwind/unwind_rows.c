/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "record/unwind/unwind_rows.h"

static int push_row(struct unwind_table *t, uint32_t low, uint32_t rule)
{
	if (t->row_cnt == t->row_cap) {
		size_t cap = t->row_cap ? t->row_cap + t->row_cap / 2 : 1024;
		uint32_t *r = realloc(t->rows, cap * sizeof(*r));

		if (!r)
			return -ENOMEM;
		t->rows = r;
		t->row_cap = cap;
	}
	t->rows[t->row_cnt++] = low << 16 | rule;
	t->pages[t->page_cnt - 1].cnt++;
	return 0;
}

/* Opens pages up to that of the address. Each begins with the current rule unless that is
 * RULE_ID_NONE. */
static int pages_until(struct row_writer *w, uint64_t address)
{
	struct unwind_table *t = w->t;
	uint64_t page = address >> PAGE_SHIFT_ELF;

	while (t->first_page + t->page_cnt <= page) {
		if (t->page_cnt == t->page_cap)
			return -ERANGE;
		t->pages[t->page_cnt++] = (struct unwind_page){t->row_cnt, 0};
		if (w->current && push_row(t, 0, w->current))
			return -ENOMEM;
	}
	return 0;
}

int row_writer__init(struct row_writer *w, struct unwind_table *t, uint64_t first, uint64_t end)
{
	memset(w, 0, sizeof(*w));
	w->t = t;
	if (end < first || (end >> PAGE_SHIFT_ELF) - (first >> PAGE_SHIFT_ELF) >= ROWS_PAGES_MAX)
		return -ERANGE;
	t->first_page = first >> PAGE_SHIFT_ELF;
	t->page_cap = (end >> PAGE_SHIFT_ELF) - t->first_page + 1;
	t->pages = calloc(t->page_cap, sizeof(*t->pages));
	if (!t->pages)
		return -ENOMEM;
	return rule_set__init(&w->rules);
}

int row_writer__add(struct row_writer *w, uint64_t address, const struct rule *rule)
{
	struct unwind_table *t = w->t;
	struct unwind_page *page;
	uint32_t id, low = address & 0xffff;
	bool again = t->row_cnt && address == w->last;
	int err;

	err = rule_set__intern(&w->rules, rule, &id);
	if (err || (id == w->current && !again))
		return err;
	err = pages_until(w, address);
	if (err)
		return err;
	t->unsupported_cnt += id == RULE_ID_BAD;
	w->current = id;
	w->last = address;
	page = &t->pages[t->page_cnt - 1];
	if (page->cnt &&
	    t->rows[t->row_cnt - 1] >> 16 == low) { /* the previous row turned out to be empty */
		t->rows[t->row_cnt - 1] = low << 16 | id;
		return 0;
	}
	if (!page->cnt && low && push_row(t, 0, 0))
		return -ENOMEM;
	return push_row(t, low, id);
}

void row_writer__finish(struct row_writer *w)
{
	struct unwind_table *t = w->t;
	uint32_t *rows = t->row_cnt ? realloc(t->rows, t->row_cnt * sizeof(*rows)) : NULL;

	if (rows)
		t->rows = rows;
	t->rule_cnt = w->rules.cnt;
	t->rules = rule_set__take(&w->rules);
}

void row_writer__fini(struct row_writer *w)
{
	rule_set__fini(&w->rules);
}
