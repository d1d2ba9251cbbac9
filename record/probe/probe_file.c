/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads, writes and syncs of files (bpf/probe/file.bpf.c). */
#include <bpf/bpf.h>
#include <string.h>

#include "bpf/probe/file.h"
#include "format/records.h"
#include "obrec.skel.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

extern const struct probe probe_file_entry;

enum { CALLS = 8192 }; /* in flight at a time */

/* Not all architectures have all of them. */
#define NEED(number) ((number) <= FILE_CALL_write ? HOOK_REQUIRED : HOOK_OPTIONAL)
#define X(name, ...)                                                                               \
	HOOK("file_enter_" #name, "syscalls:sys_enter_" #name, HOOK_TRACEPOINT,                    \
	     .need = NEED(FILE_CALL_##name)),                                                      \
		HOOK("file_exit_" #name, "syscalls:sys_exit_" #name, HOOK_TRACEPOINT,              \
		     .need = NEED(FILE_CALL_##name)),
static const struct hook hooks[] = {
	FILE_CALLS(X) FILE_PAIRS(X){0},
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

/* Of a file's path, tabs would separate parts. */
static void add_path(struct probe_env *env, uint64_t file, char *text, size_t sz)
{
	char path[FILE_PATH_LEN];

	if (file < FILE_FIRST ||
	    bpf_map_lookup_elem(bpf_map__fd(env->skel->maps.file_paths), &file, path)) {
		series_key_add(text, sz, "(other)");
		return;
	}
	path[sizeof(path) - 1] = 0;
	for (char *tab = path; (tab = strchr(tab, '\t'));)
		*tab = '?';
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

static const struct series series[] = {
	[SERIES_file_latency - SERIES_OWN] = {"latency", "ns", SERIES_COARSE,
					      "process\toperation\tfile", key_text},
	[SERIES_file_bytes - SERIES_OWN] = {"bytes", "bytes", SERIES_COUNTER,
					    "process\toperation\tfile", key_text},
	[SERIES_file_failed -
		SERIES_OWN] = {"failed", "", SERIES_COUNTER, "process\terror", series_key_error},
	{0},
};

static int prepare(struct probe_env *env)
{
	int err;

	env->skel->rodata->file_min_ns = probe_env__option(env, &probe_file_entry, "min");
	err = bpf_map__set_max_entries(env->skel->maps.file_calls, CALLS);
	return err ? err : bpf_map__set_max_entries(env->skel->maps.file_paths, FILE_PATHS);
}

const struct probe probe_file_entry = {
	.name = "file",
	.event = REC_file,
	.variants = variants,
	.series = series,
	.options = options,
	.prepare = prepare,
};
