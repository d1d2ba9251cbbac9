/* SPDX-License-Identifier: BSD-2-Clause */
/* The map against a plain table, over many puts and deletions, and its size after a burst. */
#include <stdlib.h>

#include "record/base/idmap.h"
#include "check.h"

enum { KEYS = 5000 };

static void test_against_table(void)
{
	static char values[KEYS], *want[KEYS];
	struct idmap m = {0};
	size_t cnt = 0;

	srandom(1);
	for (unsigned round = 0; round < 200000; round++) {
		/* it swells and shrinks */
		unsigned k = random() % KEYS, put = random() % 100 < (round / 20000 % 2 ? 10 : 90);
		void *was = want[k];

		if (put) {
			CHECK(!idmap_put(&m, k, &values[k]));
			want[k] = &values[k];
		} else {
			CHECK(idmap_del(&m, k) == was, "key %u", k);
			want[k] = NULL;
		}
		cnt += (want[k] != NULL) - (was != NULL);
		CHECK(m.cnt == cnt && idmap_get(&m, k) == want[k], "key %u", k);
	}
	for (unsigned k = 0; k < KEYS; k++)
		CHECK(idmap_get(&m, k) == want[k], "key %u", k);
	for (size_t i = 0; idmap_next(&m, &i);)
		cnt--;
	CHECK(!cnt, "the walk met another number");
	idmap_fini(&m);
}

static void test_shrinks(void)
{
	struct idmap m = {0};
	size_t before;

	for (uint64_t k = 0; k < 100000; k++)
		CHECK(!idmap_put(&m, k, &m));
	before = m.cap;
	for (uint64_t k = 10; k < 100000; k++) {
		CHECK(idmap_del(&m, k) == &m);
		CHECK(m.cap <= 16 || m.cnt * 4 >= m.cap, "%zu of %zu", m.cnt, m.cap);
	}
	CHECK(m.cnt == 10 && m.cap <= 32 && before > 100000, "%zu of %zu", m.cnt, m.cap);
	for (uint64_t k = 0; k < 10; k++)
		CHECK(idmap_get(&m, k) == &m);
	idmap_fini(&m);
}

int main(void)
{
	test_against_table();
	test_shrinks();
	return failed;
}
