/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of perf events as perf has them, and counts scaled as perf does. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "check.h"
#include "record/probe/perf_event_name.h"

static void test_names(void)
{
	static const struct {
		const char *word, *name, *unit;
		uint64_t type, config;
	} cases[] = {
		{"cycles", "cycles", "cycles", PERF_TYPE_HARDWARE, 0},
		{"cpu-cycles", "cycles", "cycles", PERF_TYPE_HARDWARE, 0},
		{"instructions", "instructions", "instructions", PERF_TYPE_HARDWARE, 1},
		{"cache-misses", "cache-misses", "misses", PERF_TYPE_HARDWARE, 3},
		{"branch-instructions", "branches", "branches", PERF_TYPE_HARDWARE, 4},
		{"idle-cycles-frontend", "stalled-cycles-frontend", "cycles", PERF_TYPE_HARDWARE,
		 7},
		{"ref-cycles", "ref-cycles", "cycles", PERF_TYPE_HARDWARE, 9},
		{"cpu-clock", "cpu-clock", "ns", PERF_TYPE_SOFTWARE, 0},
		{"task-clock", "task-clock", "ns", PERF_TYPE_SOFTWARE, 1},
		{"faults", "page-faults", "faults", PERF_TYPE_SOFTWARE, 2},
		{"cs", "context-switches", "switches", PERF_TYPE_SOFTWARE, 3},
		{"migrations", "cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, 4},
		{"major-faults", "major-faults", "faults", PERF_TYPE_SOFTWARE, 6},
		{"alignment-faults", "alignment-faults", "faults", PERF_TYPE_SOFTWARE, 7},
		{"L1-dcache-loads", "L1-dcache-loads", "loads", PERF_TYPE_HW_CACHE, 0x000000},
		{"L1-dcache-load-misses", "L1-dcache-load-misses", "misses", PERF_TYPE_HW_CACHE,
		 0x010000},
		{"l1-icache-prefetches", "L1-icache-prefetches", "prefetches", PERF_TYPE_HW_CACHE,
		 0x000201},
		{"LLC-store-misses", "LLC-store-misses", "misses", PERF_TYPE_HW_CACHE, 0x010102},
		{"dTLB-load-misses", "dTLB-load-misses", "misses", PERF_TYPE_HW_CACHE, 0x010003},
		{"node-prefetch-misses", "node-prefetch-misses", "misses", PERF_TYPE_HW_CACHE,
		 0x010206},
		{"r1c2", "r1c2", "events", PERF_TYPE_RAW, 0x1c2},
		{"r00FF", "rff", "events", PERF_TYPE_RAW, 0xff},
		{"r3fffffffffffff", "r3fffffffffffff", "events", PERF_TYPE_RAW, (1ULL << 54) - 1},
	};
	char name[PERF_EVENT_NAME_LEN], unit[PERF_EVENT_NAME_LEN];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t event = 0, again = 0;
		int err = perf_event_parse(cases[i].word, &event);

		CHECK(!err && event && PERF_EVENT_TYPE(event) == cases[i].type &&
			      PERF_EVENT_CONFIG(event) == cases[i].config,
		      "%s", cases[i].word);
		CHECK(!strcmp(perf_event_name(event, name), cases[i].name), "%s", name);
		CHECK(!perf_event_parse(name, &again) && again == event, "%s", name);
		CHECK(!strcmp(perf_event_unit(event, unit), cases[i].unit), "%s: %s", name, unit);
		CHECK(perf_event_is_hardware(event) == (cases[i].type != PERF_TYPE_SOFTWARE));
		CHECK(perf_event_is_clock(event) == !strcmp(cases[i].unit, "ns"), "%s", name);
	}
}

static void test_modes(void)
{
	char name[PERF_EVENT_NAME_LEN], unit[PERF_EVENT_NAME_LEN];
	uint64_t both, user, kernel;

	CHECK(!perf_event_parse("cache-misses", &both) &&
	      !perf_event_parse("cache-misses:u", &user) &&
	      !perf_event_parse("cache-misses:k", &kernel));
	CHECK(user == (both | PERF_EVENT_USER) && kernel == (both | PERF_EVENT_KERNEL));
	CHECK(!strcmp(perf_event_name(user, name), "cache-misses:u"), "%s", name);
	CHECK(!strcmp(perf_event_name(kernel, name), "cache-misses:k"), "%s", name);
	CHECK(!strcmp(perf_event_unit(user, unit), "misses"), "%s", unit);
	CHECK(!perf_event_parse("rc0:u", &user) && !strcmp(perf_event_name(user, name), "rc0:u"),
	      "%s", name);
}

static void test_refused(void)
{
	static const char *const words[] = {
		"",
		"cycle",
		"cycles:",
		"cycles:x",
		"cycles:uk",
		"r",
		"rg",
		"r1c2x",
		"r40000000000000",
		"R1c2",
		"LLC",
		"LLC-load",
		"LLC-misses",
		"L2-loads",
		"node-prefetchs",
		":u",
		"cycles,instructions",
		"r00000000000000001",
	};
	uint64_t event;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		CHECK(perf_event_parse(words[i], &event) == -EINVAL, "'%s'", words[i]);
}

/* perf_counts_values__scale() of tools/lib/perf. */
static void test_scaling(void)
{
	static const struct {
		uint64_t counted, enabled_ns, running_ns, scaled;
	} cases[] = {
		{1000, 500, 500, 1000}, /* counted all the time */
		{1000, 1000, 500, 2000},
		{1000, 1000, 250, 4000},
		{10, 3, 2, 15},
		{10, 1000, 999, 10},  /* 10.01 */
		{99, 200, 199, 99},   /* 99.497 */
		{100, 200, 199, 101}, /* 100.502 */
		{0, 1000, 10, 0},
		{7, 1000, 0, 0}, /* never on the hardware */
		{7, 0, 0, 0},
		{7, 10, 11, 7},
		{1ULL << 40, 3000000000, 1000000000, 3ULL << 40},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t got = perf_event_scaled(cases[i].counted, cases[i].enabled_ns,
						 cases[i].running_ns);

		CHECK(got == cases[i].scaled, "case %zu: %llu", i, (unsigned long long)got);
	}
}

int main(void)
{
	test_names();
	test_modes();
	test_refused();
	test_scaling();
	return failed;
}
