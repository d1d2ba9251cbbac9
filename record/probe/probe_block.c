/* SPDX-License-Identifier: BSD-2-Clause */
/* Block requests (bpf/probe/block.bpf.c). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf/probe/block.h"
#include "format/records.h"
#include "obrec.skel.h"
#include "record/host/cgroup_paths.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

extern const struct probe probe_block_entry;

enum { DISKS = 1024 };

struct block {
	struct cgroup_paths cgroups;
};

static const struct hook by_btf[] = {
	HOOK("block_insert", "block:block_rq_insert", HOOK_TP_BTF),
	HOOK("block_issue", "block:block_rq_issue", HOOK_TP_BTF),
	HOOK("block_requeue", "block:block_rq_requeue", HOOK_TP_BTF),
	HOOK("block_complete", "block:block_rq_complete", HOOK_TP_BTF),
	{0},
};
static const struct hook by_classic[] = {
	HOOK("block_insert_5_10", "block:block_rq_insert", HOOK_RAW_TP, .need = HOOK_OPTIONAL),
	HOOK("block_insert_raw", "block:block_rq_insert", HOOK_RAW_TP, .need = HOOK_INSTEAD),
	HOOK("block_issue_5_10", "block:block_rq_issue", HOOK_RAW_TP, .need = HOOK_OPTIONAL),
	HOOK("block_issue_raw", "block:block_rq_issue", HOOK_RAW_TP, .need = HOOK_INSTEAD),
	HOOK("block_requeue_5_10", "block:block_rq_requeue", HOOK_RAW_TP, .need = HOOK_OPTIONAL),
	HOOK("block_requeue_raw", "block:block_rq_requeue", HOOK_RAW_TP, .need = HOOK_INSTEAD),
	HOOK("block_complete_raw", "block:block_rq_complete", HOOK_RAW_TP),
	{0},
};

static bool has_request_first(const struct features *f, char *why, size_t why_sz)
{
	if (!f->kernel_btf || features_tracepoint_args(f, "block_rq_issue") == 1)
		return true; /* lack of BTF is reported by hooks */
	snprintf(why, why_sz,
		 "needs block_rq_issue without the queue as an argument (added in Linux 5.11)");
	return false;
}

static const struct variant variants[] = {
	{"btf", "tp_btf/block_rq_insert, block_rq_issue, block_rq_requeue, block_rq_complete",
	 has_request_first, by_btf},
	{"classic", "raw_tp/block_rq_insert, block_rq_issue, block_rq_requeue, block_rq_complete",
	 NULL, by_classic},
	{0},
};

static const struct probe_option options[] = {
	PROBE_OPTION_RATE(1000),
	OPTION("min", PROBE_TIME, 0, "requests from this on are recorded singly"),
	OPTION("stack", PROBE_FLAG, 0, "with the stacks that led to them, also as samples"),
	{0},
};

/* Name of the disk; "8:16" if it was removed. */
static void dev_text(uint32_t dev, char *text, size_t sz)
{
	char path[64], target[256];
	ssize_t len;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", dev >> 20, dev & 0xfffff);
	len = readlink(path, target, sizeof(target) - 1);
	if (len > 0) {
		target[len] = 0;
		snprintf(text, sz, "%.63s",
			 strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
	} else {
		snprintf(text, sz, "%u:%u", dev >> 20, dev & 0xfffff);
	}
}

static const char *op_text(uint64_t op)
{
	static const char *const names[BLOCK_OP_CNT + 1] = {
#define X(number, name) [number] = name,
		BLOCK_OPS(X)
#undef X
	};

	return op <= BLOCK_OP_CNT && names[op] ? names[op] : "other";
}

static void latency_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
			size_t sz)
{
	char disk[64];

	dev_text(part[BLOCK_PART_DEV], disk, sizeof(disk));
	snprintf(text, sz, "%s\t%s", disk, op_text(part[BLOCK_PART_OP]));
}

static void add_latency_key(const uint64_t part[METRIC_KEY_PARTS], char *text, size_t sz)
{
	char disk[64];

	dev_text(part[BLOCK_PART_DEV], disk, sizeof(disk));
	series_key_add(text, sz, disk);
	series_key_add(text, sz, op_text(part[BLOCK_PART_OP]));
}

static void size_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz)
{
	series_key_comm(env, part, text, sz);
	add_latency_key(part, text, sz);
}

static void cgroup_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		       size_t sz)
{
	struct block *b = probe_env__state(env, &probe_block_entry);

	series_key_set(text, sz, cgroup_paths__of(&b->cgroups, part[BLOCK_PART_CGROUP]));
	add_latency_key(part, text, sz);
}

static void pattern_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
			size_t sz)
{
	char disk[64];

	dev_text(part[BLOCK_PART_DEV], disk, sizeof(disk));
	snprintf(text, sz, "%s\t%s", disk, part[BLOCK_PART_RANDOM] ? "random" : "sequential");
}

static void disk_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz)
{
	dev_text(part[BLOCK_PART_DEV], text, sz);
}

static const struct series series[] = {
	[SERIES_block_device - SERIES_OWN] = {"latency", "ns", SERIES_HISTOGRAM, "disk\toperation",
					      latency_key},
	[SERIES_block_queued -
		SERIES_OWN] = {"queued", "ns", SERIES_HISTOGRAM, "disk\toperation", latency_key},
	[SERIES_block_size - SERIES_OWN] = {"size", "bytes", SERIES_HISTOGRAM,
					    "process\tdisk\toperation", size_key},
	[SERIES_block_cgroup - SERIES_OWN] = {"cgroup_latency", "ns", SERIES_HISTOGRAM,
					      "cgroup\tdisk\toperation", cgroup_key},
	[SERIES_block_pattern -
		SERIES_OWN] = {"pattern", "bytes", SERIES_COUNTER, "disk\tpattern", pattern_key},
	[SERIES_block_in_flight -
		SERIES_OWN] = {"in_flight", "", SERIES_HISTOGRAM, "disk", disk_key},
	[SERIES_block_busy - SERIES_OWN] = {"busy", "ns", SERIES_COUNTER, "disk", disk_key},
	{0},
};

static int prepare(struct probe_env *env)
{
	struct block *b = probe_env__state(env, &probe_block_entry);
	int err;

	b->cgroups.v1 = cgroup_paths_v1();
	env->skel->rodata->block_min_ns = probe_env__option(env, &probe_block_entry, "min");
	env->skel->rodata->block_stack = probe_env__option(env, &probe_block_entry, "stack");
	*((uint32_t *)env->skel->rodata->event_rates + BLOCK_STACKS) =
		probe_env__option(env, &probe_block_entry, "rate");
	err = bpf_map__set_max_entries(env->skel->maps.block_requests, BLOCK_REQUESTS);
	err = err ? err : bpf_map__set_max_entries(env->skel->maps.block_cpus, env->features->cpus);
	return err ? err : bpf_map__set_max_entries(env->skel->maps.block_disks, DISKS);
}

static void free_cgroups(struct probe_env *env)
{
	struct block *b = probe_env__state(env, &probe_block_entry);

	if (b)
		cgroup_paths__fini(&b->cgroups);
}

const struct probe probe_block_entry = {
	.name = "block",
	.event = REC_block,
	.variants = variants,
	.series = series,
	.own = "block_cells",
	.options = options,
	.state_sz = sizeof(struct block),
	.prepare = prepare,
	.free = free_cgroups,
};
