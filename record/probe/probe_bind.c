/* SPDX-License-Identifier: BSD-2-Clause */
/* Binding addresses, listening (bpf/probe/bind.bpf.c). */
#include "bpf/probe/bind.h"
#include "format/records.h"
#include "obrec.skel.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

extern const struct probe probe_bind_entry;

enum { BIND_CALLS = 1024 }; /* in flight at a time */

static const struct hook hooks[] = {
	HOOK("bind_enter_bind", "syscalls:sys_enter_bind", HOOK_TRACEPOINT),
	HOOK("bind_exit_bind", "syscalls:sys_exit_bind", HOOK_TRACEPOINT),
	HOOK("bind_enter_listen", "syscalls:sys_enter_listen", HOOK_TRACEPOINT),
	HOOK("bind_exit_listen", "syscalls:sys_exit_listen", HOOK_TRACEPOINT),
	{0},
};

static const struct variant variants[] = {
	{"syscalls", "syscalls:sys_enter_bind, sys_enter_listen and their exits", NULL, hooks},
	{0},
};

static const struct probe_option options[] = {
	PROBE_OPTION_RATE(1000),
	OPTION("failed", PROBE_FLAG, 0, "only calls that failed"),
	OPTION("stack", PROBE_FLAG, 0, "with user and kernel stacks"),
	{0},
};

static const struct series series[] = {
	[SERIES_bind_failed - SERIES_OWN] = {"failed", "", SERIES_COUNTER, "process\terror",
					     series_key_error},
	{0},
};

static int prepare(struct probe_env *env)
{
	env->skel->rodata->bind_failed = probe_env__option(env, &probe_bind_entry, "failed");
	env->skel->rodata->bind_stack = probe_env__option(env, &probe_bind_entry, "stack");
	return bpf_map__set_max_entries(env->skel->maps.bind_calls, BIND_CALLS);
}

const struct probe probe_bind_entry = {
	.name = "bind",
	.event = REC_bind,
	.variants = variants,
	.series = series,
	.options = options,
	.prepare = prepare,
};
