/* SPDX-License-Identifier: BSD-2-Clause */
/* System calls (bpf/probe/syscall.bpf.c). Calls in progress at the end are reported here. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/event.h"
#include "bpf/probe/syscall.h"
#include "format/records.h"
#include "format/text.h"
#include "obrec.skel.h"
#include "record/host/procfs.h"
#include "record/host/syscalls.h"
#include "record/intake/intake.h"
#include "record/probe/hooks.h"
#include "record/probe/metrics.h"
#include "record/probe/probe.h"

extern const struct probe probe_syscall_entry;

enum { OTHERS = 4096 }; /* threads without a slot of their own */

struct syscalls {
	struct syscall_info info[SYSCALL_NUMBERS];
};

static const struct hook by_raw[] = {
	HOOK("syscall_enter", "raw_syscalls:sys_enter", HOOK_RAW_TP),
	HOOK("syscall_exit", "raw_syscalls:sys_exit", HOOK_RAW_TP),
	{0},
};
static const struct hook by_perf[] = {
	HOOK("syscall_enter_perf", "raw_syscalls:sys_enter", HOOK_TRACEPOINT),
	HOOK("syscall_exit_perf", "raw_syscalls:sys_exit", HOOK_TRACEPOINT),
	{0},
};

/*
 * Since "tracing: Guard __DECLARE_TRACE() use of __DO_TRACE_CALL() with SRCU-fast" (seen on 7.2), a
 * task can be preempted in a raw tracepoint program, and the runs that other tasks begin on that
 * CPU meanwhile are skipped: thousands of calls. Programs of perf's tracepoints are not preempted.
 */
static bool raw_possible(const struct features *f, char *why, size_t why_sz)
{
	if (f->kernel_btf && !features_btf_id(f, "class_srcu_fast_notrace_t", BTF_KIND_TYPEDEF))
		return true;
	snprintf(why, why_sz, "calls would be missed: a task can be preempted in the program");
	return false;
}

static const struct variant variants[] = {
	{"raw", "raw_tp/sys_enter, sys_exit", raw_possible, by_raw},
	{"perf", "raw_syscalls:sys_enter, sys_exit", NULL, by_perf},
	{0},
};

static const struct probe_option options[] = {
	PROBE_OPTION_RATE(200),
	OPTION("min", PROBE_TIME, 10000000,
	       "calls from this on are recorded singly, with their stacks (default 10ms)"),
	OPTION("waits", PROBE_FLAG, 0,
	       "likewise those that wait by design: poll, epoll_wait, futex, nanosleep, accept, "
	       "..."),
	OPTION("errors", PROBE_FLAG, 0, "failed calls are recorded singly, with their arguments"),
	OPTION("stack", PROBE_FLAG, 0, "failed calls with user and kernel stacks too"),
	{0},
};

/* Calls that are flagged or do not return; of both halves. */
static const char waits[] =
	" poll ppoll ppoll_time64 select _newselect pselect6 pselect6_time64 epoll_wait "
	"epoll_pwait epoll_pwait2 nanosleep clock_nanosleep clock_nanosleep_time64 pause "
	"rt_sigsuspend sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 wait4 waitid waitpid "
	"futex futex_time64 futex_wait futex_waitv io_getevents io_pgetevents io_uring_enter "
	"accept accept4 restart_syscall ";
static const char restores[] = " rt_sigreturn sigreturn ";
static const char ends[] = " exit exit_group ";

static bool listed(const char *list, const char *name)
{
	char word[SYSCALL_NAME_LEN + 2];

	snprintf(word, sizeof(word), " %s ", name);
	return strstr(list, word);
}

static void name_all(struct probe_env *env, struct syscalls *s)
{
	uint32_t *to = (uint32_t *)env->skel->rodata->syscall_ends;
	unsigned cnt = 0;

	for (uint32_t nr = 0; nr < SYSCALL_NUMBERS; nr++) {
		struct syscall_info *i = &s->info[nr];
		bool compat = nr >= SYSCALL_COMPAT;

		i->args = 6;
		if (!syscall_name(compat ? nr - SYSCALL_COMPAT : nr, compat, i->name,
				  sizeof(i->name)))
			continue;
		i->flags = listed(waits, i->name) ? SYSCALL_WAITS : 0;
		i->flags |= listed(restores, i->name) ? SYSCALL_RESTORES : 0;
		if (listed(ends, i->name) && cnt < SYSCALL_ENDS)
			to[cnt++] = nr;
		if (!compat)
			i->args = syscall_args(i->name, i->paths);
	}
	while (cnt < SYSCALL_ENDS)
		to[cnt++] = SYSCALL_NUMBERS;
	strcpy(s->info[SYSCALL_UNKNOWN].name, "unknown");
}

static const struct syscall_info *info_of(struct probe_env *env, uint64_t nr)
{
	struct syscalls *s = probe_env__state(env, &probe_syscall_entry);

	return &s->info[nr < SYSCALL_NUMBERS ? nr : SYSCALL_UNKNOWN];
}

static void call_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz)
{
	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, info_of(env, part[SYSCALL_PART_NUMBER])->name);
}

static void error_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		      size_t sz)
{
	char name[24];

	call_key(env, part, text, sz);
	series_key_add(text, sz, format_errno(name, part[SYSCALL_PART_ERROR]));
}

static const struct series series[] = {
	[SERIES_syscall_latency - SERIES_OWN] = {"latency", "ns", SERIES_COARSE, "process\tcall",
						 call_key},
	[SERIES_syscall_errors -
		SERIES_OWN] = {"errors", "", SERIES_COUNTER, "process\tcall\terror", error_key},
	[SERIES_syscall_unreturned -
		SERIES_OWN] = {"unreturned", "ns", SERIES_COUNTER, "process\tcall", call_key},
	{0},
};

static int prepare(struct probe_env *env)
{
	struct obrec_bpf__rodata *to = env->skel->rodata;
	struct obrec_bpf *skel = env->skel;
	int err;

	to->syscall_min_ns = probe_env__option(env, &probe_syscall_entry, "min");
	to->syscall_waits = probe_env__option(env, &probe_syscall_entry, "waits");
	to->syscall_failed = probe_env__option(env, &probe_syscall_entry, "errors");
	to->syscall_stack = probe_env__option(env, &probe_syscall_entry, "stack");
	name_all(env, probe_env__state(env, &probe_syscall_entry));
	err = bpf_map__set_max_entries(skel->maps.syscall_threads, SYSCALL_THREADS);
	err = err ? err : bpf_map__set_max_entries(skel->maps.syscall_owned, SYSCALL_THREADS);
	err = err ? err : bpf_map__set_max_entries(skel->maps.syscall_others, OTHERS);
	return err ? err : bpf_map__set_max_entries(skel->maps.syscall_infos, SYSCALL_NUMBERS);
}

static int attach(struct probe_env *env)
{
	struct syscalls *s = probe_env__state(env, &probe_syscall_entry);
	int fd = bpf_map__fd(env->skel->maps.syscall_infos), err = 0;

	for (uint32_t nr = 0; nr < SYSCALL_NUMBERS && !err; nr++)
		err = bpf_map_update_elem(fd, &nr, &s->info[nr], BPF_ANY);
	return err;
}

/* ---- calls in progress at the end */

/* Reads the arguments if the thread is still in that call. */
static void read_args(const struct syscall_thread *t, int args, struct event_syscall *e)
{
	char text[256], name[32];
	long nr, len;
	int proc = procfs_open(NULL);
	unsigned long long a[6];

	snprintf(name, sizeof(name), "task/%u/syscall", (uint32_t)t->who);
	len = proc < 0 ? proc : procfs_read(proc, t->who >> 32, name, text, sizeof(text));
	if (len > 0 &&
	    sscanf(text, "%ld %llx %llx %llx %llx %llx %llx", &nr, &a[0], &a[1], &a[2], &a[3],
		   &a[4], &a[5]) == 7 &&
	    nr == t->number % SYSCALL_COMPAT)
		for (int i = 0; i < args; i++)
			(&e->arg0)[i] = a[i];
	if (proc >= 0)
		close(proc);
}

static void report(struct probe_env *env, const struct syscall_thread *t)
{
	struct metric_key key = {
		.series = SERIES_NUMBER(PROBE_syscall, SERIES_syscall_unreturned),
		.part[SYSCALL_PART_NUMBER] = t->number,
	};
	uint64_t ns = env->stop_ns > t->begin_ns ? env->stop_ns - t->begin_ns : 0;
	const struct syscall_info *info = info_of(env, t->number);
	struct {
		struct event_syscall e;
		char text[SYSCALL_NAME_LEN];
	} r = {.e = {
		       .hdr = {.kind = WIRE_EVENT, .probe = REC_syscall, .size = sizeof(r)},
		       .ts_ns = env->stop_ns,
		       .thread = t->who,
		       .call = strlen(info->name),
		       .args = info->args,
		       .duration_ns = ns,
		       .unfinished = 1,
	       }};

	memcpy(key.part, t->process, sizeof(t->process));
	metrics_add(env, &key, ns);
	if (ns < env->skel->rodata->syscall_min_ns ||
	    (!env->skel->rodata->syscall_waits && info->flags & SYSCALL_WAITS))
		return;
	memcpy(r.e.task_comm, t->comm, sizeof(t->comm));
	memcpy(r.e.text, info->name, r.e.call);
	read_args(t, info->args, &r.e);
	intake__event(env->intake, &r.e.hdr);
}

static void finish(struct probe_env *env)
{
	int slots = bpf_map__fd(env->skel->maps.syscall_threads);
	int others = bpf_map__fd(env->skel->maps.syscall_others);
	struct syscall_thread t;
	uint64_t key, *prev = NULL;

	for (uint32_t i = 0; i < SYSCALL_THREADS; i++)
		if (!bpf_map_lookup_elem(slots, &i, &t) && t.begin_ns)
			report(env, &t);
	for (; !bpf_map_get_next_key(others, prev, &key); prev = &key)
		if (!bpf_map_lookup_elem(others, &key, &t) && t.begin_ns)
			report(env, &t);
}

const struct probe probe_syscall_entry = {
	.name = "syscall",
	.event = REC_syscall,
	.variants = variants,
	.series = series,
	.own = "syscall_cells",
	.options = options,
	.state_sz = sizeof(struct syscalls),
	.prepare = prepare,
	.attach = attach,
	.finish = finish,
};
