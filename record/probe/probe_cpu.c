/* SPDX-License-Identifier: BSD-2-Clause */
/* On-CPU sampling (bpf/probe/cpu.bpf.c) of all processes; the BPF program filters targets. */
#include <ctype.h>
#include <json-c/json.h>
#include <stdio.h>

#include "bpf/wire.h"
#include "format/records.h"
#include "obrec.skel.h"
#include "record/probe/cpu_budget.h"
#include "record/probe/hooks.h"
#include "record/probe/perf_event_name.h"
#include "record/probe/perf_events.h"
#include "record/probe/probe.h"
#include "record/probe/probe_cpu.h"

extern const struct probe probe_cpu_entry;

static const struct hook by_cycles[] = {HOOK("cpu_sample", "cycles", HOOK_PERF), {0}};
static const struct hook by_clock[] = {HOOK("cpu_sample", "clock", HOOK_PERF), {0}};

static const struct variant variants[] = {
	{"cycles", "hardware cycle counter", NULL, by_cycles},
	{"clock", "the kernel's cpu-clock timer", NULL, by_clock},
	{"event", "with option event only: any of the hardware counters and software events", NULL,
	 NULL},
	{0},
};

static const struct probe_option options[] = {
	OPTION("freq", PROBE_COUNT, 99, "samples per second and CPU (default 99)", .min = 1,
	       .max = 20000, .takes = "a number of samples per second from 1 to 20000",
	       .key = "freq", .alias = {ALIAS("freq", 'F', "HZ")}),
	OPTION("event", PROBE_WORD, 0,
	       "sample this event instead of time, by perf's name: cache-misses, page-faults, "
	       "r1c2, "
	       "...; its samples are of a kind of its own",
	       .takes = "the name of an event, as in cache-misses, page-faults, r1c2",
	       .parse = perf_event_parse, .variant = "event"),
	OPTION("period", PROBE_COUNT, 0, "of an event: one sample per this many events and CPU",
	       .min = 1, .takes = "a number, from 1"),
	{0},
};

static uint64_t event_of(const struct record_opts *opts)
{
	return probe_option(opts, &probe_cpu_entry, "event");
}

bool probe_cpu_event_kind(const struct record_opts *opts, struct event_kind *to)
{
	uint64_t event = event_of(opts);

	if (!event)
		return false;
	perf_event_name(event, to->name);
	snprintf(to->title, sizeof(to->title), "Samples of %s", to->name);
	perf_event_unit(event, to->unit);
	for (char *c = to->name; *c; c++)
		*c = *c == ':' ? '-' : tolower((unsigned char)*c);
	for (char *c = to->title; *c; c++)
		*c = *c == ':' ? ' ' : *c;
	to->kind = (struct rec_sample_kind){.name = to->name,
					    .title = to->title,
					    .unit = to->unit,
					    .count_name = "sampled",
					    .number = SAMPLE_event};
	return true;
}

static const char *conflict(const struct record_opts *opts)
{
	if (probe_option(opts, &probe_cpu_entry, "period") && !event_of(opts))
		return "option 'period' of probe 'cpu' requires option 'event'";
	return NULL;
}

static void describe(const struct record_opts *opts, struct json_object *to)
{
	char name[PERF_EVENT_NAME_LEN];

	if (!event_of(opts))
		return;
	json_object_object_add(to, "event",
			       json_object_new_string(perf_event_name(event_of(opts), name)));
	json_object_object_add(
		to, "event_period",
		json_object_new_uint64(probe_option(opts, &probe_cpu_entry, "period")));
}

static bool possible(const struct record_opts *opts, const struct features *f, char *why,
		     size_t why_sz)
{
	return !event_of(opts) || perf_event_possible(event_of(opts), f, why, why_sz);
}

static int prepare(struct probe_env *env)
{
	env->skel->rodata->cpu_period_ns =
		1000000000ULL / probe_env__option(env, &probe_cpu_entry, "freq");
	env->skel->rodata->cpu_by_event = event_of(env->opts);
	env->skel->rodata->cpu_event_period = probe_env__option(env, &probe_cpu_entry, "period");
	if (!event_of(env->opts))
		return 0;
	return bpf_program__set_autoload(env->skel->progs.cpu_sample, true);
}

static int attach(struct probe_env *env)
{
	uint64_t period = probe_env__option(env, &probe_cpu_entry, "period");

	if (!event_of(env->opts))
		return 0;
	return perf_events_sample(&env->links, env->skel->progs.cpu_sample, event_of(env->opts),
				  period,
				  period ?: probe_env__option(env, &probe_cpu_entry, "freq"));
}

static void thin(struct probe_env *env, unsigned level)
{
	env->skel->bss->cpu_thin = level;
}

static const struct lever lever = {
	.name = "cpu",
	.end = 10,
	.wire = WIRE_SAMPLE,
	.sample = SAMPLE_cpu,
	.or_sample = SAMPLE_event,
	.programs = (const struct lever_program[]){{.prefix = "cpu_"}, {0}},
};

const struct probe probe_cpu_entry = {
	.name = "cpu",
	.urgent = true,
	.variants = variants,
	.options = options,
	.conflict = conflict,
	.describe = describe,
	.lever = &lever,
	.possible = possible,
	.prepare = prepare,
	.attach = attach,
	.thin = thin,
};
