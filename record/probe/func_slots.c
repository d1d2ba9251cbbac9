/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "format/text.h"
#include "obrec.skel.h"
#include "record/probe/func_slots.h"
#include "record/probe/func_impl.h"
#include "record/probe/func_kernel.h"

bool func_slots_possible(const struct features *f, char *why, size_t why_sz)
{
	/* Kernels that have it may preempt programs of fentry, which then find the scratch memory
	 * in use. */
	if (func_kernel_multi_sees_all(f)) {
		snprintf(why, why_sz,
			 "programs may be preempted, and one link for many "
			 "kprobes sees all returns");
		return false;
	}
	return features_try_fentry(f, "hrtimer_nanosleep", why, why_sz);
}

static struct bpf_program *program(const struct obrec_bpf *skel, const char *what, unsigned slot)
{
	char name[32];

	snprintf(name, sizeof(name), "func_%s_%u", what, slot);
	return bpf_object__find_program_by_name(skel->obj, name);
}

static bool is_named(const struct funcs *f, unsigned operands, const char *function)
{
	for (unsigned i = 0; i < operands; i++)
		if (f->operand[i].kernel && !fnmatch(f->operand[i].symbol, function, 0))
			return true;
	return false;
}

/* Several functions of the same name: the kernel would take the first. */
static bool add_slot(struct funcs *f, const char *function)
{
	for (unsigned i = 0; i < f->slot_cnt; i++)
		if (!strcmp(f->slot[i], function))
			return false;
	if (f->slot_cnt == FUNC_SLOTS)
		return false;
	snprintf(f->slot[f->slot_cnt++], sizeof(f->slot[0]), "%s", function);
	return true;
}

/* Fills the slots. Returns false if there are too few. */
static bool find_functions(struct funcs *f, unsigned operands)
{
	FILE *symbols = fopen("/proc/kallsyms", "re");
	char name[FUNC_SYMBOL_MAX];
	unsigned long address;
	bool fit = symbols;

	while (fit && func_kernel_next(symbols, name, &address))
		if (is_named(f, operands, name))
			fit = add_slot(f, name);
	if (symbols)
		fclose(symbols);
	return fit;
}

static bool choose(struct probe_env *env, unsigned slot)
{
	const char *function = func_state(env)->slot[slot];
	struct bpf_program *entry = program(env->skel, "fentry", slot),
			   *leave = program(env->skel, "fexit", slot);
	char why[256];

	if (func_kernel_never_returns(function) ||
	    !features_try_fentry(env->features, function, why, sizeof(why)) ||
	    bpf_program__set_attach_target(entry, 0, function) ||
	    bpf_program__set_attach_target(leave, 0, function))
		return false;
	bpf_program__set_autoload(entry, true);
	bpf_program__set_autoload(leave, true);
	return true;
}

void func_slots_prepare(struct probe_env *env)
{
	struct funcs *f = func_state(env);

	if (!find_functions(f, env->opts->operand_cnt))
		f->slot_cnt = 0;
	for (unsigned i = 0; i < f->slot_cnt; i++)
		if (!choose(env, i))
			f->slot[i][0] = 0;
}

int func_slots_find(const struct probe_env *env, const char *function)
{
	const struct funcs *f = func_state(env);

	for (unsigned i = 0; i < f->slot_cnt; i++)
		if (!strcmp(f->slot[i], function))
			return i;
	return -1;
}

int func_slots_attach(struct probe_env *env, int slot, uint32_t cookie, bool untimed)
{
	int args = features_function_args(env->features, func_state(env)->slot[slot]), err;
	struct bpf_link *leave;

	if (args < 0)
		return args;
	env->skel->bss->func_slot_cookie[slot] = cookie;
	env->skel->bss->func_slot_args[slot] = args;
	leave = bpf_program__attach_trace(program(env->skel, "fexit", slot));
	err = links__keep(&env->links, leave);
	if (err || untimed) /* the result is all that is asked for */
		return err;
	err = links__keep(&env->links,
			  bpf_program__attach_trace(program(env->skel, "fentry", slot)));
	if (err)
		links__drop(&env->links, leave);
	return err;
}
