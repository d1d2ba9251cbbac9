/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latency of functions (bpf/probe/func.bpf.c). Attaches uprobes to the functions that -e
 * func:BINARY:SYMBOL names, in every file of that name that a target maps, and beforehand in those
 * that programs still to be started would map; and kprobes to functions of the kernel. Calls in
 * progress at the end are reported here.
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/event.h"
#include "format/records.h"
#include "obrec.skel.h"
#include "record/host/uprobe_multi.h"
#include "record/host/uprobes.h"
#include "record/process/process.h"
#include "record/probe/cpu_budget.h"
#include "record/probe/func_slots.h"
#include "record/probe/func_impl.h"
#include "record/probe/func_kernel.h"
#include "record/probe/func_usdt.h"
#include "record/probe/hooks.h"
#include "record/probe/metrics.h"

enum {
	THREADS = 4096, /* with a call in progress or past, at a time */
	ARGS = 2048,	/* calls in progress whose arguments are kept */
	HOOK_NS = 700,	/* of a run without a row: measured, Linux 6.18 */
};

static const struct hook hooks[] = {
	HOOK("func_thread_exit", "sched:sched_process_exit", HOOK_TRACEPOINT),
	HOOK("func_thread_exec", "sched:sched_process_exec", HOOK_TRACEPOINT),
	{0},
};

static bool all_multi_possible(const struct features *f, char *why, size_t why_sz)
{
	return uprobes__multi_possible(f, why, why_sz) &&
	       func_kernel_multi_possible(f, why, why_sz);
}

static bool fentry_possible(const struct features *f, char *why, size_t why_sz)
{
	return uprobes__possible(f, why, why_sz) && func_slots_possible(f, why, why_sz);
}

static const struct variant variants[] = {
	[FUNC_KPROBE_MULTI] = {"kprobe-multi", "uprobes and kprobes, one link for many",
			       all_multi_possible, hooks},
	[FUNC_MULTI] = {"multi",
			"uprobes, one link for many (functions of the kernel: a kprobe for each)",
			uprobes__multi_possible, hooks},
	[FUNC_FENTRY] = {"fentry",
			 "uprobes, one link for each (functions of the kernel: up to 8 by fentry, "
			 "else a kprobe for each)",
			 fentry_possible, hooks},
	[FUNC_EACH] = {"each",
		       "uprobes, one link for each (functions of the kernel: a kprobe for each)",
		       uprobes__possible, hooks},
	{0},
};

enum { RATE, MIN };
static const struct probe_option options[] = {
	[RATE] = PROBE_OPTION_RATE(200),
	[MIN] = OPTION("min", PROBE_TIME, 10000000,
		       "calls from this on are recorded singly, with their user stacks (default "
		       "10ms; 0 for functions with arguments or results)"),
	OPTION("uretprobe", PROBE_FLAG, 0,
	       "see returns by uretprobes, not by return instructions: cheaper on many machines, "
	       "but a C++ exception that passes such a function ends its program",
	       .key = "func_uretprobe"),
	{0},
};

static bool is_min_given(const struct record_opts *opts)
{
	return opts->options_given[probe_number(&probe_func_entry)] >> MIN & 1;
}

static void function_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
			 size_t sz)
{
	const struct func_name *name =
		&func_state(env)->names[part[FUNC_PART_FUNCTION] & (FUNC_MAX - 1)];

	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, name->function);
	series_key_add(text, sz, name->binary);
}

static void reason_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		       size_t sz)
{
	static const char *const reasons[] = {
#define X(name, text) [FUNC_##name] = text,
		FUNC_REASONS(X)
#undef X
	};
	uint64_t reason = part[FUNC_PART_REASON];

	function_key(env, part, text, sz);
	series_key_add(text, sz,
		       reason < sizeof(reasons) / sizeof(*reasons) ? reasons[reason] : "other");
}

static void result_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		       size_t sz)
{
	uint64_t result = part[FUNC_PART_RESULT];
	char number[32];

	function_key(env, part, text, sz);
	snprintf(number, sizeof(number), "-%u", (unsigned)result);
	series_key_add(text, sz,
		       result == FUNC_RESULT_UNKNOWN ? "not known: ended in another function"
		       : result == FUNC_RESULT_BELOW ? "less than -4095"
						     : number);
}

static const struct series series[] = {
	[SERIES_func_latency - SERIES_OWN] = {"latency", "ns", SERIES_HISTOGRAM,
					      "process\tfunction\tbinary", function_key},
	[SERIES_func_unfinished - SERIES_OWN] = {"unfinished", "ns", SERIES_COUNTER,
						 "process\tfunction\tbinary\treason", reason_key},
	[SERIES_func_returned - SERIES_OWN] = {"returned", "", SERIES_HISTOGRAM,
					       "process\tfunction\tbinary", function_key},
	[SERIES_func_returned_other - SERIES_OWN] = {"returned_other", "", SERIES_COUNTER,
						     "process\tfunction\tbinary\tresult",
						     result_key},
	[SERIES_func_usdt -
		SERIES_OWN] = {"usdt", "", SERIES_COUNTER, "process\tprobe\tbinary", function_key},
	[SERIES_func_usdt_events -
		SERIES_OWN] = {"usdt_events", "", SERIES_COUNTER, "process", series_key_comm},
	[SERIES_func_usdt_throttled -
		SERIES_OWN] = {"usdt_throttled", "", SERIES_COUNTER, "process", series_key_comm},
	{0},
};

static int prepare(struct probe_env *env)
{
	struct obrec_bpf *skel = env->skel;
	uint64_t wants = 0;
	bool multi = func_is_multi(env), any = false, kernel = false, usdt = false;
	struct funcs *f = func_state(env);
	int err;

	f->names = calloc(FUNC_MAX, sizeof(struct func_name));
	if (!f->names)
		return -ENOMEM;
	for (unsigned i = 0; i < env->opts->operand_cnt; i++) {
		func_operand_parse(env->opts->operand[i], &f->operand[i]);
		kernel |= f->operand[i].kernel;
		usdt |= f->operand[i].usdt;
		any |= !f->operand[i].usdt;
		wants |= f->operand[i].usdt ? 0 : f->operand[i].wants;
	}
	func_files_prepare(env);
	skel->rodata->func_min_ns = probe_env__option(env, &probe_func_entry, "min");
	if (is_min_given(env->opts))
		skel->rodata->func_min_values_ns = skel->rodata->func_min_ns;
	skel->rodata->func_any_args = wants & FUNC_WANTS_ARGS;
	skel->rodata->func_any_untimed = wants & FUNC_UNTIMED;
	if (multi) {
		uprobe_multi__choose(skel->progs.func_entries);
		uprobe_multi__choose(skel->progs.func_returns);
		uprobe_multi__choose(skel->progs.func_exits);
		uprobe_multi__choose(skel->progs.func_jumps);
		uprobe_multi__choose(skel->progs.func_ifs);
	} else {
		bpf_program__set_autoload(skel->progs.func_entry, true);
		bpf_program__set_autoload(skel->progs.func_return, true);
		bpf_program__set_autoload(skel->progs.func_exit, true);
		bpf_program__set_autoload(skel->progs.func_jump, true);
		bpf_program__set_autoload(skel->progs.func_if, true);
	}
	if (kernel)
		func_kernel_prepare(env, probe_env__variant(env, &probe_func_entry));
	err = any ? bpf_map__set_max_entries(skel->maps.func_threads, THREADS) : 0;
	err = err ?: bpf_map__set_max_entries(skel->maps.func_names, FUNC_MAX);
	if (usdt)
		err = err ?: func_usdt_prepare(env, multi);
	if (wants & FUNC_WANTS_ARGS)
		err = err ?: bpf_map__set_max_entries(skel->maps.func_args, ARGS);
	return err
		       ?: bpf_map__set_max_entries(skel->maps.func_places,
						   multi && !kernel ? 1 : FUNC_MAX);
}

/* ---- calls in progress at the end */

static void report(struct probe_env *env, const struct func_thread *t, enum func_reason reason)
{
	struct metric_key key = {
		.series = SERIES_NUMBER(PROBE_func, SERIES_func_unfinished),
	};

	memcpy(key.part, t->process, sizeof(t->process));
	for (uint64_t i = 0; i < t->depth && i < FUNC_DEPTH; i++) {
		const struct func_call *c = &t->call[i];

		key.part[FUNC_PART_FUNCTION] = c->function;
		key.part[FUNC_PART_REASON] = c->missed ? FUNC_MISSED : reason;
		metrics_add(env, &key, env->stop_ns > c->begin_ns ? env->stop_ns - c->begin_ns : 0);
	}
}

struct sought {
	uint32_t tgid;
	bool lives;
};

static int is_it(void *ctx, uint32_t tgid)
{
	struct sought *s = ctx;

	s->lives |= s->tgid == tgid;
	return 0;
}

/* Of goroutines, whose ends are not seen, the process; 0: of a thread. */
static bool has_ended(struct probe_env *env, uint32_t tgid)
{
	struct sought s = {.tgid = tgid};

	if (tgid)
		tracker__each_target(env->tracker, is_it, &s);
	return tgid && !s.lives;
}

static void finish(struct probe_env *env)
{
	int threads = bpf_map__fd(env->skel->maps.func_threads);
	struct func_thread *t = malloc(sizeof(*t));
	uint64_t key;

	/* Threads that end meanwhile are removed, after which the next key would be the first
	 * again.
	 */
	while (t && !bpf_map_get_next_key(threads, NULL, &key)) {
		if (!bpf_map_lookup_elem(threads, &key, t))
			report(env, t,
			       has_ended(env, FUNC_KEY_TGID(key)) ? FUNC_EXIT : FUNC_RUNNING);
		bpf_map_delete_elem(threads, &key);
	}
	free(t);
}

static void free_state(struct probe_env *env)
{
	if (!func_state(env))
		return;
	probed_files_fini(&func_state(env)->files);
	func_files_fini(env);
	free(func_state(env)->names);
}

static void thin(struct probe_env *env, unsigned level)
{
	env->skel->bss->func_thin = level;
}

/* Rows and their stacks. What counts calls stays attached: it is complete, whatever it costs. */
static const struct lever lever = {
	.name = "func",
	.end = 10,
	.wire = WIRE_EVENT,
	.programs = (const struct lever_program[]){{"func_", .hook_ns = HOOK_NS},
						   {"usdt_", .hook_ns = HOOK_NS},
						   {0}},
};

const struct probe probe_func_entry = {
	.name = "func",
	.event = REC_func,
	.variants = variants,
	.series = series,
	.options = options,
	.lever = &lever,
	.thin = thin,
	.operand = "BINARY:SYMBOL",
	.operand_doc =
		"functions of a program or library, by its path or name, or of the "
		"kernel (kernel:SYMBOL); SYMBOL may have "
		"wildcards; several may be given; :ret behind it: results only; "
		"arg1:TYPE to arg6:TYPE and ret:TYPE behind it: arguments and results; TYPE "
		"is bool, int8, uint8, int16, uint16, int, uint, long, ulong, ptr, hex or str; "
		"usdt:BINARY:PROVIDER:NAME: "
		"USDT probes",
	.operand_error = func_operand_error,
	.operand_more = func_operand_more,
	.operand_alias = FUNC_OPERAND_USDT,
	.describe = func_operand_describe,
	.urgent = true,
	.attaches_files = true,
	.attaches_singly = 1u << FUNC_FENTRY | 1u << FUNC_EACH,
	.state_sz = sizeof(struct funcs),
	.prepare = prepare,
	.attach = func_files_attach,
	.file = func_files_new,
	.file_gone = func_files_gone,
	.finish = finish,
	.free = free_state,
};
