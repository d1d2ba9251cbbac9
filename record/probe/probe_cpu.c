/* SPDX-License-Identifier: BSD-2-Clause */
/* On-CPU sampling (bpf/probe/cpu.bpf.c), for whoever runs; who is recorded is decided in BPF. */
#include "obrec.skel.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

static const struct hook by_cycles[] = {HOOK("cpu_sample", "cycles", HOOK_PERF), {0}};
static const struct hook by_clock[] = {HOOK("cpu_sample", "clock", HOOK_PERF), {0}};

static const struct variant variants[] = {
	{"cycles", "hardware cycle counter", NULL, by_cycles},
	{"clock", "the kernel's cpu-clock timer", NULL, by_clock},
	{0},
};

static int prepare(struct probe_env *env)
{
	env->skel->rodata->cpu_period_ns = 1000000000ULL / env->opts->freq;
	return 0;
}

const struct probe probe_cpu_entry = {
	.name = "cpu",
	.urgent = true,
	.variants = variants,
	.prepare = prepare,
};
