/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/probe/perf_event_name.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HARDWARE(config) PERF_EVENT(PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config)
#define SOFTWARE(config) PERF_EVENT(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config)

/* The first name of an event is the one that is shown. */
static const struct {
	const char *name;
	uint64_t event;
} named[] = {
	{"cycles", HARDWARE(CPU_CYCLES)},
	{"cpu-cycles", HARDWARE(CPU_CYCLES)},
	{"instructions", HARDWARE(INSTRUCTIONS)},
	{"cache-references", HARDWARE(CACHE_REFERENCES)},
	{"cache-misses", HARDWARE(CACHE_MISSES)},
	{"branches", HARDWARE(BRANCH_INSTRUCTIONS)},
	{"branch-instructions", HARDWARE(BRANCH_INSTRUCTIONS)},
	{"branch-misses", HARDWARE(BRANCH_MISSES)},
	{"bus-cycles", HARDWARE(BUS_CYCLES)},
	{"stalled-cycles-frontend", HARDWARE(STALLED_CYCLES_FRONTEND)},
	{"idle-cycles-frontend", HARDWARE(STALLED_CYCLES_FRONTEND)},
	{"stalled-cycles-backend", HARDWARE(STALLED_CYCLES_BACKEND)},
	{"idle-cycles-backend", HARDWARE(STALLED_CYCLES_BACKEND)},
	{"ref-cycles", HARDWARE(REF_CPU_CYCLES)},
	{"cpu-clock", SOFTWARE(CPU_CLOCK)},
	{"task-clock", SOFTWARE(TASK_CLOCK)},
	{"page-faults", SOFTWARE(PAGE_FAULTS)},
	{"faults", SOFTWARE(PAGE_FAULTS)},
	{"context-switches", SOFTWARE(CONTEXT_SWITCHES)},
	{"cs", SOFTWARE(CONTEXT_SWITCHES)},
	{"cpu-migrations", SOFTWARE(CPU_MIGRATIONS)},
	{"migrations", SOFTWARE(CPU_MIGRATIONS)},
	{"minor-faults", SOFTWARE(PAGE_FAULTS_MIN)},
	{"major-faults", SOFTWARE(PAGE_FAULTS_MAJ)},
	{"alignment-faults", SOFTWARE(ALIGNMENT_FAULTS)},
	{"emulation-faults", SOFTWARE(EMULATION_FAULTS)},
};

enum { NAMED_CNT = sizeof(named) / sizeof(*named) };

/* By PERF_COUNT_HW_CACHE_*; as `perf list` has them. */
static const char *const caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
				     "iTLB",	  "branch",    "node"};
static const char *const operations[] = {"load", "store", "prefetch"};
static const char *const results[][2] = {{"s", "-misses"}, {"s", "-misses"}, {"es", "-misses"}};

enum { CACHE_CNT = sizeof(caches) / sizeof(*caches), OPERATION_CNT = 3 };

static uint64_t cache_event(unsigned cache, unsigned operation, unsigned result)
{
	return PERF_EVENT(PERF_TYPE_HW_CACHE, cache | operation << 8 | result << 16);
}

static void cache_name(unsigned cache, unsigned operation, unsigned result, char *name, size_t sz)
{
	snprintf(name, sz, "%s-%s%s", caches[cache], operations[operation],
		 results[operation][result]);
}

static bool is_word(const char *name, const char *word, size_t len)
{
	return strlen(name) == len && !strncasecmp(name, word, len);
}

static bool parse_cache(const char *word, size_t len, uint64_t *event)
{
	char name[PERF_EVENT_NAME_LEN];

	for (unsigned i = 0; i < CACHE_CNT * OPERATION_CNT * 2; i++) {
		unsigned cache = i / (OPERATION_CNT * 2), operation = i / 2 % OPERATION_CNT;

		cache_name(cache, operation, i % 2, name, sizeof(name));
		if (is_word(name, word, len)) {
			*event = cache_event(cache, operation, i % 2);
			return true;
		}
	}
	return false;
}

static bool parse_raw(const char *word, size_t len, uint64_t *event)
{
	uint64_t config = 0;

	if (len < 2 || len > 1 + 16 || *word != 'r')
		return false;
	for (size_t i = 1; i < len; i++) {
		int c = tolower((unsigned char)word[i]);

		if (!isxdigit(c))
			return false;
		config = config << 4 | (uint64_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
	}
	*event = PERF_EVENT(PERF_TYPE_RAW, config);
	return config == PERF_EVENT_CONFIG(config);
}

int perf_event_parse(const char *name, uint64_t *event)
{
	const char *colon = strchr(name, ':');
	size_t len = colon ? (size_t)(colon - name) : strlen(name);
	uint64_t mode = 0;

	if (colon && strcmp(colon, ":u") && strcmp(colon, ":k"))
		return -EINVAL;
	if (colon)
		mode = colon[1] == 'u' ? PERF_EVENT_USER : PERF_EVENT_KERNEL;
	for (unsigned i = 0; i < NAMED_CNT; i++)
		if (is_word(named[i].name, name, len)) {
			*event = named[i].event | mode;
			return 0;
		}
	if (!parse_cache(name, len, event) && !parse_raw(name, len, event))
		return -EINVAL;
	*event |= mode;
	return 0;
}

const char *perf_event_name(uint64_t event, char name[PERF_EVENT_NAME_LEN])
{
	uint64_t of = event & ~(PERF_EVENT_USER | PERF_EVENT_KERNEL),
		 config = PERF_EVENT_CONFIG(of);
	size_t len;

	snprintf(name, PERF_EVENT_NAME_LEN, "r%llx", (unsigned long long)config);
	if (PERF_EVENT_TYPE(of) == PERF_TYPE_HW_CACHE)
		cache_name(config & 0xff, config >> 8 & 0xff, config >> 16 & 1, name,
			   PERF_EVENT_NAME_LEN);
	for (unsigned i = NAMED_CNT; i--;)
		if (named[i].event == of)
			snprintf(name, PERF_EVENT_NAME_LEN, "%s", named[i].name);
	len = strlen(name);
	if (of != event)
		snprintf(name + len, PERF_EVENT_NAME_LEN - len, ":%c",
			 event & PERF_EVENT_USER ? 'u' : 'k');
	return name;
}

bool perf_event_is_clock(uint64_t event)
{
	return PERF_EVENT_TYPE(event) == PERF_TYPE_SOFTWARE &&
	       PERF_EVENT_CONFIG(event) <= PERF_COUNT_SW_TASK_CLOCK;
}

bool perf_event_is_hardware(uint64_t event)
{
	return PERF_EVENT_TYPE(event) != PERF_TYPE_SOFTWARE;
}

const char *perf_event_unit(uint64_t event, char unit[PERF_EVENT_NAME_LEN])
{
	char name[PERF_EVENT_NAME_LEN], *last;

	if (perf_event_is_clock(event))
		return strcpy(unit, "ns");
	if (PERF_EVENT_TYPE(event) == PERF_TYPE_RAW)
		return strcpy(unit, "events");
	perf_event_name(event & ~(PERF_EVENT_USER | PERF_EVENT_KERNEL), name);
	/* of stalled-cycles-frontend the second word */
	last = PERF_EVENT_TYPE(event) == PERF_TYPE_HARDWARE && strstr(name, "-cycles-")
		       ? strcpy(name, "cycles")
		       : strrchr(name, '-');
	return strcpy(unit, !last ? name : *last == '-' ? last + 1 : last);
}

uint64_t perf_event_scaled(uint64_t counted, uint64_t enabled_ns, uint64_t running_ns)
{
	if (!running_ns || enabled_ns <= running_ns)
		return running_ns ? counted : 0;
	return (uint64_t)((double)counted * enabled_ns / running_ns + 0.5);
}
