/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/probe/hooks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "obrec.skel.h"
#include "record/probe/probe.h"

static bool hook_possible(const struct hook *h, const struct features *f, char *why, size_t why_sz)
{
	const char *colon = strchr(h->target, ':');
	char group[32];

	snprintf(group, sizeof(group), "%.*s", (int)(colon ? colon - h->target : 0), h->target);
	if (!features_has_tracepoint(f, group, colon ? colon + 1 : h->target)) {
		snprintf(why, why_sz, "no tracepoint %s%s", h->target,
			 strncmp(h->target, "syscalls:", 9)
				 ? " (CONFIG_TRACEPOINTS)"
				 : " (CONFIG_FTRACE_SYSCALLS, or tracefs is not mounted on "
				   "/sys/kernel/tracing)");
		return false;
	}
	if (h->how == HOOK_TP_BTF && !f->kernel_btf) {
		snprintf(why, why_sz, "needs the kernel's own BTF (CONFIG_DEBUG_INFO_BTF)");
		return false;
	}
	return true;
}

bool variant_possible(const struct variant *v, const struct features *f, char *why, size_t why_sz)
{
	if (v->possible && !v->possible(f, why, why_sz))
		return false;
	for (const struct hook *h = v->hooks; h && h->prog; h++)
		if (h->need != HOOK_OPTIONAL && !hook_possible(h, f, why, why_sz))
			return false;
	return true;
}

static const struct hook *hooks_of(const struct probe_env *env, size_t i)
{
	static const struct hook none[1];
	const struct variant *v = probes[i]->variants;

	return v && v[env->plan->variant[i]].hooks ? v[env->plan->variant[i]].hooks : none;
}

static struct bpf_program *program(const struct probe_env *env, const struct hook *h)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(env->skel->obj, h->prog);

	if (!prog)
		message_error("there is no BPF program '%s'", h->prog);
	return prog;
}

int hooks_prepare(struct probe_env *env, size_t i)
{
	char why[256];

	if (probes[i]->state_sz)
		env->state[i] = calloc(1, probes[i]->state_sz);
	if (probes[i]->state_sz && !env->state[i])
		return -ENOMEM;
	for (const struct hook *h = hooks_of(env, i); h->prog; h++) {
		struct bpf_program *prog = program(env, h);

		if (!prog)
			return -ENOENT;
		if (h->need != HOOK_OPTIONAL || hook_possible(h, env->features, why, sizeof(why)))
			bpf_program__set_autoload(prog, true);
		else
			message_verbose("probe '%s': %s", probes[i]->name, why);
	}
	return 0;
}

int hooks_attach(struct probe_env *env, size_t i)
{
	bool before = false; /* is attached */

	for (const struct hook *h = hooks_of(env, i); h->prog; h++) {
		struct bpf_program *prog = program(env, h);
		int err;

		if (!bpf_program__autoload(prog) || (h->need == HOOK_INSTEAD && before))
			continue;
		err = links__keep(&env->links, bpf_program__attach(prog));
		before = !err;
		/* the place has fewer arguments than the program takes */
		if (err && !(h->need == HOOK_OPTIONAL && err == -EINVAL)) {
			message_error("cannot attach to '%s': %s", h->target, strerror(-err));
			return err;
		}
	}
	return 0;
}

void hooks_free(struct probe_env *env)
{
	for (size_t i = 0; probes[i]; i++)
		free(env->state[i]);
}
