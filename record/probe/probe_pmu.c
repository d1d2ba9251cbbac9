/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts of perf events by thread (bpf/probe/pmu.bpf.c). Each second the counts that have grown are
 * cells. Where events share the processor's counters by turns, each second's count is scaled by the
 * time that the event was counted, as perf does.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <json-c/json.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/probe/pmu.h"
#include "format/records.h"
#include "format/text.h"
#include "obrec.skel.h"
#include "record/base/idmap.h"
#include "record/base/loss.h"
#include "record/process/process.h"
#include "record/probe/hooks.h"
#include "record/probe/perf_event_name.h"
#include "record/probe/perf_events.h"
#include "record/probe/probe.h"

extern const struct probe probe_pmu_entry;

_Static_assert((int)RECORD_EVENTS == PMU_EVENTS, "events of the options and of the programs");

enum { TASKS_MIN = 4096, TASKS_MAX = 32768, BATCH = 1024 };

/* What has been written of a thread. */
struct seen {
	struct pmu_value value[PMU_EVENTS];
};

struct pmu {
	uint64_t event[PMU_EVENTS];
	char name[PMU_EVENTS][PERF_EVENT_NAME_LEN];
	uint32_t cnt;
	struct idmap seen; /* by key of the thread */
	uint64_t *keys, *ended;
	struct pmu_task *tasks;		    /* BATCH of them, as keys and ended */
	struct pmu_value turns[PMU_EVENTS]; /* of this second, of all threads */
	uint64_t from_ns;
	bool named, failed;
	int err;
};

static struct pmu *state(const struct probe_env *env)
{
	return probe_env__state(env, &probe_pmu_entry);
}

static const struct hook by_btf[] = {
	HOOK("pmu_switch", "sched:sched_switch", HOOK_TP_BTF),
	HOOK("pmu_flush", "", HOOK_RUN),
	{0},
};
static const struct hook by_classic[] = {
	HOOK("pmu_switch_raw", "sched:sched_switch", HOOK_RAW_TP),
	HOOK("pmu_flush", "", HOOK_RUN),
	{0},
};

static const struct variant variants[] = {
	{"btf", "perf events of each CPU, read by tp_btf/sched_switch", NULL, by_btf},
	{"classic", "perf events of each CPU, read by raw_tp/sched_switch", NULL, by_classic},
	{0},
};

static const uint64_t usual[] = {
	PERF_EVENT(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES),
	PERF_EVENT(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS),
	PERF_EVENT(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES),
	PERF_EVENT(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES),
};

static uint32_t events_of(const struct record_opts *opts, const uint64_t **events)
{
	*events = opts->event_cnt ? opts->events : usual;
	return opts->event_cnt ?: sizeof(usual) / sizeof(*usual);
}

static const char *operand_add(struct record_opts *opts, const char *word)
{
	uint64_t event;

	if (perf_event_parse(word, &event))
		return "neither a probe nor the name of an event, as in cycles, LLC-load-misses, "
		       "page-faults, r1c2, with :u or :k in user or kernel mode only";
	for (unsigned i = 0; i < opts->event_cnt; i++)
		if (opts->events[i] == event)
			return NULL;
	if (opts->event_cnt == RECORD_EVENTS)
		return "too many events";
	opts->events[opts->event_cnt++] = event;
	return NULL;
}

static void describe(const struct record_opts *opts, struct json_object *to)
{
	struct json_object *list = json_object_new_array();
	char name[PERF_EVENT_NAME_LEN];
	const uint64_t *events;
	uint32_t cnt = events_of(opts, &events);

	for (uint32_t i = 0; i < cnt; i++)
		json_object_array_add(list,
				      json_object_new_string(perf_event_name(events[i], name)));
	json_object_object_add(to, "events", list);
}

static bool possible(const struct record_opts *opts, const struct features *f, char *why,
		     size_t why_sz)
{
	const uint64_t *events;
	uint32_t cnt = events_of(opts, &events);

	for (uint32_t i = 0; i < cnt; i++)
		if (!perf_event_possible(events[i], f, why, why_sz))
			return false;
	return true;
}

/* Context switches of kernel mode, as all are, are counted by the program itself. */
static bool is_switches(uint64_t event)
{
	return (event & ~PERF_EVENT_KERNEL) ==
	       PERF_EVENT(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
}

static int prepare(struct probe_env *env)
{
	struct obrec_bpf *skel = env->skel;
	struct pmu *p = state(env);
	uint64_t tasks = env->opts->max_mem / 64 / sizeof(struct pmu_task);
	const uint64_t *events;
	int err;

	p->cnt = events_of(env->opts, &events);
	memcpy(p->event, events, p->cnt * sizeof(*events));
	for (uint32_t i = 0; i < p->cnt; i++) {
		perf_event_name(events[i], p->name[i]);
		skel->rodata->pmu_switches |= (uint32_t)is_switches(events[i]) << i;
		skel->rodata->pmu_timed |= (uint32_t)perf_event_is_hardware(events[i]) << i;
	}
	skel->rodata->pmu_cnt = p->cnt;
	skel->rodata->pmu_cpu_cnt = env->features->cpus;
	p->keys = malloc(BATCH * sizeof(*p->keys));
	p->ended = malloc(BATCH * sizeof(*p->ended));
	p->tasks = malloc(BATCH * sizeof(*p->tasks));
	if (!p->keys || !p->ended || !p->tasks)
		return -ENOMEM;
	tasks = tasks < TASKS_MIN ? TASKS_MIN : tasks > TASKS_MAX ? TASKS_MAX : tasks;
	err = bpf_map__set_max_entries(skel->maps.pmu_tasks, tasks);
	err = err ?: bpf_map__set_max_entries(skel->maps.pmu_cpus, env->features->cpus);
	return err ?: bpf_map__set_max_entries(skel->maps.pmu_events, p->cnt * env->features->cpus);
}

/* Counts an event on a CPU, until the links of the capture are closed. */
static int count_on(struct probe_env *env, uint32_t i, unsigned cpu)
{
	uint32_t at = i * env->features->cpus + cpu;
	int fd = perf_event_count(state(env)->event[i], cpu), err;
	char why[256];

	if (fd == -ENODEV) /* went offline */
		return 0;
	if (fd < 0) {
		features_explain_perf(fd, why, sizeof(why));
		message_error("cannot count '%s' on CPU %u: %s", state(env)->name[i], cpu, why);
		return fd;
	}
	err = bpf_map_update_elem(bpf_map__fd(env->skel->maps.pmu_events), &at, &fd, BPF_ANY);
	if (err)
		message_error("cannot pass the counter of CPU %u to the kernel: %s", cpu,
			      strerror(-err));
	return links__keep_fd(&env->links, fd) ?: err;
}

static int attach(struct probe_env *env)
{
	unsigned cpus[WIRE_MAX_CPUS];
	int cnt = features_online_cpus(cpus, WIRE_MAX_CPUS), err = 0;
	struct pmu *p = state(env);

	if (cnt < 0) {
		message_error("cannot read the list of online CPUs: %s", strerror(-cnt));
		return cnt;
	}
	for (uint32_t i = 0; i < p->cnt && !err; i++)
		for (int c = 0; c < cnt && !err; c++)
			if (!is_switches(p->event[i]))
				err = count_on(env, i, cpus[c]);
	return err;
}

/* Charges the threads that run now. */
static void flush(struct probe_env *env)
{
	int prog = bpf_program__fd(env->skel->progs.pmu_flush), err = 0;
	uint64_t none[2] = {0};

	for (unsigned cpu = 0; cpu < env->features->cpus; cpu++) {
		LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = none, .ctx_size_in = sizeof(none),
			    .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);
		int one = bpf_prog_test_run_opts(prog, &run);

		if (one && one != -ENXIO) /* offline */
			err = one;
	}
	if (err && !state(env)->failed) {
		message_warn("events of threads that stay on a CPU are counted late: %s",
			     strerror(-err));
		loss__add(env->loss, "pmu", "threads that run not asked for their counts", 1);
	}
	state(env)->failed |= !!err;
}

static int start(struct probe_env *env)
{
	state(env)->from_ns = env->start_ns;
	env->skel->bss->pmu_on = true;
	flush(env);
	return 0;
}

/* ---- cells */

static const struct {
	unsigned series;
	const char *name, *unit, *keys;
} series[] = {
	{SERIES_pmu_counts, "counts", "", "process\tpid\tthread\ttid\tevent"},
	{SERIES_pmu_time, "time", "ns", "process\tpid\tthread\ttid\tevent"},
	/* sum: time that an event was enabled, if it was not counted all the time; count: the part
	 * of it that it was counted, in 1/1000 */
	{SERIES_pmu_multiplexed, "multiplexed", "ns", "event"},
};

static uint32_t series_id(unsigned number)
{
	return SERIES_NUMBER(probe_number(&probe_pmu_entry), number) + 1;
}

static void put(struct probe_env *env, enum rec_kind kind, const void *row)
{
	struct pmu *p = state(env);

	if (!p->err)
		p->err = obz_writer__put(env->writer, kind, row);
}

static void write_series(struct probe_env *env)
{
	for (size_t i = 0; i < sizeof(series) / sizeof(*series); i++) {
		struct rec_series r = {
			.id = series_id(series[i].series),
			.probe = span_of(probe_pmu_entry.name),
			.name = span_of(series[i].name),
			.kind = span_of("counter"),
			.unit = span_of(series[i].unit),
			.keys = span_of(series[i].keys),
		};

		put(env, REC_series, &r);
	}
	state(env)->named = true;
}

static void write_cell(struct probe_env *env, unsigned number, const char *key, uint64_t count,
		       uint64_t sum)
{
	struct rec_cell r = {
		.ts_ns = state(env)->from_ns,
		.series = series_id(number),
		.key = span_of(key),
		.count = count,
		.sum = sum,
	};

	put(env, REC_cell, &r);
}

static void copy_name(char to[WIRE_COMM_LEN + 1], const char *comm)
{
	snprintf(to, WIRE_COMM_LEN + 1, "%.*s", WIRE_COMM_LEN, comm);
	series_key_clean(to);
}

static void write_value(struct probe_env *env, const struct pmu_task *t, uint32_t i, uint64_t value)
{
	char process[WIRE_COMM_LEN + 1], thread[WIRE_COMM_LEN + 1], key[128];
	bool clock = perf_event_is_clock(state(env)->event[i]);

	copy_name(process, t->process);
	copy_name(thread, t->thread);
	snprintf(key, sizeof(key), "%s\t%u\t%s\t%u\t%s", process, t->tgid, thread, t->tid,
		 state(env)->name[i]);
	write_cell(env, clock ? SERIES_pmu_time : SERIES_pmu_counts, key, clock ? 0 : value,
		   clock ? value : 0);
}

/*
 * Writes what a thread's event has counted since. Nothing is taken while the event was not on the
 * hardware: the time goes to the interval in which it is.
 */
static void take_value(struct probe_env *env, const struct pmu_task *t, struct seen *seen,
		       uint32_t i)
{
	const struct pmu_value *now = &t->value[i];
	struct pmu_value *was = &seen->value[i], *turns = &state(env)->turns[i];
	uint64_t counted = now->counted - was->counted, value = counted;
	uint64_t enabled_ns = now->enabled_ns - was->enabled_ns;
	uint64_t running_ns = now->running_ns - was->running_ns;

	if (perf_event_is_hardware(state(env)->event[i])) {
		if (!running_ns)
			return;
		value = perf_event_scaled(counted, enabled_ns, running_ns);
		turns->enabled_ns += enabled_ns;
		turns->running_ns += running_ns;
	}
	*was = *now;
	if (value)
		write_value(env, t, i, value);
}

static int take_task(struct probe_env *env, uint64_t key, const struct pmu_task *t, uint64_t now_ns)
{
	struct pmu *p = state(env);
	char process[WIRE_COMM_LEN + 1];
	struct seen *seen = idmap_get(&p->seen, key);

	if (!seen) {
		seen = calloc(1, sizeof(*seen));
		if (!seen || idmap_put(&p->seen, key, seen)) {
			free(seen);
			return -ENOMEM;
		}
	}
	for (uint32_t i = 0; i < p->cnt; i++)
		take_value(env, t, seen, i);
	/* Its cells alone do not tell its cgroup. */
	copy_name(process, t->process);
	tracker__process(env->tracker, t->tgid, process, now_ns);
	return 0;
}

/* Threads added meanwhile may be returned twice or not at all. */
static int take_tasks(struct probe_env *env, uint64_t now_ns)
{
	int fd = bpf_map__fd(env->skel->maps.pmu_tasks), err = 0;
	struct pmu *p = state(env);
	bool more = true, first = true;
	uint32_t at = 0, cnt, ended;

	while (more && !err) {
		cnt = BATCH;
		ended = 0;
		err = bpf_map_lookup_batch(fd, first ? NULL : &at, &at, p->keys, p->tasks, &cnt,
					   NULL);
		more = !err;
		if (err && err != -ENOENT)
			return err;
		err = 0;
		first = false;
		for (uint32_t i = 0; i < cnt && !err; i++) {
			err = take_task(env, p->keys[i], &p->tasks[i], now_ns);
			if (p->tasks[i].ended)
				p->ended[ended++] = p->keys[i];
		}
		for (uint32_t i = 0; i < ended; i++) {
			bpf_map_delete_elem(fd, &p->ended[i]);
			free(idmap_del(&p->seen, p->ended[i]));
		}
	}
	return err;
}

static void write_turns(struct probe_env *env)
{
	struct pmu *p = state(env);

	for (uint32_t i = 0; i < p->cnt; i++) {
		const struct pmu_value *v = &p->turns[i];

		if (v->running_ns < v->enabled_ns)
			write_cell(env, SERIES_pmu_multiplexed, p->name[i],
				   1000.0 * v->running_ns / v->enabled_ns, v->enabled_ns);
	}
	memset(p->turns, 0, sizeof(p->turns));
}

static int tick(struct probe_env *env, uint64_t now_ns, bool last)
{
	struct pmu *p = state(env);
	int err;

	if (!p->named)
		write_series(env);
	if (!last)
		flush(env);
	err = take_tasks(env, now_ns);
	write_turns(env);
	p->from_ns = now_ns;
	return err ?: p->err;
}

static void reanchor(struct probe_env *env)
{
	state(env)->named = false;
}

static void finish(struct probe_env *env)
{
	flush(env);
	env->skel->bss->pmu_on = false;
}

static void free_pmu(struct probe_env *env)
{
	struct pmu *p = state(env);
	void *seen;

	if (!p)
		return;
	for (size_t i = 0; (seen = idmap_next(&p->seen, &i));)
		free(seen);
	idmap_fini(&p->seen);
	free(p->keys);
	free(p->ended);
	free(p->tasks);
}

const struct probe probe_pmu_entry = {
	.name = "pmu",
	.variants = variants,
	.operand = "EVENT,...",
	.operand_doc =
		"events to count, by perf's names: hardware (cycles, LLC-load-misses), "
		"software (page-faults), raw (r1c2), with :u or :k of one mode only; default "
		"cycles, instructions, cache-references, cache-misses",
	.operand_add = operand_add,
	.describe = describe,
	.state_sz = sizeof(struct pmu),
	.possible = possible,
	.prepare = prepare,
	.attach = attach,
	.start = start,
	.tick = tick,
	.reanchor = reanchor,
	.finish = finish,
	.free = free_pmu,
};
