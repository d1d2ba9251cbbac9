/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory from the kernel's side (bpf/probe/mem.bpf.c). */
#include <unistd.h>

#include "bpf/wire.h"
#include "format/records.h"
#include "obrec.skel.h"
#include "record/probe/cpu_budget.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

extern const struct probe probe_mem_entry;

enum { CALLS = 8192, PROCESSES = 8192 }; /* at a time */

#define CALL(name)                                                                                 \
	HOOK("mem_enter_" #name, "syscalls:sys_enter_" #name, HOOK_TRACEPOINT),                    \
		HOOK("mem_exit_" #name, "syscalls:sys_exit_" #name, HOOK_TRACEPOINT)
static const struct hook hooks[] = {
	HOOK("mem_minor_fault", "minor-faults", HOOK_PERF, .rate = "period"),
	HOOK("mem_major_fault", "major-faults", HOOK_PERF, .rate = "major"),
	CALL(mmap),
	CALL(munmap),
	CALL(mremap),
	CALL(brk),
	CALL(madvise),
	HOOK("mem_rss", "kmem:rss_stat", HOOK_RAW_TP),
	{0},
};

static const struct variant variants[] = {
	{"events",
	 "perf events of page faults; syscalls:sys_enter_mmap and its like; raw_tp/rss_stat", NULL,
	 hooks},
	{0},
};

static const struct probe_option options[] = {
	OPTION("period", PROBE_COUNT, 97,
	       "minor page faults per sample and CPU (default 97); best a prime, so that no loop "
	       "of "
	       "the program keeps step with it",
	       .min = 1, .max = 1000000000, .key = "mem_period"),
	OPTION("major", PROBE_COUNT, 1, "major page faults per sample and CPU (default 1)",
	       .min = 1, .max = 1000000000, .key = "mem_major"),
	OPTION("step", PROBE_COUNT, 256,
	       "one sample per this many KiB, on average, by which a process's resident memory has "
	       "grown or shrunk (default 256; 0: none)",
	       .max = 1 << 24, .key = "mem_step"),
	{0},
};

static int prepare(struct probe_env *env)
{
	struct obrec_bpf__rodata *to = env->skel->rodata;
	uint64_t step = probe_env__option(env, &probe_mem_entry, "step");

	to->mem_period = probe_env__option(env, &probe_mem_entry, "period");
	to->mem_major = probe_env__option(env, &probe_mem_entry, "major");
	to->mem_page_sz = sysconf(_SC_PAGESIZE);
	to->mem_step = step * 1024 / to->mem_page_sz ?: 1;
	if (!step)
		bpf_program__set_autoload(env->skel->progs.mem_rss, false);
	return bpf_map__set_max_entries(env->skel->maps.mem_calls, CALLS)
		       ?: bpf_map__set_max_entries(env->skel->maps.mem_residents, PROCESSES);
}

static void thin(struct probe_env *env, unsigned level)
{
	env->skel->bss->mem_thin = level;
}

static const struct lever lever = {
	.name = "mem",
	.end = 10,
	.wire = WIRE_SAMPLE,
	.sample = SAMPLE_minflt,
	.programs = (const struct lever_program[]){{.prefix = "mem_"}, {0}},
};

const struct probe probe_mem_entry = {
	.name = "mem",
	.urgent = true,
	.variants = variants,
	.options = options,
	.lever = &lever,
	.prepare = prepare,
	.thin = thin,
};
