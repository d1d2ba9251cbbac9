/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that programs allocate (bpf/probe/alloc.bpf.c). Attaches uprobes to the allocators in all
 * files that targets map, and beforehand in those that programs still to be started would map.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/clock.h"
#include "format/option.h"
#include "format/text.h"
#include "format/text.h"
#include "obrec.skel.h"
#include "record/base/loss.h"
#include "record/binary/read_file.h"
#include "record/host/uprobe_multi.h"
#include "record/host/uprobes.h"
#include "record/probe/alloc_attach.h"
#include "record/probe/alloc_live.h"
#include "record/probe/alloc_rule.h"
#include "record/probe/cpu_budget.h"
#include "record/probe/hooks.h"
#include "record/probe/metrics.h"
#include "record/probe/probe.h"

extern const struct probe probe_alloc_entry;

/* At a time: sampled allocations in use, sampled calls of threads, processes that were begun. */
enum { LIVES = 131072, CALLS = 4096, PROCESSES = 16384 };

struct alloc {
	struct alloc_files *files;
	struct alloc_lives lives;
	uint64_t calls, bytes, frees; /* so far */
	bool finishing, reported;
};

static struct alloc *state(const struct probe_env *env)
{
	return probe_env__state(env, &probe_alloc_entry);
}

static bool follows(const struct probe_env *env)
{
	return probe_env__option(env, &probe_alloc_entry, "live");
}

/* ---- variants */

static bool session_possible(const struct features *f, char *why, size_t why_sz)
{
	if (f->uprobe_session)
		return uprobes__possible(f, why, why_sz);
	snprintf(why, why_sz, "entries cannot decide about returns (added in Linux 6.13)");
	return false;
}

static const struct hook hooks[] = {
	HOOK("alloc_fork", "sched_process_fork", HOOK_RAW_TP),
	HOOK("alloc_exec", "sched_process_exec", HOOK_RAW_TP),
	HOOK("alloc_exit", "sched_process_exit", HOOK_RAW_TP),
	{0},
};

static const struct variant variants[] = {
	[ALLOC_BY_SESSION] = {"session", "uprobes; at returns only of sampled calls",
			      session_possible, hooks},
	[ALLOC_BY_MULTI] = {"multi", "uprobes and uretprobes, one link for many",
			    uprobes__multi_possible, hooks},
	[ALLOC_BY_EACH] = {"each", "uprobes and uretprobes, one link for each", uprobes__possible,
			   hooks},
	{0},
};

/* ---- options */

enum { RATE_MAX = 1 << 30 };

static int parse_rate(const char *word, uint64_t *value)
{
	return parse_size(word, value) || *value > RATE_MAX ? -EINVAL : 0;
}

static int parse_yes_no(const char *word, uint64_t *value)
{
	*value = !strcmp(word, "yes");
	return *value || !strcmp(word, "no") ? 0 : -EINVAL;
}

static const struct probe_option options[] = {
	OPTION("rate", PROBE_WORD, 512 << 10,
	       "one sample per this many bytes allocated, on average (default 512K); 0: every "
	       "allocation",
	       .parse = parse_rate, .takes = "a size of up to 1G, as in 512K", .key = "alloc_rate"),
	OPTION("age", PROBE_TIME, 30000000000,
	       "memory in use for longer may be a leak, if it grows (default 30s)",
	       .key = "alloc_age"),
	OPTION("live", PROBE_WORD, 1,
	       "follow sampled allocations until they are freed: memory in use, leaks (default "
	       "yes); no: probes neither returns nor free()",
	       .parse = parse_yes_no, TAKES_ONE_OF("yes, no"), .key = "alloc_live"),
	{0},
};

static const struct series series[] = {
	[SERIES_alloc_calls - SERIES_OWN] = {"calls", "bytes", SERIES_COUNTER, "", NULL},
	[SERIES_alloc_frees - SERIES_OWN] = {"frees", "", SERIES_COUNTER, "", NULL},
	{0},
};

static double uniform(void)
{
	return (random() + 1.0) / (RAND_MAX + 1.0);
}

/* A gap that began with 0 would sample the first call of each slot. */
static void begin_gaps(struct probe_env *env, uint64_t rate)
{
	struct alloc_cpu *cpu = (void *)env->skel->bss->alloc_cpus;

	srandom(clock_now_ns());
	for (unsigned i = 0; i < WIRE_MAX_CPUS; i++)
		for (unsigned j = 0; j < ALLOC_SLOTS; j++)
			cpu[i].slot[j].gap = 1 + alloc_first_gap(uniform(), rate);
}

static int prepare(struct probe_env *env)
{
	struct alloc *a = state(env);
	struct obrec_bpf *skel = env->skel;
	bool follow = follows(env);
	int err;

	a->lives.rate = probe_env__option(env, &probe_alloc_entry, "rate");
	a->lives.age_ns = probe_env__option(env, &probe_alloc_entry, "age");
	a->lives.random = clock_now_ns();
	skel->rodata->alloc_rate = a->lives.rate;
	skel->rodata->alloc_age_ns = a->lives.age_ns;
	skel->rodata->alloc_follow = follow;
	begin_gaps(env, a->lives.rate);
	err = alloc_files__new(&a->files, env, probe_env__variant(env, &probe_alloc_entry), follow);
	err = err ?: bpf_map__set_max_entries(skel->maps.alloc_live, follow ? LIVES : 1);
	err = err ?: bpf_map__set_max_entries(skel->maps.alloc_calls, follow ? CALLS : 1);
	err = err ?: bpf_map__set_max_entries(skel->maps.alloc_tails, CALLS);
	return err ?: bpf_map__set_max_entries(skel->maps.alloc_procs, PROCESSES);
}

static int attach(struct probe_env *env)
{
	alloc_files__system(state(env)->files);
	return 0;
}

static bool file(struct probe_env *env, const struct file_facts *facts, int fd,
		 const struct stat *st, const char *path)
{
	return alloc_files__add(state(env)->files, facts, fd, st, path);
}

static void file_gone(struct probe_env *env, const struct stat *st)
{
	alloc_files__gone(state(env)->files, st);
}

/* ---- records */

static bool record(struct probe_env *env, const struct wire_hdr *hdr)
{
	struct alloc_lives *l = &state(env)->lives;
	struct wire_sample s;
	uint64_t go_rate;

	if (hdr->kind == WIRE_ALLOC && hdr->size == sizeof(s)) {
		memcpy(&s, hdr, sizeof(s));
		if (!ALLOC_SIZE_OF(s.value))
			return false;
		go_rate = s.kernel_stack;
		s.kernel_stack = 0;
		alloc_lives_send(env, l, &s, s.value, go_rate);
		return true;
	}
	if (hdr->kind != WIRE_ALLOC_FREED || hdr->size != sizeof(struct wire_alloc_freed))
		return false;
	alloc_lives_freed(l, (const struct wire_alloc_freed *)hdr);
	return true;
}

static void count(struct probe_env *env)
{
	const struct alloc_cpu *cpu = (const void *)env->skel->bss->alloc_cpus;
	struct metric_key calls_key = {.series = SERIES_NUMBER(PROBE_alloc, SERIES_alloc_calls)};
	struct metric_key frees_key = {.series = SERIES_NUMBER(PROBE_alloc, SERIES_alloc_frees)};
	uint64_t calls = 0, bytes = 0, frees = 0;
	struct alloc *a = state(env);

	for (unsigned i = 0; i < WIRE_MAX_CPUS; i++) {
		frees += cpu[i].frees;
		for (unsigned j = 0; j < ALLOC_SLOTS; j++) {
			calls += cpu[i].slot[j].calls;
			bytes += cpu[i].slot[j].bytes;
		}
	}
	if (calls > a->calls)
		metrics_add_many(env, &calls_key, calls - a->calls, bytes - a->bytes);
	if (frees > a->frees)
		metrics_add_many(env, &frees_key, frees - a->frees, 0);
	a->calls = calls;
	a->bytes = bytes;
	a->frees = frees;
}

static int tick(struct probe_env *env, uint64_t now_ns, bool last)
{
	count(env);
	if (!last && follows(env))
		alloc_lives_ended(env, &state(env)->lives);
	return 0;
}

static void drained(struct probe_env *env)
{
	struct alloc *a = state(env);

	if (!a->finishing)
		alloc_files__cycle(a->files, clock_now_ns());
	if (!a->finishing || a->reported)
		return;
	a->reported = true; /* no more ring records will come */
	if (follows(env))
		alloc_lives_finish(env, &a->lives, env->stop_ns);
}

static void reanchor(struct probe_env *env)
{
	if (follows(env))
		alloc_lives_keep(env);
}

static void finish(struct probe_env *env)
{
	state(env)->finishing = true;
}

/* ---- cost */

static void thin(struct probe_env *env, unsigned level)
{
	alloc_files__level(state(env)->files, level);
}

/* Before Linux 6.6 detaching would take too long. */
static uint32_t thinnable(const struct probe_env *env)
{
	return probe_env__variant(env, &probe_alloc_entry) == ALLOC_BY_EACH ? 0 : 65536;
}

/* What the trap of a uprobe costs in addition to the program, where it is not single-stepped; and
 * the program of a call that is not sampled. */
enum { TRAP_NS = 600, RETURN_TRAP_NS = 600, PROGRAM_NS = 100 };
enum { TELL_SHARE = 10 /* % of a CPU */ };

static uint64_t cost_ns(const struct probe_env *env)
{
	const struct alloc *a = state(env);
	bool returns =
		follows(env) && probe_env__variant(env, &probe_alloc_entry) != ALLOC_BY_SESSION;

	return (a->calls + a->frees) * (TRAP_NS + PROGRAM_NS) +
	       returns * a->calls * (RETURN_TRAP_NS + PROGRAM_NS);
}

static void conclude(const struct probe_env *env, struct json_object *end)
{
	const struct alloc *a = state(env);
	uint64_t ns = env->stop_ns > env->start_ns ? env->stop_ns - env->start_ns : 1;
	double share = 100.0 * cost_ns(env) / ns, calls = (a->calls + a->frees) * 1e9 / ns;
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "calls", json_object_new_uint64(a->calls));
	json_object_object_add(o, "frees", json_object_new_uint64(a->frees));
	json_object_object_add(o, "estimated_cost_ns", json_object_new_uint64(cost_ns(env)));
	json_object_object_add(end, "alloc", o);
	if (share >= TELL_SHARE)
		message_warn("alloc: the targets' %.3g calls a second to allocators have cost them "
			     "about %.0f%% of a CPU; --cpu-budget bounds it",
			     calls, share);
}

static const struct lever lever = {
	.name = "alloc",
	.end = 6,
	.wire = WIRE_ALLOC,
	.programs =
		(const struct lever_program[]){
			{.prefix = "alloc_return", .trap_ns = RETURN_TRAP_NS},
			{.prefix = "alloc_fork"},
			{.prefix = "alloc_ex"},
			{.prefix = "alloc_", .trap_ns = TRAP_NS},
			{0},
		},
};

static void free_state(struct probe_env *env)
{
	if (!state(env))
		return;
	alloc_files__free(state(env)->files);
	alloc_lives_fini(&state(env)->lives);
}

const struct probe probe_alloc_entry = {
	.name = "alloc",
	.costly = true,
	.variants = variants,
	.series = series,
	.options = options,
	.lever = &lever,
	.urgent = true,
	.ends = true,
	.attaches_files = true,
	.attaches_singly = 1u << ALLOC_BY_EACH,
	.facts = FILE_FACT_ALLOC,
	.state_sz = sizeof(struct alloc),
	.prepare = prepare,
	.attach = attach,
	.file = file,
	.file_gone = file_gone,
	.record = record,
	.drained = drained,
	.tick = tick,
	.reanchor = reanchor,
	.finish = finish,
	.conclude = conclude,
	.thin = thin,
	.thinnable = thinnable,
	.free = free_state,
};
