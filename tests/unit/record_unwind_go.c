/* SPDX-License-Identifier: BSD-2-Clause */
/* Go's stack depth tables: rows of a function, and tables that are missing, cut short or wrong. */
#include <errno.h>
#include <stdlib.h>

#include "record/unwind/unwind_go.h"
#include "check.h"

enum { START = 0x1000 };

/* Position 0 is not a table. Depths are zigzag-encoded differences, from -1 on, each with the
 * number of bytes of code. */
static const uint8_t tables[] = {
	0,
	/* 1: depth 0 for 4 bytes, 8 for 12, 0 for the rest */
	2,
	4,
	16,
	12,
	15,
	16,
	0,
	/* 8: ends early */
	2,
	4,
	0,
	/* 11: no code */
	2,
	0,
	/* 13: depth 0, then more than the function has */
	2,
	4,
	16,
	0x40,
};

static int run(uint64_t pcsp, enum go_kind kind, struct cfi_rows *rows, uint64_t steps)
{
	struct go_table g = {.all = {tables, tables + sizeof(tables), false},
			     .version = 20,
			     .steps_left = steps};
	struct go_function f = {START, START + 32, kind, pcsp, "", 0};

	return go_table__run(&g, &f, rows);
}

static void row(const struct cfi_rows *rows, size_t i, unsigned at, unsigned cfa, int off)
{
	CHECK(i < rows->cnt && rows->v[i].address == START + at, "row %zu", i);
	CHECK(i < rows->cnt && rows->v[i].rule.cfa == cfa, "row %zu", i);
	CHECK(i < rows->cnt && rows->v[i].rule.off == off, "row %zu", i);
}

int main(void)
{
	struct cfi_rows rows = {0};

	CHECK(!run(1, GO_NORMAL, &rows, 100) && rows.cnt == 3);
	row(&rows, 0, 0, CFA_REG, 8);
	row(&rows, 1, 4, CFA_REG, 16);
	row(&rows, 2, 16, CFA_REG, 8);
	CHECK(!run(8, GO_NORMAL, &rows, 100) && rows.cnt == 1);
	CHECK(!run(0, GO_NORMAL, &rows, 100) && rows.cnt == 1);
	row(&rows, 0, 0, CFA_BAD, 0);
	CHECK(!run(0, GO_OUTERMOST, &rows, 100) && rows.cnt == 1);
	row(&rows, 0, 0, CFA_END, 0);
	CHECK(run(11, GO_NORMAL, &rows, 100) == -EBADMSG);
	CHECK(run(13, GO_NORMAL, &rows, 100) == -EBADMSG);
	CHECK(run(sizeof(tables), GO_NORMAL, &rows, 100) == -EBADMSG);
	CHECK(run(1, GO_NORMAL, &rows, 2) == -EBADMSG);
	free(rows.v);
	return failed;
}
