/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits for a CPU (bpf/probe/runq.bpf.c). */
#include <stdio.h>
#include <string.h>

#include "bpf/probe/runq.h"
#include "format/records.h"
#include "format/text.h"
#include "obrec.skel.h"
#include "record/host/cgroup_paths.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

extern const struct probe probe_runq_entry;

enum { THREADS = 32768 };

struct runq {
	struct cgroup_paths cgroups;
};

static const struct hook by_btf[] = {
	HOOK("runq_switch", "sched:sched_switch", HOOK_TP_BTF),
	HOOK("runq_wakeup", "sched:sched_wakeup", HOOK_TP_BTF),
	HOOK("runq_new", "sched:sched_wakeup_new", HOOK_TP_BTF),
	{0},
};
static const struct hook by_classic[] = {
	HOOK("runq_switch_raw", "sched:sched_switch", HOOK_RAW_TP),
	HOOK("runq_wakeup_raw", "sched:sched_wakeup", HOOK_RAW_TP),
	HOOK("runq_new_raw", "sched:sched_wakeup_new", HOOK_RAW_TP),
	{0},
};

static const struct variant variants[] = {
	{"btf", "tp_btf/sched_switch, sched_wakeup, sched_wakeup_new", NULL, by_btf},
	{"classic", "raw_tp/sched_switch, sched_wakeup, sched_wakeup_new", NULL, by_classic},
	{0},
};

static const struct probe_option options[] = {
	PROBE_OPTION_RATE(200),
	OPTION("min", PROBE_TIME, 10000000,
	       "waits from this on are recorded singly (default 10ms)"),
	{0},
};

static void key_text(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz)
{
	struct runq *r = probe_env__state(env, &probe_runq_entry);
	size_t len;

	series_key_comm(env, part, text, sz);
	len = strlen(text);
	snprintf(text + len, sz - len, "\t%s",
		 cgroup_paths__of(&r->cgroups, part[RUNQ_PART_CGROUP]));
}

static const struct series series[] = {
	{"latency", "ns", SERIES_HISTOGRAM, "process\tcgroup", key_text},
	{0},
};

static int prepare(struct probe_env *env)
{
	struct runq *r = probe_env__state(env, &probe_runq_entry);

	r->cgroups.v1 = cgroup_paths_v1();
	if (r->cgroups.v1)
		message_warn("probe 'runq' distinguishes cgroups v2 only, and this host uses v1");
	env->skel->rodata->runq_min_ns = probe_env__option(env, &probe_runq_entry, "min");
	return bpf_map__set_max_entries(env->skel->maps.runq_since, THREADS);
}

static void free_cgroups(struct probe_env *env)
{
	struct runq *r = probe_env__state(env, &probe_runq_entry);

	if (r)
		cgroup_paths__fini(&r->cgroups);
}

const struct probe probe_runq_entry = {
	.name = "runq",
	.event = REC_runq,
	.variants = variants,
	.series = series,
	.options = options,
	.state_sz = sizeof(struct runq),
	.prepare = prepare,
	.free = free_cgroups,
};
