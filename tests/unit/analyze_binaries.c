/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbols of the host may come again and again, in any order: what is sorted in all stays within a
 * small multiple of what came, whatever it is. */
#include <stdlib.h>

static size_t sorted;

static void counting_qsort(void *v, size_t cnt, size_t sz, int (*cmp)(const void *, const void *))
{
	sorted += cnt;
	qsort(v, cnt, sz, cmp);
}

#define qsort counting_qsort
#include "analyze/load/binaries.c"
#undef qsort
#include "check.h"

static const struct rec_symbol symbol = {.binary = FRAME_BINARY_KERNEL, .size = 1};

static void add(struct binaries *b, uint64_t address)
{
	struct rec_symbol r = symbol;

	r.address = address;
	r.name = span_of("f");
	CHECK(!binaries__symbol(b, 0, &r));
}

/* So many distinct ones, then so many of one that is known. */
static void check_sorted(size_t distinct, size_t repeated)
{
	struct strings *strings;
	struct binaries *b;

	sorted = 0;
	CHECK(!strings__new(&strings) && !binaries__new(&b, strings));
	for (size_t i = 0; i < distinct; i++)
		add(b, i);
	for (size_t i = 0; i < repeated; i++)
		add(b, 7);
	CHECK(binaries__symbol_at(b, binaries__find(b, 0, FRAME_BINARY_KERNEL), distinct - 1));
	CHECK(binaries__get(b, binaries__find(b, 0, FRAME_BINARY_KERNEL))->host_cnt == distinct);

	CHECK(sorted <= 8 * (distinct + repeated), "%zu distinct: %zu", distinct, sorted);
	binaries__free(b);
	strings__free(strings);
}

int main(void)
{
	/* whatever room there is when the repetitions begin: all but full is the worst */
	for (size_t distinct = 1000; distinct < 3000; distinct++)
		check_sorted(distinct, 1000);
	check_sorted(10, 100000);
	return failed;
}
