/* SPDX-License-Identifier: BSD-2-Clause */
/* Surges in counts of a second each, and calls added up by time. */
#include <math.h>
#include <stdlib.h>

#include "analyze/traffic/rates.h"
#include "analyze/traffic/surge.h"
#include "check.h"

enum { CNT = 100 };

/* A deterministic stand-in for chance: -1 to 1. */
static double noise(unsigned i)
{
	uint32_t x = i * 2654435761u;

	x ^= x >> 15;
	x *= 2246822519u;
	x ^= x >> 13;
	return x / 2147483648.0 - 1;
}

static double steady(unsigned i)
{
	return 60 + 8 * noise(i);
}

static double doubled(unsigned i)
{
	return (i < 40 ? 60 : 120) + 8 * noise(i);
}

static double burst(unsigned i)
{
	return i == 70 ? 300 : 20;
}

static double for_a_while(unsigned i)
{
	return i >= 30 && i < 45 ? 200 + 14 * noise(i) : 50 + 7 * noise(i);
}

static double new_caller(unsigned i)
{
	return i < 90 ? 0 : 10;
}

static double stopped(unsigned i)
{
	return i < 50 ? 80 : 0;
}

static double periodic(unsigned i)
{
	return i % 10 ? 0 : 100;
}

static double restless(unsigned i)
{
	return 1000 + 900 * noise(i);
}

static double slightly(unsigned i)
{
	return i < 50 ? 10000 : 11000;
}

static double few(unsigned i)
{
	return i == 50 ? 15 : 0;
}

static double nothing(unsigned i)
{
	return 0 * i;
}

static const struct {
	const char *name;
	double (*count)(unsigned i);
	bool found;
	unsigned from, to;
	double before, after;
} cases[] = {
	{.name = "steady", .count = steady},
	{"doubled", doubled, true, 40, 100, 60, 120},
	{"burst of a second", burst, true, 70, 71, 20, 300},
	{"for a while", for_a_while, true, 30, 45, 50, 200},
	{"new caller", new_caller, true, 90, 100, 0, 10},
	{.name = "stopped: none rose", .count = stopped},
	{.name = "periodic", .count = periodic},
	{.name = "restless", .count = restless},
	{.name = "by a tenth only", .count = slightly},
	{.name = "too few", .count = few},
	{.name = "nothing", .count = nothing},
};

static void find_surges(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double counts[CNT];
		struct surge s = {0};
		bool found;

		for (unsigned k = 0; k < CNT; k++)
			counts[k] = cases[i].count(k);
		found = surge_find(counts, CNT, &s);
		CHECK(found == cases[i].found, "%s", cases[i].name);
		CHECK(!found || (s.from == cases[i].from && s.to == cases[i].to), "%s: %u to %u",
		      cases[i].name, s.from, s.to);
		CHECK(!found || (fabs(s.before - cases[i].before) <= 3 &&
				 fabs(s.after - cases[i].after) <= 5),
		      "%s: %g, %g", cases[i].name, s.before, s.after);
		CHECK(!surge_find(counts, 3, &s) && !surge_find(counts, 0, &s), "%s: too short",
		      cases[i].name);
	}
}

static double sum_of(const struct rates *r)
{
	double sum = 0;

	for (size_t i = 0; i < rates__cnt(r); i++)
		for (int k = 0; k < RATE_SLOTS; k++)
			sum += rates__get(r, i)->calls[k];
	return sum;
}

/* Whatever the length and the number of clients, nothing gets lost and all stays bounded. */
static void add_up(void)
{
	struct rate_key key = {.client = 1, .server = 2, .protocol = 3};
	struct rates *r;

	CHECK(!rates__new(&r, 1000));
	for (uint64_t second = 0; second < 500; second++)
		CHECK(!rates__add(r, &key, 1000 + second * 1000000000, 2, 1));
	CHECK(rates__interval_ns(r) == 8000000000ull, "%llu",
	      (unsigned long long)rates__interval_ns(r));
	CHECK(rates__get(r, 0)->calls[0] == 16 && rates__get(r, 0)->errors[61] == 8 &&
	      rates__get(r, 0)->calls[62] == 8 && rates__get(r, 0)->calls[63] == 0);
	CHECK(!rates__add(r, &key, 0, 1, 0) && rates__get(r, 0)->calls[0] == 17,
	      "before the start");
	CHECK(!rates__add(r, &key, UINT64_MAX, 1, 0) && sum_of(r) == 1002, "%g", sum_of(r));
	for (uint32_t i = 0; i < 5 * RATE_MAX; i++) {
		key = (struct rate_key){.client = i + 10, .server = i / 2 + 10, .protocol = 3};
		CHECK(!rates__add(r, &key, 5000, 1, 0));
	}
	CHECK(rates__cnt(r) <= 2 * RATE_MAX + 1 && sum_of(r) == 1002 + 5 * RATE_MAX, "%zu, %g",
	      rates__cnt(r), sum_of(r));
	rates__free(r);
}

int main(void)
{
	find_surges();
	add_up();
	return failed;
}
