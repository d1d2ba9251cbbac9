/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hooks as data: which programs a variant of a probe needs, and where they are attached. What a
 * probe with `hooks` in its variants would do in prepare() and attach() is done here.
 */
#ifndef RECORD_HOOKS_H
#define RECORD_HOOKS_H

#include "record/probe/attach.h"

struct probe_env;

enum hook_how { HOOK_TRACEPOINT, HOOK_RAW_TP, HOOK_TP_BTF };

enum hook_need {
	HOOK_REQUIRED,
	HOOK_OPTIONAL, /* not on all kernels or processors; left out there */
	HOOK_INSTEAD,  /* required where the optional one before it is left out */
};

/* The program's SEC() names the place as well; libbpf attaches by that. */
struct hook {
	const char *prog;   /* ended by one without */
	const char *target; /* GROUP:NAME of the tracepoint, NAME alone where it has no group */
	enum hook_how how;
	enum hook_need need;
};

/* Does this kernel have what the variant needs? Else one line why not. */
bool variant_possible(const struct variant *v, const struct features *f, char *why, size_t why_sz);

/* Chooses the programs of the variant that is taken for probe number i, if it has hooks. */
int hooks_prepare(struct probe_env *env, size_t i);
/* Attaches those. Reports its errors. */
int hooks_attach(struct probe_env *env, size_t i);

/* The states of probes that have one; hooks_prepare() makes them. */
void hooks_free(struct probe_env *env);

#endif
