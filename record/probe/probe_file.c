/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads, writes and syncs of files (bpf/probe/file.bpf.c). */
#include <bpf/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf/probe/file.h"
#include "format/records.h"
#include "obrec.skel.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

extern const struct probe probe_file_entry;

enum { CALLS = 8192 }; /* at a time, of threads without a slot */

/* Not all architectures have all of them. */
#define NEED(number) ((number) <= FILE_CALL_write ? HOOK_REQUIRED : HOOK_OPTIONAL)
#define X(name, ...)                                                                               \
	HOOK("file_enter_" #name, "syscalls:sys_enter_" #name, HOOK_TRACEPOINT,                    \
	     .need = NEED(FILE_CALL_##name)),                                                      \
		HOOK("file_exit", "syscalls:sys_exit_" #name, HOOK_TRACEPOINT,                     \
		     .need = NEED(FILE_CALL_##name)),
static const struct hook hooks[] = {
	FILE_CALLS(X) FILE_PAIRS(X)
		HOOK("file_thread_end", "sched:sched_process_exit", HOOK_RAW_TP),
	HOOK("file_page_added", "filemap:mm_filemap_add_to_page_cache", HOOK_RAW_TP,
	     .need = HOOK_OPTIONAL),
	HOOK("file_folio_dirtied", "writeback:writeback_dirty_folio", HOOK_RAW_TP,
	     .need = HOOK_OPTIONAL, .since = "5.16"),
	HOOK("file_page_dirtied", "writeback:writeback_dirty_page", HOOK_RAW_TP,
	     .need = HOOK_OPTIONAL),
	HOOK("file_paused", "writeback:balance_dirty_pages", HOOK_TRACEPOINT),
	{0},
};
#undef X

static const struct variant variants[] = {
	{"syscalls", "syscalls:sys_enter_read, sys_enter_write and their like", NULL, hooks},
	{0},
};

static const struct probe_option options[] = {
	PROBE_OPTION_RATE(200),
	OPTION("min", PROBE_TIME, 1000000,
	       "calls from this on are recorded singly, with their stacks (default 1ms)"),
	{0},
};

static void add_path(struct probe_env *env, uint64_t file, char *text, size_t sz)
{
	char path[FILE_PATH_LEN];

	if (file < FILE_FIRST ||
	    bpf_map_lookup_elem(bpf_map__fd(env->skel->maps.file_paths), &file, path)) {
		series_key_add(text, sz, "(other)");
		return;
	}
	path[sizeof(path) - 1] = 0;
	series_key_add(text, sz, path);
}

static void key_text(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz)
{
	static const char *const ops[FILE_OP_CNT] = {
#define X(number, name) [number] = name,
		FILE_OPS(X)
#undef X
	};
	uint64_t op = part[FILE_PART_OP];

	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, op < FILE_OP_CNT ? ops[op] : "other");
	add_path(env, part[FILE_PART_FILE], text, sz);
}

static void cache_text(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		       size_t sz)
{
	static const char *const events[FILE_CACHE_EVENT_CNT] = {
#define X(number, name) [number] = name,
		FILE_CACHE_EVENTS(X)
#undef X
	};
	uint64_t event = part[FILE_PART_OP], dev = part[FILE_PART_FILE];
	char device[48];

	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, event < FILE_CACHE_EVENT_CNT ? events[event] : "other");
	if (event < FILE_ADDED_OTHER) {
		add_path(env, dev, text, sz);
		return;
	}
	snprintf(device, sizeof(device), "(device %u:%u)", (unsigned)(dev >> 20),
		 (unsigned)(dev & 0xfffff));
	series_key_add(text, sz, device);
}

static void paused_text(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
			size_t sz)
{
	series_key_comm(env, part, text, sz);
	add_path(env, part[FILE_PART_FILE], text, sz);
}

static const struct series series[] = {
	[SERIES_file_latency - SERIES_OWN] = {"latency", "ns", SERIES_COARSE,
					      "process\toperation\tfile", key_text},
	[SERIES_file_bytes - SERIES_OWN] = {"bytes", "bytes", SERIES_COUNTER,
					    "process\toperation\tfile", key_text},
	[SERIES_file_failed -
		SERIES_OWN] = {"failed", "", SERIES_COUNTER, "process\terror", series_key_error},
	[SERIES_file_cache - SERIES_OWN] = {"cache", "pages", SERIES_COUNTER,
					    "process\tevent\tfile", cache_text},
	[SERIES_file_paused -
		SERIES_OWN] = {"paused", "ns", SERIES_COARSE, "process\tfile", paused_text},
	{0},
};

static int prepare(struct probe_env *env)
{
	const struct features *f = env->features;
	struct obrec_bpf *skel = env->skel;
	long page = sysconf(_SC_PAGESIZE);
	int err;

	skel->rodata->file_min_ns = probe_env__option(env, &probe_file_entry, "min");
	skel->rodata->file_page_shift = page > 0 ? __builtin_ctzl(page) : 12;
	skel->rodata->file_typed = f->task_pt_regs && features_kfunc(f, WIRE_RDONLY_CAST);
	err = bpf_map__set_max_entries(skel->maps.file_slots, FILE_SLOTS);
	err = err ? err : bpf_map__set_max_entries(skel->maps.file_owned, FILE_SLOTS);
	err = err ? err : bpf_map__set_max_entries(skel->maps.file_calls, CALLS);
	return err ? err : bpf_map__set_max_entries(skel->maps.file_paths, FILE_PATHS);
}

const struct probe probe_file_entry = {
	.name = "file",
	.event = REC_file,
	.variants = variants,
	.series = series,
	.own = "file_cells",
	.options = options,
	.prepare = prepare,
};
