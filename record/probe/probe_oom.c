/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes killed because memory ran out (bpf/probe/oom.bpf.c). */
#include <unistd.h>

#include "bpf/probe/oom.h"
#include "format/records.h"
#include "obrec.skel.h"
#include "record/host/ksym_table.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

extern const struct probe probe_oom_entry;

#define KILLS                                                                                      \
	HOOK("oom_kill", "oom:mark_victim", HOOK_RAW_TP),                                          \
		HOOK("oom_signal", "signal:signal_generate", HOOK_RAW_TP)
static const struct hook by_fentry[] = {
	HOOK("oom_fentry", "out_of_memory", HOOK_FENTRY), KILLS, {0}};
static const struct hook by_kprobe[] = {
	HOOK("oom_kprobe", "out_of_memory", HOOK_KPROBE), KILLS, {0}};
static const struct hook by_tracepoint[] = {KILLS, {0}};

static const struct variant variants[] = {
	{"fentry", "raw_tp/mark_victim, fentry/out_of_memory", NULL, by_fentry},
	{"kprobe", "raw_tp/mark_victim, kprobe/out_of_memory", NULL, by_kprobe},
	{"tracepoint", "raw_tp/mark_victim: neither allocation nor points", NULL, by_tracepoint},
	{0},
};

static const struct probe_option options[] = {
	OPTION("rate", PROBE_COUNT, 100, "kills of each second that are recorded singly; 0: all"),
	{0},
};

static const struct series series[] = {
	[SERIES_oom_killed - SERIES_OWN] = {"killed", "bytes", SERIES_COUNTER, "process",
					    series_key_comm},
	{0},
};

static int prepare(struct probe_env *env)
{
	struct obrec_bpf__rodata *to = env->skel->rodata;
	uint64_t range[2] = {0};

	to->oom_page_sz = sysconf(_SC_PAGESIZE);
	if (!ksym_range("mem_cgroup_out_of_memory", range)) {
		to->oom_in_cgroup[0] = range[0];
		to->oom_in_cgroup[1] = range[1];
	}
	return 0;
}

const struct probe probe_oom_entry = {
	.name = "oom",
	.event = REC_oom,
	.variants = variants,
	.series = series,
	.options = options,
	.prepare = prepare,
};
