/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory from the kernel's side (bpf/probe/mem_*.bpf.c). */
#include <bpf/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf/probe/mem.h"
#include "bpf/wire.h"
#include "format/records.h"
#include "format/text.h"
#include "obrec.skel.h"
#include "record/probe/cpu_budget.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

extern const struct probe probe_mem_entry;

enum { CALLS = 8192, PROCESSES = 8192 }; /* at a time */

#define CALL(name, exit)                                                                           \
	HOOK("mem_enter_" #name, "syscalls:sys_enter_" #name, HOOK_TRACEPOINT),                    \
		HOOK(exit, "syscalls:sys_exit_" #name, HOOK_TRACEPOINT)
#define HOOKS(minor, major)                                                                        \
	HOOK(minor, "minor-faults", HOOK_PERF, .rate = "period"),                                  \
		HOOK(major, "major-faults", HOOK_PERF, .rate = "major"), CALL(mmap, "mem_exit"),   \
		CALL(munmap, "mem_exit"), CALL(mremap, "mem_exit"), CALL(brk, "mem_exit_brk"),     \
		CALL(madvise, "mem_exit_madvise"), HOOK("mem_rss", "kmem:rss_stat", HOOK_RAW_TP),  \
		HOOK("mem_fork", "sched:sched_process_fork", HOOK_RAW_TP),                         \
	{                                                                                          \
		0                                                                                  \
	}
static const struct hook mapped[] = {HOOKS("mem_minor_mapped", "mem_major_mapped")};
static const struct hook events[] = {HOOKS("mem_minor_fault", "mem_major_fault")};

static bool mapped_possible(const struct features *f, char *why, size_t why_sz)
{
	if (f->kernel_btf && f->task_pt_regs && features_has_function(f, "bpf_find_vma"))
		return true;
	snprintf(why, why_sz,
		 f->kernel_btf ? "no helper bpf_find_vma (added in Linux 5.17)"
			       : "needs the kernel's own BTF (CONFIG_DEBUG_INFO_BTF)");
	return false;
}

static const struct variant variants[] = {
	{"mapped",
	 "perf events of page faults, with what is mapped there; syscalls:sys_enter_mmap and its "
	 "like; raw_tp/rss_stat",
	 mapped_possible, mapped},
	{"events", "as above, without what is mapped where pages are faulted in", NULL, events},
	{0},
};

/* Of a file's name, tabs would separate parts. */
static void key_text(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz)
{
	static const char *const kinds[MEM_FIRST] = {
		[MEM_OTHER] = "(other)",
		[MEM_ANONYMOUS] = "(anonymous)",
		[MEM_HEAP] = "(heap)",
		[MEM_STACK] = "(stack)",
	};
	uint64_t at = part[MEM_PART_MAPPED];
	struct mem_name name;

	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, part[MEM_PART_MAJOR] ? "major" : "minor");
	if (at < MEM_FIRST ||
	    bpf_map_lookup_elem(bpf_map__fd(env->skel->maps.mem_names), &at, &name)) {
		series_key_add(text, sz, kinds[at < MEM_FIRST ? at : MEM_OTHER]);
		return;
	}
	name.text[sizeof(name.text) - 1] = 0;
	series_key_add(text, sz, name.text);
}

static const struct series series[] = {
	[SERIES_mem_faults - SERIES_OWN] = {"faults", "samples", SERIES_COUNTER,
					    "process\tkind\tmapped", key_text},
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
	int err;

	to->mem_period = probe_env__option(env, &probe_mem_entry, "period");
	to->mem_major = probe_env__option(env, &probe_mem_entry, "major");
	to->mem_page_sz = sysconf(_SC_PAGESIZE);
	to->mem_step = step * 1024 / to->mem_page_sz ?: 1;
	bpf_program__set_autoload(env->skel->progs.mem_begin, step && env->features->kernel_btf);
	if (!step) {
		bpf_program__set_autoload(env->skel->progs.mem_rss, false);
		bpf_program__set_autoload(env->skel->progs.mem_fork, false);
	}
	err = bpf_map__set_max_entries(env->skel->maps.mem_calls, CALLS);
	err = err ?: bpf_map__set_max_entries(env->skel->maps.mem_residents, PROCESSES);
	return err ?: bpf_map__set_max_entries(env->skel->maps.mem_names, MEM_NAMES);
}

/* What processes have is read before their first change is seen. */
static int attach(struct probe_env *env)
{
	int err = 0;

	if (bpf_program__autoload(env->skel->progs.mem_begin))
		err = hook_run(env->skel->progs.mem_begin, NULL, NULL);
	if (err)
		message_warn("resident memory is counted from each process's first change on: %s",
			     strerror(-err));
	return 0;
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
	.series = series,
	.options = options,
	.lever = &lever,
	.prepare = prepare,
	.attach = attach,
	.thin = thin,
};
