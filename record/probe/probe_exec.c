/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs run, processes ended (bpf/probe/exec.bpf.c). */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/probe/exec.h"
#include "format/records.h"
#include "format/text.h"
#include "obrec.skel.h"
#include "record/probe/hooks.h"
#include "record/probe/probe.h"

extern const struct probe probe_exec_entry;

enum {
	EXEC_CALLS = 1024, /* in flight at a time */
	EXEC_ENDED = 8192
};

static const struct hook hooks[] = {
	HOOK("exec_done", "sched:sched_process_exec", HOOK_RAW_TP),
	HOOK("exec_end", "sched:sched_process_exit", HOOK_RAW_TP),
	HOOK("exec_new", "sched:sched_wakeup_new", HOOK_RAW_TP),
	HOOK("exec_enter_execve", "syscalls:sys_enter_execve", HOOK_TRACEPOINT),
	HOOK("exec_exit_execve", "syscalls:sys_exit_execve", HOOK_TRACEPOINT),
	HOOK("exec_enter_execveat", "syscalls:sys_enter_execveat", HOOK_TRACEPOINT),
	HOOK("exec_exit_execveat", "syscalls:sys_exit_execveat", HOOK_TRACEPOINT),
	{0},
};

static const struct variant variants[] = {
	{"tracepoint",
	 "raw_tp/sched_process_exec, sched_process_exit; of failed calls syscalls:sys_exit_execve",
	 NULL, hooks},
	{0},
};

static const struct probe_option options[] = {
	PROBE_OPTION_RATE(1000),
	OPTION("failed", PROBE_FLAG, 0,
	       "only calls that failed, and processes that ended by a signal or with a status "
	       "other than 0"),
	{0},
};

static void exits_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		      size_t sz)
{
	int code = part[EXEC_PART_CODE];
	char end[40], name[24];

	if (WIFEXITED(code))
		snprintf(end, sizeof(end), "%d", WEXITSTATUS(code));
	else /* a signal without a name is no exit status */
		snprintf(end, sizeof(end), "%s%s", WTERMSIG(code) < 32 ? "" : "signal ",
			 format_signal(name, WTERMSIG(code)));
	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, end);
}

static const struct series series[] = {
	[SERIES_exec_exit_events - SERIES_OWN] = {"exit_events", "", SERIES_COUNTER, "process",
						  series_key_comm},
	[SERIES_exec_exit_throttled -
		SERIES_OWN] = {"exit_throttled", "", SERIES_COUNTER, "process", series_key_comm},
	[SERIES_exec_failed -
		SERIES_OWN] = {"failed", "", SERIES_COUNTER, "process\terror", series_key_error},
	[SERIES_exec_exits -
		SERIES_OWN] = {"exits", "ns", SERIES_COUNTER, "process\tend", exits_key},
	[SERIES_exec_lifetime -
		SERIES_OWN] = {"lifetime", "ns", SERIES_HISTOGRAM, "process", series_key_comm},
	{0},
};

static int prepare(struct probe_env *env)
{
	int err;

	env->skel->rodata->exec_failed = probe_env__option(env, &probe_exec_entry, "failed");
	env->skel->rodata->exec_page_sz = sysconf(_SC_PAGESIZE);
	err = bpf_map__set_max_entries(env->skel->maps.exec_ended, EXEC_ENDED);
	return err ? err : bpf_map__set_max_entries(env->skel->maps.exec_calls, EXEC_CALLS);
}

const struct probe probe_exec_entry = {
	.name = "exec",
	.event = REC_exec,
	.ends = true,
	.variants = variants,
	.series = series,
	.options = options,
	.prepare = prepare,
};
