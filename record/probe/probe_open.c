/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening files (bpf/probe/open.bpf.c). */
#include "format/records.h"
#include "obrec.skel.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

extern const struct probe probe_open_entry;

enum { OPEN_CALLS = 8192 }; /* in flight at a time */

#define HOOKS(name, need_)                                                                         \
	HOOK("open_enter_" #name, "syscalls:sys_enter_" #name, HOOK_TRACEPOINT, .need = need_),    \
		HOOK("open_exit_" #name, "syscalls:sys_exit_" #name, HOOK_TRACEPOINT,              \
		     .need = need_)
static const struct hook hooks[] = {
	HOOKS(openat, HOOK_REQUIRED), HOOKS(openat2, HOOK_OPTIONAL), /* 5.6 */
	HOOKS(open, HOOK_OPTIONAL), /* not on arm64, which only has openat */
	HOOKS(creat, HOOK_OPTIONAL),  {0},
};

static const struct variant variants[] = {
	{"syscalls", "syscalls:sys_enter_openat and its like", NULL, hooks},
	{0},
};

static const struct probe_option options[] = {
	PROBE_OPTION_RATE(2000),
	OPTION("min", PROBE_TIME, 0, "leave out those that took less"),
	OPTION("failed", PROBE_FLAG, 0, "only those that failed"),
	OPTION("stack", PROBE_FLAG, 0, "with user and kernel stacks"),
	{0},
};

static int prepare(struct probe_env *env)
{
	struct obrec_bpf__rodata *to = env->skel->rodata;

	to->open_min_ns = probe_env__option(env, &probe_open_entry, "min");
	to->open_failed = probe_env__option(env, &probe_open_entry, "failed");
	to->open_stack = probe_env__option(env, &probe_open_entry, "stack");
	return bpf_map__set_max_entries(env->skel->maps.open_calls, OPEN_CALLS);
}

const struct probe probe_open_entry = {
	.name = "open",
	.event = REC_open,
	.variants = variants,
	.options = options,
	.prepare = prepare,
};
