/* SPDX-License-Identifier: BSD-2-Clause */
/* On-CPU sampling (bpf/probe/cpu.bpf.c) of all processes; the BPF program filters targets. */
#include "bpf/wire.h"
#include "format/records.h"
#include "obrec.skel.h"
#include "record/probe/cpu_budget.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

extern const struct probe probe_cpu_entry;

static const struct hook by_cycles[] = {HOOK("cpu_sample", "cycles", HOOK_PERF), {0}};
static const struct hook by_clock[] = {HOOK("cpu_sample", "clock", HOOK_PERF), {0}};

static const struct variant variants[] = {
	{"cycles", "hardware cycle counter", NULL, by_cycles},
	{"clock", "the kernel's cpu-clock timer", NULL, by_clock},
	{0},
};

static const struct probe_option options[] = {
	OPTION("freq", PROBE_COUNT, 99, "samples per second and CPU (default 99)", .min = 1,
	       .max = 20000, .takes = "a number of samples per second from 1 to 20000",
	       .key = "freq", .alias = {ALIAS("freq", 'F', "HZ")}),
	{0},
};

static int prepare(struct probe_env *env)
{
	env->skel->rodata->cpu_period_ns =
		1000000000ULL / probe_env__option(env, &probe_cpu_entry, "freq");
	return 0;
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
	.programs = (const struct lever_program[]){{"cpu_", 0}, {0}},
};

const struct probe probe_cpu_entry = {
	.name = "cpu",
	.urgent = true,
	.variants = variants,
	.options = options,
	.lever = &lever,
	.prepare = prepare,
	.thin = thin,
};
