/* SPDX-License-Identifier: BSD-2-Clause */
/* Off-CPU time (bpf/probe/offcpu.bpf.c). Waits in progress at the start are passed to the BPF side
 * by a task iterator. Waits in progress at the end are reported here. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/clock.h"
#include "format/records.h"
#include "format/text.h"
#include "record/probe/cpu_budget.h"
#include "record/probe/hooks.h"
#include "record/intake/intake.h"
#include "record/base/loss.h"
#include "record/probe/probe.h"
#include "record/probe/sleeper.h"
#include "obrec.skel.h"

extern const struct probe probe_offcpu_entry;

/* Maximum number of tracked threads, 140 bytes each; further ones are counted as lost. */
enum { THREADS_OF_PIDS = 16384, THREADS_OF_ALL = 65536, THREAD_SZ = 160 };

enum { BY_BTF, BY_CLASSIC };

struct offcpu {
	uint64_t from_ns; /* waits are tracked since then; 0: start_ns */
};

static struct offcpu *state(const struct probe_env *env)
{
	return probe_env__state(env, &probe_offcpu_entry);
}

/* Hooks that --cpu-budget may detach. */
#define SWITCH "sched:sched_switch"
#define SYS_EXIT "raw_syscalls:sys_exit"

static const struct hook by_btf[] = {
	HOOK("offcpu_switch", SWITCH, HOOK_TP_BTF),
	HOOK("offcpu_sys_exit", SYS_EXIT, HOOK_RAW_TP),
	HOOK("offcpu_asleep", "task", HOOK_RUN),
	HOOK("offcpu_open", "task", HOOK_RUN),
	{0},
};
static const struct hook by_classic[] = {
	HOOK("offcpu_switch_raw", SWITCH, HOOK_RAW_TP),
	HOOK("offcpu_sys_exit", SYS_EXIT, HOOK_RAW_TP),
	{0},
};

static const struct variant variants[] = {
	[BY_BTF] = {"btf", "tp_btf/sched_switch; stacks of sleeping threads by task iterators",
		    NULL, by_btf},
	[BY_CLASSIC] = {"classic", "raw_tp/sched_switch; sleeping threads from /proc", NULL,
			by_classic},
	{0},
};

static const struct probe_option options[] = {
	OPTION("period", PROBE_TIME, 10000000,
	       "off-CPU sampling period: take one sample per DURATION of accumulated blocked "
	       "time of a thread (default 10ms; 0s: every wait)",
	       .key = "offcpu_period_ns", .alias = {ALIAS("offcpu-period", 0, "DURATION")}),
	OPTION("min", PROBE_TIME, 0, "ignore waits shorter than this", .key = "offcpu_min_ns",
	       .alias = {ALIAS("offcpu-min", 0, "DURATION")}),
	OPTION("max", PROBE_TIME, 0, "ignore waits longer than this", .key = "offcpu_max_ns",
	       .alias = {ALIAS("offcpu-max", 0, "DURATION")}),
	{0},
};

static const char *conflict(const struct record_opts *o)
{
	uint64_t max = probe_option(o, &probe_offcpu_entry, "max");

	return max && max < probe_option(o, &probe_offcpu_entry, "min")
		       ? "--offcpu-max is less than --offcpu-min"
		       : NULL;
}

static uint64_t option(const struct probe_env *env, const char *name)
{
	return probe_env__option(env, &probe_offcpu_entry, name);
}

static bool is_typed(const struct probe_env *env)
{
	return probe_env__variant(env, &probe_offcpu_entry) == BY_BTF;
}

static bool attached(const struct probe_env *env, const char *hook)
{
	return hook_is_attached(env, &probe_offcpu_entry, hook);
}

static int prepare(struct probe_env *env)
{
	struct obrec_bpf *skel = env->skel;
	const struct record_opts *o = env->opts;
	uint64_t threads;

	skel->rodata->offcpu_period_ns = option(env, "period");
	skel->rodata->offcpu_min_ns = option(env, "min");
	skel->rodata->offcpu_max_ns = option(env, "max") ?: UINT64_MAX;
	threads = o->target.pid_cnt ? THREADS_OF_PIDS : THREADS_OF_ALL;
	while (threads > 1024 && threads * THREAD_SZ > o->max_mem / 16)
		threads /= 2;
	return bpf_map__set_max_entries(skel->maps.offcpu_threads, threads);
}

/* For kernels without the iterator: does the same from user space. */
static int note_asleep(void *ctx, uint32_t tgid, uint32_t tid)
{
	struct probe_env *env = ctx;
	int fd = bpf_map__fd(env->skel->maps.offcpu_threads);
	struct offcpu_thread t = {.tgid = tgid, .since_ns = state(env)->from_ns};
	uint64_t before, after;

	if (!strchr("SDTtI", sleeper_state(tgid, tid, &before) ?: 'X'))
		return 0;
	if (option(env, "period"))
		t.carry_ns = random() % option(env, "period");
	if (bpf_map_update_elem(fd, &tid, &t, BPF_NOEXIST))
		return 0;
	if (!strchr("SDTtI", sleeper_state(tgid, tid, &after) ?: 'X') || before != after)
		bpf_map_delete_elem(fd, &tid);
	return 0;
}

static int start(struct probe_env *env)
{
	int err;

	state(env)->from_ns = state(env)->from_ns ?: env->start_ns;
	if (!is_typed(env))
		return tracker__each_thread(env->tracker, note_asleep, env);
	env->skel->bss->offcpu_start_ns = state(env)->from_ns;
	err = hook_run(env->skel->progs.offcpu_asleep, NULL, NULL);
	if (err)
		message_warn("waits in progress at the start are missed: %s", strerror(-err));
	return 0;
}

/* The same rule as in BPF, for a wait cut off by the end of the capture. */
static uint64_t weigh(const struct probe_env *env, const struct offcpu_thread *t, uint64_t wait)
{
	unsigned thin = OFFCPU_THIN(t->flags);
	uint64_t period = env->skel->rodata->offcpu_period_ns << OFFCPU_PERIOD_SHIFT(thin);

	if (wait < env->skel->rodata->offcpu_min_ns || wait > env->skel->rodata->offcpu_max_ns)
		return 0;
	wait <<= thin;
	if (wait >= period)
		return wait;
	return (t->carry_ns + wait) / period * period;
}

static void hand_in(struct probe_env *env, uint32_t tid, const struct offcpu_thread *t,
		    struct unwind_user *u, const struct offcpu_open *open, struct stack_memory *m)
{
	struct wire_sample s = {
		.hdr = {.kind = WIRE_SAMPLE, .probe = SAMPLE_offcpu, .size = sizeof(s)},
		.ts_ns = env->stop_ns,
		.tgid = t->tgid,
		.tid = tid,
		.kernel_stack = t->kernel_stack,
		.value = t->due_ns,
	};

	if (t->since_ns && env->stop_ns > t->since_ns)
		s.value += weigh(env, t, env->stop_ns - t->since_ns);
	if (!s.value)
		return;
	if (open) {
		s.kernel_stack = open->kernel_stack;
		memcpy(s.comm, open->comm, sizeof(s.comm));
	}
	if (!open || open->regs[UNWIND_PT_IP])
		s.user_stack = sleeper_stack(env, u, open, m, SAMPLE_offcpu);
	intake__sample(env->intake, &s);
}

static int by_process(const void *a, const void *b)
{
	const struct offcpu_open *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

struct ending {
	struct probe_env *env;
	struct unwind_user *u;
	int threads; /* the map */
};

static bool take_thread(int fd, uint32_t tid, struct offcpu_thread *t)
{
	return !bpf_map_lookup_elem(fd, &tid, t) && (t->since_ns || t->due_ns);
}

static void on_open(void *ctx, const void *of, struct stack_memory *m)
{
	const struct offcpu_open *open = of;
	struct ending *e = ctx;
	struct offcpu_thread t;

	if (take_thread(e->threads, open->tid, &t))
		hand_in(e->env, open->tid, &t, e->u, open, m);
}

/* Those that the iterator did not see. */
static void hand_in_others(struct ending *e, const struct offcpu_open *open, size_t cnt)
{
	uint32_t *prev = NULL, tid;
	struct offcpu_thread t;

	while (!bpf_map_get_next_key(e->threads, prev, &tid)) {
		prev = &tid;
		if (take_thread(e->threads, tid, &t) &&
		    !bsearch(&(struct offcpu_open){.tgid = t.tgid, .tid = tid}, open, cnt,
			     sizeof(*open), by_process))
			hand_in(e->env, tid, &t, NULL, NULL, NULL);
	}
}

static unsigned hand_in_all(struct ending *e, const struct offcpu_open *open, size_t cnt)
{
	struct memory_place *places = calloc(cnt, sizeof(*places));
	unsigned late;

	if (!places)
		return 0;
	for (size_t i = 0; i < cnt; i++)
		places[i] =
			(struct memory_place){open[i].tgid, open[i].regs[UNWIND_PT_SP], &open[i]};
	late = stack_memory_each(e->env->readers, places, cnt, on_open, e);
	free(places);
	return late;
}

/* Reports waits in progress, and waits that ended without a hook. */
static void finish(struct probe_env *env)
{
	struct ending e = {.env = env, .threads = bpf_map__fd(env->skel->maps.offcpu_threads)};
	struct offcpu_open *open = NULL;
	unsigned late = 0;
	size_t cnt = 0;

	if (!attached(env, SWITCH)) /* detached */
		return;
	unwind_user__new(&e.u, env->store);
	if (is_typed(env) && !hook_run(env->skel->progs.offcpu_open, (void **)&open, &cnt))
		cnt /= sizeof(*open);
	if (cnt) {
		qsort(open, cnt, sizeof(*open), by_process);
		late = hand_in_all(&e, open, cnt);
	}
	if (late)
		loss__add(env->loss, "file access", "the memory of a process timed out", late);
	hand_in_others(&e, open, cnt);
	if (e.u)
		unwind_user__free(e.u);
	free(open);
}

/* As at the end of the capture: reports waits in progress up to now. */
static void turn_off(struct probe_env *env)
{
	int fd = bpf_map__fd(env->skel->maps.offcpu_threads);
	uint32_t tid;

	env->stop_ns = clock_now_ns();
	finish(env);
	hook_detach(env, &probe_offcpu_entry, SWITCH);
	while (!bpf_map_get_next_key(fd, NULL, &tid) && !bpf_map_delete_elem(fd, &tid))
		;
}

/* As at the start of the capture. */
static void turn_on(struct probe_env *env)
{
	state(env)->from_ns = clock_now_ns();
	if (!hook_attach(env, &probe_offcpu_entry, SWITCH))
		start(env);
}

/*
 * Two levels save hook cost, which sampling less cannot. From LEVEL_EARLY on the hook on system
 * call exit is detached, and the stack is unwound when the wait begins. At LEVEL_OFF nothing is
 * recorded.
 */
enum { LEVEL_EARLY = 9, LEVEL_OFF = 11, SWITCH_NS = 64, SYS_EXIT_NS = 40 };

static const struct lever lever = {
	.name = "offcpu",
	.end = LEVEL_OFF,
	.early = LEVEL_EARLY,
	.off = LEVEL_OFF,
	.wire = WIRE_SAMPLE,
	.sample = SAMPLE_offcpu,
	.programs = (const struct lever_program[]){{"offcpu_switch", .hook_ns = SWITCH_NS},
						   {"offcpu_", .hook_ns = SYS_EXIT_NS},
						   {0}},
};

static void thin(struct probe_env *env, unsigned level)
{
	bool early = level >= LEVEL_EARLY, off = level >= LEVEL_OFF;

	env->skel->bss->offcpu_thin = level;
	env->skel->bss->offcpu_early = early;
	if (early)
		hook_detach(env, &probe_offcpu_entry, SYS_EXIT);
	else if (!attached(env, SYS_EXIT))
		hook_attach(env, &probe_offcpu_entry, SYS_EXIT);
	if (off && attached(env, SWITCH))
		turn_off(env);
	else if (!off && !attached(env, SWITCH))
		turn_on(env);
}

const struct probe probe_offcpu_entry = {
	.name = "offcpu",
	.urgent = true,
	.variants = variants,
	.options = options,
	.conflict = conflict,
	.lever = &lever,
	.state_sz = sizeof(struct offcpu),
	.prepare = prepare,
	.start = start,
	.finish = finish,
	.thin = thin,
};
