/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits for locks (bpf/probe/lock.bpf.c; of the kernel: lock_kernel.c; those in progress at the
 * start and at the end: lock_waits.c). */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf/event.h"
#include "bpf/probe/lock.h"
#include "format/records.h"
#include "format/text.h"
#include "obrec.skel.h"
#include "record/probe/hooks.h"
#include "record/probe/lock_kernel.h"
#include "record/probe/lock_waits.h"
#include "record/probe/metrics.h"
#include "record/probe/probe.h"

extern const struct probe probe_lock_entry;

/* At a time: threads that wait (an idle one does, too), locks, owners, those
 * whose stacks are wanted. */
enum { CALLS = 32768, WORDS = 16384, OWNERS = 8192, HOLDERS = 8192 };

static bool has_own_btf(const struct features *f)
{
	return f->kernel_btf;
}

/* 6.7 */
static bool has_uring_futex(const struct features *f)
{
	return features_btf_id(f, "io_futex", BTF_KIND_STRUCT);
}

#define ENTER(call, need_)                                                                         \
	HOOK("lock_enter_" call, "syscalls:sys_enter_" call, HOOK_TRACEPOINT, .need = need_)
#define EXIT(call, need_)                                                                          \
	HOOK("lock_exit", "syscalls:sys_exit_" call, HOOK_TRACEPOINT, .need = need_)
#define FUTEXES                                                                                    \
	ENTER("futex", HOOK_REQUIRED), EXIT("futex", HOOK_REQUIRED),                               \
		ENTER("futex_waitv", HOOK_OPTIONAL),					/* 5.16 */ \
		EXIT("futex_waitv", HOOK_OPTIONAL), ENTER("futex_wake", HOOK_OPTIONAL), /* 6.7 */  \
		ENTER("futex_wait", HOOK_OPTIONAL), EXIT("futex_wait", HOOK_OPTIONAL),             \
		HOOK("lock_switch", "sched:sched_switch", HOOK_RAW_TP),                            \
		HOOK("lock_threads", "task", HOOK_RUN, .when = has_own_btf),                       \
		HOOK("lock_uring_submit", "io_uring:io_uring_submit_req", HOOK_RAW_TP,             \
		     .need = HOOK_OPTIONAL, .when = has_uring_futex),                              \
		HOOK("lock_uring_complete", "io_uring:io_uring_complete", HOOK_RAW_TP,             \
		     .need = HOOK_OPTIONAL, .when = has_uring_futex)

/* Not raw tracepoints: their runs are skipped where a task was preempted in one (7.x). */
static const struct hook all[] = {
	FUTEXES,
	HOOK("lock_contention_begin", "lock:contention_begin", HOOK_TRACEPOINT, .since = "5.19"),
	HOOK("lock_contention_end", "lock:contention_end", HOOK_TRACEPOINT, .since = "5.19"),
	{0},
};
static const struct hook futexes[] = {FUTEXES, {0}};

static const struct variant variants[] = {
	{"all", "syscalls:sys_enter_futex and its like; lock:contention_begin, contention_end",
	 NULL, all},
	{"futex", "syscalls:sys_enter_futex and its like: no kernel locks", NULL, futexes},
	{0},
};

static const struct probe_option options[] = {
	PROBE_OPTION_RATE(200),
	OPTION("min", PROBE_TIME, 1000000,
	       "waits on futexes from this on are recorded singly, with their stacks (default "
	       "1ms)"),
	OPTION("kernel-min", PROBE_TIME, 1000000,
	       "likewise waits for locks of the kernel, with their owner (default 1ms)"),
	OPTION("period", PROBE_TIME, 1000000,
	       "of shorter waits take one sample per DURATION of waiting (default 1ms; 0s: every "
	       "wait)"),
	{0},
};

const char *lock_operation_name(uint64_t operation)
{
	static const char *const names[LOCK_OPERATION_CNT] = {
#define X(number, name, text) [number] = text,
		LOCK_OPERATIONS(X)
#undef X
	};
	const char *name = operation < LOCK_OPERATION_CNT ? names[operation] : NULL;

	return name ? name : "other";
}

static void operation_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
			  size_t sz)
{
	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, lock_operation_name(part[LOCK_PART_OPERATION]));
}

static void ended_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		      size_t sz)
{
	uint64_t error = part[LOCK_PART_ERROR];
	char name[24];

	operation_key(env, part, text, sz);
	series_key_add(text, sz,
		       error == LOCK_UNFINISHED ? "still waiting"
		       : error			? format_errno(name, error)
						: "woken");
}

static void kernel_locks_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS],
			     char *text, size_t sz)
{
	lock_kernel_locks_key(probe_env__state(env, &probe_lock_entry), env, part, text, sz);
}

static void holders_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
			size_t sz)
{
	static const char *const hows[LOCK_HOW_CNT] = {
#define X(name, text) [LOCK_##name] = text,
		LOCK_HOWS(X)
#undef X
	};
	uint64_t how = part[LOCK_PART_HOW];

	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, how < LOCK_HOW_CNT ? hows[how] : "other");
}

static const struct series series[] = {
	[SERIES_lock_latency - SERIES_OWN] = {"latency", "ns", SERIES_COARSE, "process\toperation",
					      operation_key},
	[SERIES_lock_ended - SERIES_OWN] = {"ended", "ns", SERIES_COUNTER,
					    "process\toperation\tresult", ended_key},
	[SERIES_lock_kernel -
		SERIES_OWN] = {"kernel", "ns", SERIES_COARSE, "process\tkind", lock_kernel_key},
	[SERIES_lock_kernel_locks - SERIES_OWN] = {"kernel_locks", "ns", SERIES_COARSE,
						   "lock\tkind\tcaller", kernel_locks_key},
	[SERIES_lock_klock_events -
		SERIES_OWN] = {"klock_events", "", SERIES_COUNTER, "process", series_key_comm},
	[SERIES_lock_klock_events + 1 -
		SERIES_OWN] = {"klock_throttled", "", SERIES_COUNTER, "process", series_key_comm},
	[SERIES_lock_holders -
		SERIES_OWN] = {"holders", "ns", SERIES_COUNTER, "owner\thow", holders_key},
	[SERIES_lock_lock_holder_events - SERIES_OWN] = {"lock_holder_events", "", SERIES_COUNTER,
							 "process", series_key_comm},
	[SERIES_lock_lock_holder_events + 1 - SERIES_OWN] = {"lock_holder_throttled", "",
							     SERIES_COUNTER, "process",
							     series_key_comm},
	{0},
};

static int prepare(struct probe_env *env)
{
	struct obrec_bpf *skel = env->skel;
	int err;

	skel->rodata->lock_min_ns = probe_env__option(env, &probe_lock_entry, "min");
	skel->rodata->lock_kernel_min_ns = probe_env__option(env, &probe_lock_entry, "kernel-min");
	skel->rodata->lock_period_ns = probe_env__option(env, &probe_lock_entry, "period");
	err = bpf_map__set_max_entries(skel->maps.lock_calls, CALLS);
	err = err ? err : bpf_map__set_max_entries(skel->maps.lock_words, WORDS);
	err = err ? err : bpf_map__set_max_entries(skel->maps.lock_owners, OWNERS);
	err = err ? err : bpf_map__set_max_entries(skel->maps.lock_holders, HOLDERS);
	return err ? err : lock_kernel_prepare(probe_env__state(env, &probe_lock_entry), env);
}

static bool record(struct probe_env *env, const struct wire_hdr *hdr)
{
	return lock_kernel_record(probe_env__state(env, &probe_lock_entry), env, hdr);
}

static void free_state(struct probe_env *env)
{
	lock_kernel_free(probe_env__state(env, &probe_lock_entry));
}

const struct probe probe_lock_entry = {
	.name = "lock",
	.event = REC_lock,
	.variants = variants,
	.series = series,
	.options = options,
	.state_sz = sizeof(struct lock_kernel),
	.prepare = prepare,
	.record = record,
	.start = lock_waits_start,
	.finish = lock_waits_finish,
	.free = free_state,
};
