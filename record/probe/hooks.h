/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hooks as data: which programs a variant of a probe needs, and where they are attached. What a
 * probe with `hooks` in its variants would do in prepare() and attach() is done here.
 */
#ifndef RECORD_HOOKS_H
#define RECORD_HOOKS_H

#include "record/probe/attach.h"

struct probe;
struct probe_env;

enum hook_how {
	HOOK_TRACEPOINT,
	HOOK_RAW_TP,
	HOOK_TP_BTF,
	HOOK_FENTRY,
	HOOK_KPROBE,
	HOOK_PERF, /* perf_events.h, on each CPU, with the probe's option "freq" */
	HOOK_RUN,  /* nowhere: an iterator or the like, which the probe runs */
};

enum hook_need {
	HOOK_REQUIRED,
	HOOK_OPTIONAL, /* not on all kernels or processors; left out there */
	HOOK_INSTEAD,  /* required where the optional one before it is left out */
};

/* The program's SEC() names the place as well, but for functions; libbpf attaches by that. */
struct hook {
	const char *prog; /* ended by one without */
	/* GROUP:NAME of the tracepoint, NAME alone where it has no group; a function, or several
	 * separated by '|', of which the first is taken that this kernel has; a perf event. */
	const char *target;
	enum hook_how how;
	enum hook_need need;
	bool always; /* all kernels from 5.10 on have the target: it is not looked for */
	bool later;  /* attached when the probe says so: hook_attach() */
	/* Only where this is so: of programs for several kernels one is taken. NULL: everywhere. */
	bool (*when)(const struct features *f);
	const char *since; /* the kernel that brought the target; may be NULL */
};

/* One of a list, with the other fields by name; {0} ends it. */
#define HOOK(program, at, how_, ...)                                                               \
	{                                                                                          \
		.prog = program, .target = at, .how = how_, __VA_ARGS__                            \
	}

/* Does this kernel have what the variant needs? Else one line why not. */
bool variant_possible(const struct variant *v, const struct features *f, char *why, size_t why_sz);

/* Chooses the programs of the variant that is taken for probe number i, if it has hooks. */
int hooks_prepare(struct probe_env *env, size_t i);
/* Attaches those. Reports its errors. */
int hooks_attach(struct probe_env *env, size_t i);

/* One of them alone, by its target: of a probe that comes and goes while it records. Reports its
 * errors; -ENOENT: it was left out. */
int hook_attach(struct probe_env *env, const struct probe *probe, const char *target);
void hook_detach(struct probe_env *env, const struct probe *probe, const char *target);
bool hook_is_attached(const struct probe_env *env, const struct probe *probe, const char *target);

/* The states of probes that have one, and links; hooks_prepare() makes them. */
void hooks_free(struct probe_env *env);

#endif
