/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Number of instructions that this kernel's verifier processes for each BPF program:
 *
 *   verify_insns [LIMIT]      lines "PROGRAM INSNS CHOICE"
 *
 * First the programs that the probes choose on this kernel (CHOICE: used), then those of their
 * other attach variants (CHOICE: the variant). Exit status 1 when a program does not load or takes
 * LIMIT instructions (default 200000) or more. The kernel allows a million; the margin is for other
 * compilers and kernels. Also 1 when the program of a uprobe has a private stack: see
 * keep_task_stack() of kernel.bpf.h.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bpf/unwind.h"
#include "record/host/kfuncs.h"
#include "record/probe/hooks.h"
#include "record/probe/metrics.h"
#include "record/probe/probe.h"
#include "obrec.skel.h"

enum { PROGRAMS_MAX = 512, LOG_SZ = 1 << 20, LOG_STATS = 4, CODE_SZ = 1 << 18 };

struct verified {
	char *log[PROGRAMS_MAX];
	bool printed[PROGRAMS_MAX];
};

static int quiet(enum libbpf_print_level level, const char *fmt, va_list args)
{
	return 0;
}

/* Opens and prepares the object as the session does (session_load.c). `only`: without the programs
 * of other probes; NULL: all. */
static struct obrec_bpf *open_prepared(const struct attach_plan *plan,
				       const struct record_opts *opts, const struct probe *only)
{
	struct obrec_bpf *skel = obrec_bpf__open();
	const struct features *f = &plan->features;
	struct probe_env env = {.skel = skel, .opts = opts, .plan = plan, .features = f};

	if (!skel)
		return NULL;
	skel->rodata->have_task_pt_regs = f->task_pt_regs;
	skel->rodata->can_disable_preempt = features_kfunc(f, WIRE_PREEMPT_ENABLE);
	bpf_map__set_max_entries(skel->maps.rings, f->cpus);
	bpf_map__set_max_entries(skel->maps.unwind_slots, f->cpus * UNWIND_CONTEXTS);
	bpf_map__set_max_entries(skel->maps.unwind_caches, f->cpus * UNWIND_CONTEXTS);
	bpf_program__set_autoload(skel->progs.core_fork, true);
	bpf_program__set_autoload(skel->progs.core_exec, true);
	for (size_t i = 0; probes[i]; i++) {
		if (only && probes[i] != only && probes[i]->needs != only)
			continue;
		if (hooks_prepare(&env, i) || (probes[i]->prepare && probes[i]->prepare(&env)))
			printf("# probe %s cannot be prepared\n", probes[i]->name);
	}
	hooks_free(&env);
	if (metrics_prepare(&env))
		printf("# cells cannot be prepared\n");
	if (kfuncs_put(skel->obj, f->kfunc))
		printf("# functions of the kernel cannot be put\n");
	return skel;
}

static void set_logs(struct obrec_bpf *skel, struct verified *v)
{
	struct bpf_program *p;
	size_t i = 0;

	bpf_object__for_each_program(p, skel->obj)
	{
		if (i == PROGRAMS_MAX)
			break;
		v->log[i][0] = 0;
		bpf_program__set_log_buf(p, v->log[i], LOG_SZ);
		bpf_program__set_log_level(p, LOG_STATS);
		i++;
	}
}

/* The verifier's "processed N insns ..." line, functions included; NULL when there is none. */
static const char *statistics(const char *log)
{
	const char *at = log, *line = NULL;

	for (; (at = strstr(at, "processed ")); at++)
		if (at == log || at[-1] == '\n')
			line = at;
	return line;
}

/* Prints the reason: the last line of the log that is none of its statistics. The other programs of
 * a load that failed have none. */
static void print_reason(const char *name, char *log)
{
	static const char *const statistic[] = {"processed ", "verification time ", "stack depth "};
	const char *reason = NULL;
	char *rest;

	for (char *line = strtok_r(log, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		size_t n = sizeof(statistic) / sizeof(statistic[0]);

		while (n && strncmp(line, statistic[n - 1], strlen(statistic[n - 1])))
			n--;
		if (!n)
			reason = line;
	}
	if (reason)
		printf("# %s: %s\n", name, reason);
}

/* Whether two runs of the program on a CPU would share a stack. */
static bool shares_stack(const struct bpf_program *p)
{
#if defined(__x86_64__)
	/* add r9, gs:[this_cpu_off]: emit_priv_frame_ptr() of arch/x86/net/bpf_jit_comp.c */
	static const uint8_t frame_ptr[] = {0x65, 0x4c, 0x03, 0x0c, 0x25};
	struct bpf_prog_info info = {.jited_prog_len = CODE_SZ};
	__u32 sz = sizeof(info);
	bool found = false;
	void *code;

	if (!strstr(bpf_program__section_name(p), "uprobe") &&
	    !strstr(bpf_program__section_name(p), "uretprobe"))
		return false;
	code = malloc(CODE_SZ);
	info.jited_prog_insns = (uintptr_t)code;
	if (code && !bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &sz) &&
	    info.jited_prog_insns)
		found = memmem(code, info.jited_prog_len < CODE_SZ ? info.jited_prog_len : CODE_SZ,
			       frame_ptr, sizeof(frame_ptr));
	free(code);
	return found;
#else
	return false;
#endif
}

/* Prints the programs of one load; returns the number of failures. */
static int print(struct obrec_bpf *skel, struct verified *v, const char *choice, long limit)
{
	struct bpf_program *p;
	int bad = 0;
	size_t i = 0;

	bpf_object__for_each_program(p, skel->obj)
	{
		const char *at = statistics(v->log[i]);
		long insns = at ? atol(at + strlen("processed ")) : -1;

		if (bpf_program__autoload(p) && !v->printed[i]) {
			v->printed[i] = true;
			bool loaded = bpf_program__fd(p) >= 0;
			bool shares = loaded && shares_stack(p);

			printf("%-24s %8ld %s%s%s\n", bpf_program__name(p), insns, choice,
			       shares ? " PRIVATE STACK" : "",
			       !loaded || insns < 0 ? " NOT LOADED"
			       : insns >= limit	    ? " TOO MANY"
						    : "");
			if (!loaded)
				print_reason(bpf_program__name(p), v->log[i]);
			bad += !loaded || insns < 0 || insns >= limit || shares;
		}
		if (++i == PROGRAMS_MAX) {
			printf("# more than %d programs\n", PROGRAMS_MAX);
			return bad + 1;
		}
	}
	return bad;
}

/* Loads the programs of the plan, or of one probe; returns the number of failures among those not
 * printed before. */
static int verify(const struct attach_plan *plan, const struct record_opts *opts,
		  const struct probe *only, struct verified *v, const char *choice, long limit)
{
	struct obrec_bpf *skel = open_prepared(plan, opts, only);
	int bad, err;

	if (!skel)
		return 1;
	set_logs(skel, v);
	err = obrec_bpf__load(skel);
	bad = print(skel, v, choice, limit);
	obrec_bpf__destroy(skel);
	return bad + !!err;
}

/* First the chosen variants, then each other one that this kernel supports. */
static int verify_all(struct attach_plan *plan, const struct record_opts *opts, struct verified *v,
		      long limit)
{
	char why[1024];
	int bad = 0, taken;

	for (size_t i = 0; probes[i]; i++) {
		taken = attach_choose(probes[i], &plan->features, 0, why, sizeof(why));
		plan->variant[i] = taken < 0 ? 0 : taken;
		if (taken < 0 && *probes[i]->name)
			printf("# probe %s is not available: %s\n", probes[i]->name, why);
	}
	bad = verify(plan, opts, NULL, v, "used", limit);
	for (size_t i = 0; probes[i]; i++) {
		const struct variant *each = probes[i]->variants;
		unsigned char best = plan->variant[i];

		for (unsigned n = 0; each && each[n].name; n++) {
			plan->variant[i] = n;
			if (n != best &&
			    attach_choose(probes[i], &plan->features, n + 1, why, sizeof(why)) >= 0)
				bad += verify(plan, opts, probes[i], v, each[n].name, limit);
		}
		plan->variant[i] = best;
	}
	return bad;
}

int main(int argc, char **argv)
{
	struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
	/* All that the probe func has. */
	struct record_opts opts = {
		.operand = {"kernel:hrtimer_nanosleep,arg1:str,ret:str", "f:f:ret",
			    "usdt:f:f:f,arg1:str"},
		.operand_cnt = 3,
	};
	long limit = argc > 1 ? atol(argv[1]) : 200000;
	struct attach_plan plan = {0};
	struct verified v = {0};
	char why[512];
	int bad;

	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	libbpf_set_print(quiet);
	if (features_detect(&plan.features, NULL, why, sizeof(why))) {
		printf("%s\n", why);
		return 77;
	}
	for (size_t i = 0; i < PROGRAMS_MAX; i++)
		if (!(v.log[i] = malloc(LOG_SZ)))
			return 1;
	bad = verify_all(&plan, &opts, &v, limit);
	for (size_t i = 0; i < PROGRAMS_MAX; i++)
		free(v.log[i]);
	return bad ? 1 : 0;
}
