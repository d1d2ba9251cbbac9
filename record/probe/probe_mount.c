/* SPDX-License-Identifier: BSD-2-Clause */
/* Mounts (bpf/probe/mount.bpf.c). */
#include "bpf/probe/mount.h"
#include "format/records.h"
#include "obrec.skel.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

extern const struct probe probe_mount_entry;

enum { MOUNT_CALLS_CNT = 1024 }; /* in flight at a time */

#define X(name, text, need_)                                                                       \
	HOOK("mount_enter_" #name, "syscalls:sys_enter_" #name, HOOK_TRACEPOINT,                   \
	     .need = HOOK_##need_),                                                                \
		HOOK("mount_exit", "syscalls:sys_exit_" #name, HOOK_TRACEPOINT,                    \
		     .need = HOOK_##need_),
static const struct hook hooks[] = {MOUNT_CALLS(X){0}};
#undef X

static const struct variant variants[] = {
	{"syscalls", "syscalls:sys_enter_mount and its like, and their exits", NULL, hooks},
	{0},
};

static const struct probe_option options[] = {
	PROBE_OPTION_RATE(1000),
	OPTION("failed", PROBE_FLAG, 0, "only calls that failed"),
	OPTION("stack", PROBE_FLAG, 0, "with user and kernel stacks"),
	{0},
};

static const struct series series[] = {
	[SERIES_mount_failed - SERIES_OWN] = {"failed", "", SERIES_COUNTER, "process\terror",
					      series_key_error},
	{0},
};

static int prepare(struct probe_env *env)
{
	env->skel->rodata->mount_failed = probe_env__option(env, &probe_mount_entry, "failed");
	env->skel->rodata->mount_stack = probe_env__option(env, &probe_mount_entry, "stack");
	return bpf_map__set_max_entries(env->skel->maps.mount_calls, MOUNT_CALLS_CNT);
}

const struct probe probe_mount_entry = {
	.name = "mount",
	.event = REC_mount,
	.variants = variants,
	.series = series,
	.options = options,
	.prepare = prepare,
};
