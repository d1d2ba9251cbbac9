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

enum { HASHED = 8192 }; /* threads without a slot of their own */

struct runq {
	struct cgroup_paths cgroups;
};

static const struct hook by_btf[] = {
	HOOK("runq_switch", "sched:sched_switch", HOOK_TP_BTF),
	HOOK("runq_wakeup", "sched:sched_wakeup", HOOK_TP_BTF),
	HOOK("runq_new", "sched:sched_wakeup_new", HOOK_TP_BTF),
	HOOK("runq_migrate", "sched:sched_migrate_task", HOOK_TP_BTF),
	{0},
};
static const struct hook by_classic[] = {
	HOOK("runq_switch_raw", "sched:sched_switch", HOOK_RAW_TP),
	HOOK("runq_wakeup_raw", "sched:sched_wakeup", HOOK_RAW_TP),
	HOOK("runq_new_raw", "sched:sched_wakeup_new", HOOK_RAW_TP),
	HOOK("runq_migrate_raw", "sched:sched_migrate_task", HOOK_RAW_TP),
	{0},
};

static const struct variant variants[] = {
	{"btf", "tp_btf/sched_switch, sched_wakeup, sched_wakeup_new, sched_migrate_task", NULL,
	 by_btf},
	{"classic", "raw_tp/sched_switch, sched_wakeup, sched_wakeup_new, sched_migrate_task", NULL,
	 by_classic},
	{0},
};

static const struct probe_option options[] = {
	PROBE_OPTION_RATE(200),
	OPTION("min", PROBE_TIME, 10000000,
	       "waits from this on are recorded singly, with stacks; the first of a thread without "
	       "its user stack (default 10ms)"),
	{0},
};

static void key_text(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz)
{
	struct runq *r = probe_env__state(env, &probe_runq_entry);

	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, cgroup_paths__of(&r->cgroups, part[RUNQ_PART_CGROUP]));
}

/* Names of what was waited for and has none itself. */
static const char *const kinds[RUNQ_KINDS] = {
	[RUNQ_KERNEL] = "(kernel threads)", [RUNQ_IDLE] = "(idle)",
	[RUNQ_IRQ] = "(interrupts)",	    [RUNQ_STEAL] = "(steal)",
	[RUNQ_QUOTA] = "(CPU quota)",	    [RUNQ_MOVED] = "(another CPU)",
	[RUNQ_OLDER] = "(older)",	    [RUNQ_UNKNOWN] = "(unknown)",
};

static const char *kind_text(uint64_t part)
{
	uint64_t kind = part >> RUNQ_KIND_SHIFT;

	return kind < RUNQ_KINDS ? kinds[kind] : NULL;
}

static void blame_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		      size_t sz)
{
	uint64_t kind = part[3] >> RUNQ_KIND_SHIFT;
	char who[WIRE_COMM_LEN + 2];

	series_key_comm(env, part, text, sz);
	snprintf(who, sizeof(who), kind == RUNQ_KERNEL ? "[%.*s]" : "%.*s", WIRE_COMM_LEN - 1,
		 (const char *)&part[2]);
	series_key_add(text, sz, kind > RUNQ_KERNEL ? kind_text(part[3]) : who);
}

static void blame_cgroup_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS],
			     char *text, size_t sz)
{
	struct runq *r = probe_env__state(env, &probe_runq_entry);
	const char *kind = kind_text(part[1]);

	series_key_set(text, sz, cgroup_paths__of(&r->cgroups, part[0]));
	series_key_add(text, sz, kind ? kind : cgroup_paths__of(&r->cgroups, part[1]));
}

static void migration_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
			  size_t sz)
{
	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, part[RUNQ_PART_WAITING] ? "while waiting" : "at wakeup");
}

static const struct series series[] = {
	{"latency", "ns", SERIES_HISTOGRAM, "process\tcgroup", key_text},
	{"blame", "ns", SERIES_COUNTER, "process\tculprit", blame_key},
	{"blame_cgroup", "ns", SERIES_COUNTER, "cgroup\tculprit", blame_cgroup_key},
	{"preemptions", "", SERIES_COUNTER, "process\tby", blame_key},
	{"migrations", "", SERIES_COUNTER, "process\twhen", migration_key},
	{0},
};

static int prepare(struct probe_env *env)
{
	struct runq *r = probe_env__state(env, &probe_runq_entry);
	int err;

	r->cgroups.v1 = cgroup_paths_v1();
	if (r->cgroups.v1)
		message_warn("probe 'runq' distinguishes cgroups v2 only, and this host uses v1");
	env->skel->rodata->runq_min_ns = probe_env__option(env, &probe_runq_entry, "min");
	err = bpf_map__set_max_entries(env->skel->maps.runq_cpus, env->features->cpus);
	return err ? err : bpf_map__set_max_entries(env->skel->maps.runq_since, HASHED);
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
	.own = "runq_cells",
	.options = options,
	.state_sz = sizeof(struct runq),
	.prepare = prepare,
	.free = free_cgroups,
};
