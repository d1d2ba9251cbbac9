/* SPDX-License-Identifier: BSD-2-Clause */
/* Each secret of the fuzz target's table (tests/fuzz/redact_plant.h), cut at every byte. */
#include <stdio.h>

#include "../fuzz/redact_plant.h"

#define SECRET "ZQ7XV9KJ24WQZX83"

/* Before the first cut, and behind each. */
struct cuts {
	size_t first, each;
	bool begun;
};

static size_t next(void *ctx)
{
	struct cuts *c = ctx;
	size_t n = c->begun ? c->each : c->first;

	c->begun = true;
	return n;
}

static int check(const struct planter *row, unsigned fillers, size_t first, size_t each)
{
	struct cuts cuts = {first, each, false};
	uint8_t talk[TALK_MAX];
	size_t sz = plant(talk, row, (struct planted){"a b\r\n", 5}, fillers, SECRET);

	plant_talk(row, talk, sz, next, &cuts);
	if (!plant_shows(talk, sz, SECRET))
		return 0;
	printf("%s, %u fillers, cut at %zu and each %zu:\n  ", row->name, fillers, first, each);
	for (size_t i = 0; i < sz; i++)
		printf(talk[i] >= ' ' && talk[i] <= '~' ? "%c" : "\\x%02x", talk[i]);
	printf("\n");
	return 1;
}

static int check_row(const struct planter *row)
{
	uint8_t talk[TALK_MAX];

	for (unsigned fillers = 0; fillers < 3; fillers++) {
		size_t sz = plant(talk, row, (struct planted){"a b\r\n", 5}, fillers, SECRET);

		if (!plant_shows(talk, sz, SECRET))
			printf("%s: holds no secret\n", row->name), abort();
		for (size_t first = 0; first < sz; first++)
			if (check(row, fillers, first, 0) || check(row, fillers, first, 7))
				return 1;
		if (check(row, fillers, 1, 1))
			return 1;
	}
	return 0;
}

int main(void)
{
	int failed = 0;

	for (size_t i = 0; i < PLANTER_CNT; i++)
		failed += check_row(&planters[i]);
	printf("%d planters, %d failed\n", PLANTER_CNT, failed);
	return failed != 0;
}
