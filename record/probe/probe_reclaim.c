/* SPDX-License-Identifier: BSD-2-Clause */
/* Stalls for memory (bpf/probe/reclaim.bpf.c). */
#include <stdio.h>

#include "bpf/probe/reclaim.h"
#include "format/records.h"
#include "obrec.skel.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

extern const struct probe probe_reclaim_entry;

enum { STALLS = 8192 }; /* at a time */

#define BOTH(name, at, need_)                                                                      \
	HOOK(name "_begin", at "_begin", HOOK_RAW_TP, .need = need_),                              \
		HOOK(name "_end", at "_end", HOOK_RAW_TP, .need = need_)
#define TRACEPOINTS                                                                                \
	BOTH("reclaim_direct", "vmscan:mm_vmscan_direct_reclaim", HOOK_REQUIRED),                  \
		BOTH("reclaim_cgroup", "vmscan:mm_vmscan_memcg_reclaim",                           \
		     HOOK_OPTIONAL), /* CONFIG_MEMCG */                                            \
		BOTH("reclaim_node", "vmscan:mm_vmscan_node_reclaim", HOOK_OPTIONAL),              \
		BOTH("reclaim_compaction", "compaction:mm_compaction",                             \
		     HOOK_OPTIONAL), /* CONFIG_COMPACTION */                                       \
		HOOK("reclaim_write_back", "writeback:balance_dirty_pages", HOOK_TRACEPOINT)
static const struct hook by_fentry[] = {
	HOOK("reclaim_swap_begin", "do_swap_page", HOOK_FENTRY),
	HOOK("reclaim_swap_end", "do_swap_page", HOOK_FENTRY),
	TRACEPOINTS,
	{0},
};
static const struct hook by_tracepoint[] = {TRACEPOINTS, {0}};

static const struct variant variants[] = {
	{"fentry", "fentry and fexit/do_swap_page; the same tracepoints", NULL, by_fentry},
	{"tracepoint",
	 "raw_tp/mm_vmscan_*, mm_compaction_*, balance_dirty_pages: swap-in is not seen", NULL,
	 by_tracepoint},
	{0},
};

static const struct probe_option options[] = {
	PROBE_OPTION_RATE(200),
	OPTION("min", PROBE_TIME, 1000000,
	       "stalls from this on are recorded singly, with their stacks (default 1ms)"),
	{0},
};

static void key_text(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz)
{
	static const char *const causes[RECLAIM_CAUSE_CNT] = {
#define X(number, text) [number] = text,
		RECLAIM_CAUSES(X)
#undef X
	};
	uint64_t cause = part[RECLAIM_PART_CAUSE];

	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, cause < RECLAIM_CAUSE_CNT ? causes[cause] : "other");
}

static const struct series series[] = {
	[SERIES_reclaim_latency - SERIES_OWN] = {"latency", "ns", SERIES_COARSE, "process\tcause",
						 key_text},
	[SERIES_reclaim_reclaimed -
		SERIES_OWN] = {"reclaimed", "pages", SERIES_COUNTER, "process\tcause", key_text},
	{0},
};

static int prepare(struct probe_env *env)
{
	int err;

	env->skel->rodata->reclaim_min_ns = probe_env__option(env, &probe_reclaim_entry, "min");
	err = bpf_map__set_max_entries(env->skel->maps.reclaim_calls, STALLS);
	return err ? err : bpf_map__set_max_entries(env->skel->maps.reclaim_swaps, STALLS);
}

const struct probe probe_reclaim_entry = {
	.name = "reclaim",
	.event = REC_stall,
	.variants = variants,
	.series = series,
	.options = options,
	.prepare = prepare,
};
