/* SPDX-License-Identifier: BSD-2-Clause */
/* Durations added up: percentiles exact for few, to 0.4 % for many; figures merged and weighted. */
#include "analyze/traffic/figures.h"

#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "check.h"

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool near(uint64_t got, uint64_t want)
{
	uint64_t apart = got > want ? got - want : want - got;

	return apart <= want / 250;
}

/* Against sorting them all, over eleven powers of ten. */
static void test_percentiles(size_t cnt)
{
	uint64_t *v = calloc(cnt, sizeof(*v)), x = 42, sum = 0;
	struct latency l = {0}, half[2] = {{0}, {0}};
	static const unsigned percents[] = {1, 50, 95, 99, 100};

	for (size_t i = 0; i < cnt; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		v[i] = (x >> 30) % (i % 3 ? 1000000 : 100000000000ull);
		sum += v[i];
		CHECK(!latency__add(&l, v[i]));
		CHECK(!latency__add(&half[i % 2], v[i]));
	}
	CHECK(!latency__merge(&half[0], &half[1]));
	qsort(v, cnt, sizeof(*v), by_size);
	CHECK(l.cnt == cnt && l.sum == sum && l.min == v[0] && l.max == v[cnt - 1]);
	CHECK(half[0].cnt == cnt && half[0].sum == sum);
	for (size_t i = 0; i < 5; i++) {
		uint64_t want = v[(cnt * percents[i] + 99) / 100 - 1],
			 got = latency__percentile(&l, percents[i]);

		CHECK(cnt <= 64 ? got == want : near(got, want));
		CHECK(near(latency__percentile(&half[0], percents[i]), want));
	}
	CHECK(latency__at_most(&l, v[cnt - 1]) == cnt);
	if (v[0])
		CHECK(latency__at_most(&l, 0) == 0);
	latency__fini(&l);
	latency__fini(&half[0]);
	latency__fini(&half[1]);
	free(v);
}

static void test_empty(void)
{
	struct latency l = {0};

	CHECK(latency__percentile(&l, 99) == 0);
	CHECK(latency__at_most(&l, UINT64_MAX) == 0);
	CHECK(!latency__add(&l, UINT64_MAX));
	CHECK(latency__percentile(&l, 1) == UINT64_MAX);
	latency__fini(&l);
}

/* Three callers of two methods, one of four connections kept. */
static void test_figures(void)
{
	struct figures *fine, *coarse;
	double calls = 0;
	uint64_t seen = 0;

	CHECK(!figures__new(&fine));
	for (uint32_t i = 0; i < 600; i++) {
		const struct figure_key key = {
			.service = 1, .peer = 2 + i % 3, .method = 8 + i % 2};
		const struct figure_call call = {.error = i % 10 == 0,
						 .timed = true,
						 .weight = 4,
						 .at_ns = 1000 + i,
						 .latency_ns = i,
						 .request_bytes = 10,
						 .connection_id = i + 1};

		CHECK(!figures__add(fine, &key, &call));
	}
	CHECK(figures__cnt(fine) == 6);
	CHECK(!figures__merge(&coarse, fine, BY_SERVICE | BY_METHOD));
	CHECK(figures__cnt(coarse) == 2);
	for (size_t i = 0; i < figures__cnt(coarse); i++) {
		const struct figure *g = figures__get(coarse, i);

		CHECK(!g->key.peer && g->request_bytes == 10 * g->calls);
		CHECK(g->first_ns == 1000 + (g->key.method - 8));
		CHECK(g->connection_id == (int64_t)g->key.method - 8 + 1);
		CHECK(g->errors == (g->key.method == 8 ? 240 : 0));
		calls += g->calls;
		seen += g->seen;
	}
	CHECK(calls == 2400 && seen == 600);
	CHECK(figures__find(coarse, &(struct figure_key){.service = 1, .method = 8}));
	CHECK(!figures__find(coarse, &(struct figure_key){.service = 2, .method = 8}));
	figures__free(coarse);
	figures__free(fine);
}

/* A response alone of a request that was counted: its error and its bytes, no call. */
static void test_halves(void)
{
	const struct figure_key key = {.service = 1};
	struct figure_call call = {.unpaired = true, .weight = 4, .request_bytes = 10};
	struct figures *f;
	const struct figure *g;

	CHECK(!figures__new(&f));
	CHECK(!figures__add(f, &key, &call));
	call = (struct figure_call){
		.unpaired = true, .half = true, .error = true, .weight = 4, .response_bytes = 5};
	CHECK(!figures__add(f, &key, &call));
	g = figures__get(f, 0);
	CHECK(g->calls == 4 && g->seen == 1 && g->unpaired == 4 && g->errors == 4);
	CHECK(g->request_bytes == 40 && g->response_bytes == 20);
	figures__free(f);
}

/* Names that never come twice, as somebody may send: their number is bounded, calls are not lost.
 */
static void test_names(void)
{
	const struct figure_call call = {.weight = 1};
	enum { SENT = 1200000, MOST = (1 << 20) + 8 };
	double calls = 0;
	struct figures *f;

	CHECK(!figures__new(&f));
	for (uint32_t i = 1; i <= SENT; i++) {
		CHECK(!figures__add(f, &(struct figure_key){.service = 1, .target = i}, &call));
		if (i == 1000)
			CHECK(!figures__merged(f));
	}
	CHECK(figures__merged(f) == BY_TARGET && figures__cnt(f) <= (1 << 18) + 1);
	for (uint32_t i = 1; i <= SENT; i++)
		CHECK(!figures__add(f, &(struct figure_key){.service = 1, .method = i, .target = 7},
				    &call));
	CHECK(figures__merged(f) == (BY_TARGET | BY_METHOD) && figures__cnt(f) <= MOST);
	for (size_t i = 0; i < figures__cnt(f); i++)
		calls += figures__get(f, i)->calls;
	CHECK(calls == 2 * SENT);
	figures__free(f);
}

/* To be asked for without being taken in. */
static void test_find(void)
{
	struct strings *s;
	uint32_t id;

	CHECK(!strings__new(&s));
	CHECK(!strings__find(s, span_of("GET")) && !strings__find(s, (struct span){NULL, 0}));
	id = strings__add(s, span_of("GET"));
	CHECK(id && strings__find(s, span_of("GET")) == id && !strings__find(s, span_of("PUT")));
	CHECK(strings__add(s, span_of("PUT")) == id + 1);
	strings__free(s);
}

int main(void)
{
	test_halves();
	test_names();
	test_find();
	test_percentiles(1);
	test_percentiles(64);
	test_percentiles(65);
	test_percentiles(100000);
	test_empty();
	test_figures();
	return failed;
}
