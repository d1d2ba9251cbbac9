/* SPDX-License-Identifier: BSD-2-Clause */
/* Histogram buckets against their definition over all powers of two, and what cells have grown by
 * when they are read in any order, twice, or with keys that came meanwhile. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bpf/metric.h"
#include "record/intake/cells.h"
#include "check.h"

static void check_value(uint64_t v)
{
	uint32_t b = metric_bucket(v);
	uint64_t low = metric_low(b), high = metric_low(b + 1);

	CHECK(b < METRIC_BUCKETS);
	CHECK(low <= v && v < high);
	if (v < METRIC_SUBS)
		CHECK(high == low + 1);
	else if (b < METRIC_BUCKETS - 1) /* the middle is within 3 % of either end */
		CHECK((high - low) * 100 <= low * 2 * 3);
}

static void test_buckets(void)
{
	for (uint64_t v = 0; v < 5000; v++)
		check_value(v);
	for (int bit = 5; bit < 64; bit++)
		for (int d = -2; d <= 2; d++) {
			check_value((1ULL << bit) + d);
			check_value((1ULL << bit) + (1ULL << (bit - 1)) + d);
		}
	CHECK(metric_low(0) == 0);
	for (uint32_t b = 1; b <= METRIC_BUCKETS; b++) /* without gaps, none empty */
		CHECK(metric_low(b) > metric_low(b - 1));
	CHECK(metric_bucket(UINT64_MAX - 1) == METRIC_BUCKETS - 1);
	CHECK(metric_bucket((1ULL << METRIC_VALUE_BITS) - 1) == METRIC_BUCKETS - 2);
}

/* Each coarse bucket begins and ends where a fine one does, and is wide enough for no more than 6
 * %. */
static void test_coarse(void)
{
	for (uint64_t v = 1; v < 1ULL << 40; v += v / 7 + 1) {
		uint32_t b = METRIC_COARSE(metric_bucket(v));
		uint64_t low = metric_low(b), high = metric_low(b + METRIC_COARSE_JOIN);

		CHECK(low <= v && v < high);
		CHECK(METRIC_COARSE(metric_bucket(high)) == b + METRIC_COARSE_JOIN);
		CHECK(v < METRIC_SUBS || (high - low) * 8 <= low);
	}
	CHECK(METRIC_COARSE(METRIC_BUCKETS - 1) == METRIC_BUCKETS - 1);
}

static void test_log2(void)
{
	CHECK(metric_log2(0) == 0);
	for (int bit = 0; bit < 64; bit++) {
		CHECK(metric_log2(1ULL << bit) == (unsigned)bit);
		CHECK(metric_log2((1ULL << bit) | ((1ULL << bit) - 1)) == (unsigned)bit);
	}
}

static struct metric_cell grown_of(struct cells *c, uint32_t series, uint64_t part, uint64_t count,
				   uint64_t sum)
{
	struct metric_key key = {.series = series, .part[3] = part};
	struct metric_cell now = {count, sum}, grown = {~0ULL, ~0ULL};

	CHECK(!cells__grown(c, &key, &now, &grown));
	return grown;
}

static void test_grown(void)
{
	struct metric_cell g;
	struct cells *c;

	CHECK(!cells__new(&c));
	g = grown_of(c, 1, 7, 3, 30);
	CHECK(g.count == 3 && g.sum == 30);
	g = grown_of(c, 1, 7, 3, 30); /* met twice in one reading */
	CHECK(g.count == 0 && g.sum == 0);
	g = grown_of(c, 2, 7, 1, 1); /* another series, the same key */
	CHECK(g.count == 1);
	g = grown_of(c, 1, 7, 4, 30); /* the count was read before its sum */
	CHECK(g.count == 1 && g.sum == 0);
	g = grown_of(c, 1, 7, 4, 44);
	CHECK(g.count == 0 && g.sum == 14);
	cells__free(c);
}

/* As many as make the table grow several times; each is known again. */
static void test_many(void)
{
	enum { KEYS = 20000, ROUNDS = 3 };
	uint64_t sum = 0;
	struct cells *c;

	CHECK(!cells__new(&c));
	for (uint64_t round = 1; round <= ROUNDS; round++)
		for (uint64_t k = 0; k < KEYS; k++)
			sum += grown_of(c, k % 3, k, round * k, 0).count;
	CHECK(sum == (uint64_t)ROUNDS * KEYS * (KEYS - 1) / 2);
	cells__free(c);
}

/* A cell in several places is added up; a clear forgets all but keeps working. */
static void test_add(void)
{
	enum { KEYS = 5000, PLACES = 3 };
	struct metric_key key = {0};
	struct metric_cell sum;
	uint64_t seen = 0, count = 0, total = 0;
	struct cells *c;

	CHECK(!cells__new(&c));
	for (int round = 0; round < 2; round++) {
		cells__clear(c);
		seen = count = total = 0;
		for (uint64_t i = 0; i < KEYS * PLACES; i++) {
			key.part[1] = i % KEYS;
			CHECK(!cells__add(c, &key, &(struct metric_cell){1, i % KEYS}));
		}
		for (size_t i = 0; cells__next(c, &i, &key, &sum); seen++) {
			CHECK(sum.count == PLACES && sum.sum == PLACES * key.part[1]);
			count += sum.count;
			total += key.part[1];
		}
		CHECK(seen == KEYS && count == KEYS * PLACES &&
		      total == (uint64_t)KEYS * (KEYS - 1) / 2);
	}
	cells__clear(c);
	seen = 0;
	CHECK(!cells__next(c, &(size_t){0}, &key, &sum));
	cells__free(c);
}

/* Keys that differ in one part only are spread over all slots. */
static void test_own_slots(void)
{
	enum { KEYS = METRIC_OWN_SLOTS / 2 };
	static unsigned char used[METRIC_OWN_SLOTS];

	for (int part = 0; part < METRIC_KEY_PARTS + 1; part++) {
		unsigned distinct = 0;

		memset(used, 0, sizeof(used));
		for (uint64_t i = 0; i < KEYS; i++) {
			struct metric_key key = {.series = 7};
			uint32_t slot;

			if (part < METRIC_KEY_PARTS)
				key.part[part] = i;
			else
				key.bucket = i;
			slot = metric_own_slot(&key);
			CHECK(slot < METRIC_OWN_SLOTS);
			distinct += !used[slot];
			used[slot] = 1;
		}
		CHECK(distinct > KEYS / 2); /* 79 % of them when spread at random */
	}
}

int main(void)
{
	test_buckets();
	test_coarse();
	test_add();
	test_own_slots();
	test_log2();
	test_grown();
	test_many();
	return failed;
}
