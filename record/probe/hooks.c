/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/probe/hooks.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/text.h"
#include "obrec.skel.h"
#include "record/probe/perf_events.h"
#include "record/probe/probe.h"

static bool tracepoint_possible(const struct hook *h, const struct features *f, char *why,
				size_t why_sz)
{
	const char *colon = strchr(h->target, ':');
	char group[32];

	if (h->how == HOOK_TP_BTF && !f->kernel_btf) {
		snprintf(why, why_sz, "needs the kernel's own BTF (CONFIG_DEBUG_INFO_BTF)");
		return false;
	}
	snprintf(group, sizeof(group), "%.*s", (int)(colon ? colon - h->target : 0), h->target);
	if (features_has_tracepoint(f, group, colon ? colon + 1 : h->target))
		return true;
	if (h->since)
		snprintf(why, why_sz, "no tracepoint %s (added in Linux %s)", h->target, h->since);
	else
		snprintf(why, why_sz,
			 "no tracepoint %s (%s, or tracefs is not mounted on /sys/kernel/tracing)",
			 h->target,
			 strstr(group, "syscalls") ? "CONFIG_FTRACE_SYSCALLS"
						   : "CONFIG_TRACEPOINTS");
	return false;
}

/* Finds the first of its functions that the kernel has; false: none. */
static bool function_of(const struct hook *h, const struct features *f, char *func, size_t sz)
{
	for (const char *at = h->target; *at; at += strspn(at, "|")) {
		int len = strcspn(at, "|");

		snprintf(func, sz, "%.*s", len, at);
		if (features_has_function(f, func))
			return true;
		at += len;
	}
	return false;
}

static bool function_possible(const struct hook *h, const struct features *f, char *why,
			      size_t why_sz)
{
	char func[64];

	if (function_of(h, f, func, sizeof(func)))
		return true;
	snprintf(why, why_sz, "the kernel has no function %s", h->target);
	return false;
}

static bool hook_possible(const struct hook *h, const struct features *f, char *why, size_t why_sz)
{
	if (h->always)
		return true;
	switch (h->how) {
	case HOOK_TRACEPOINT:
	case HOOK_RAW_TP:
	case HOOK_TP_BTF:
		return tracepoint_possible(h, f, why, why_sz);
	case HOOK_FENTRY:
	case HOOK_KPROBE:
		return function_possible(h, f, why, why_sz);
	case HOOK_PERF:
		return perf_events_possible(h->target, f, why, why_sz);
	case HOOK_RUN:
		break;
	}
	return true;
}

static bool is_meant(const struct hook *h, const struct features *f)
{
	return !h->when || h->when(f);
}

/* Checks whether hooks on functions can be attached at all, by trying the first one. */
static bool functions_possible(const struct hook *h, const struct features *f, char *why,
			       size_t why_sz)
{
	char func[64];

	for (; h && h->prog; h++) {
		if (h->how != HOOK_FENTRY && h->how != HOOK_KPROBE)
			continue;
		if (!function_of(h, f, func, sizeof(func)))
			return true; /* the missing function is reported next */
		return h->how == HOOK_FENTRY ? features_try_fentry(f, func, why, why_sz)
					     : features_try_kprobe(func, why, why_sz);
	}
	return true;
}

bool variant_possible(const struct variant *v, const struct features *f, char *why, size_t why_sz)
{
	if (v->possible && !v->possible(f, why, why_sz))
		return false;
	if (!functions_possible(v->hooks, f, why, why_sz))
		return false;
	for (const struct hook *h = v->hooks; h && h->prog; h++)
		if (h->need != HOOK_OPTIONAL && is_meant(h, f) && !hook_possible(h, f, why, why_sz))
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

static int prepare_one(struct probe_env *env, const struct probe *probe, const struct hook *h,
		       bool *used)
{
	struct bpf_program *prog = program(env, h);
	char why[256], func[64];
	int err;

	if (!prog)
		return -ENOENT;
	if (!is_meant(h, env->features))
		return 0;
	if (h->need == HOOK_OPTIONAL && !hook_possible(h, env->features, why, sizeof(why))) {
		message_verbose("probe '%s': %s", probe->name, why);
		return 0;
	}
	*used = true;
	err = bpf_program__set_autoload(prog, true);
	if (!err && h->how == HOOK_FENTRY && function_of(h, env->features, func, sizeof(func)))
		err = bpf_program__set_attach_target(prog, 0, func);
	return err;
}

/* Whether hook n of probe i is to be attached: its program may be loaded for other hooks, and the
 * probe may have left it out. */
static bool is_loaded(const struct probe_env *env, size_t i, size_t n)
{
	return env->hooks[i][n].used && bpf_program__autoload(program(env, &hooks_of(env, i)[n]));
}

int hooks_prepare(struct probe_env *env, size_t i)
{
	const struct hook *hooks = hooks_of(env, i);
	size_t cnt = 0;
	int err = 0;

	while (hooks[cnt].prog)
		cnt++;
	env->hooks[i] = calloc(cnt + 1, sizeof(*env->hooks[i]));
	if (probes[i]->state_sz)
		env->state[i] = calloc(1, probes[i]->state_sz);
	if (!env->hooks[i] || (probes[i]->state_sz && !env->state[i]))
		return -ENOMEM;
	for (size_t n = 0; n < cnt && !err; n++)
		err = prepare_one(env, probes[i], &hooks[n], &env->hooks[i][n].used);
	return err;
}

static struct bpf_link *attach_program(const struct probe_env *env, const struct hook *h,
				       struct bpf_program *prog)
{
	const char *colon = strchr(h->target, ':');
	char func[64], group[32];

	if (h->how == HOOK_KPROBE && function_of(h, env->features, func, sizeof(func)))
		return bpf_program__attach_kprobe(prog, false, func);
	if (h->how != HOOK_TRACEPOINT)
		return bpf_program__attach(prog);
	snprintf(group, sizeof(group), "%.*s", (int)(colon - h->target), h->target);
	return bpf_program__attach_tracepoint(prog, group, colon + 1);
}

/* The tracepoint has fewer arguments than the program reads. */
static bool is_other_kernel(const struct hook *h, int err)
{
	return h->how <= HOOK_TP_BTF && h->need == HOOK_OPTIONAL && err == -EINVAL;
}

/* Attaches hook n of probe i. */
static int attach_one(struct probe_env *env, size_t i, size_t n)
{
	const struct hook *h = &hooks_of(env, i)[n];
	struct bpf_program *prog = program(env, h);
	struct bpf_link *link;
	int err;

	if (h->how == HOOK_PERF)
		return perf_events_attach(&env->links, prog, h->target,
					  probe_env__option(env, probes[i], h->rate ?: "freq"));
	link = attach_program(env, h, prog);
	err = links__keep(&env->links, link);
	if (!err)
		env->hooks[i][n].link = link;
	else if (!is_other_kernel(h, err))
		message_error("cannot attach to '%s': %s", h->target, strerror(-err));
	return err;
}

int hooks_attach(struct probe_env *env, size_t i)
{
	const struct hook *hooks = hooks_of(env, i);
	bool before = false; /* already attached */

	for (size_t n = 0; hooks[n].prog; n++) {
		const struct hook *h = &hooks[n];
		int err;

		if (!is_loaded(env, i, n) || h->later || h->how == HOOK_RUN ||
		    (h->need == HOOK_INSTEAD && before))
			continue;
		err = attach_one(env, i, n);
		before = !err;
		if (err && !is_other_kernel(h, err))
			return err;
	}
	return 0;
}

/* Returns the number of the hook used for the target; -ENOENT: none. */
static int find(const struct probe_env *env, size_t i, const char *target)
{
	const struct hook *hooks = hooks_of(env, i);

	for (int n = 0; hooks[n].prog; n++)
		if (!strcmp(hooks[n].target, target) && is_loaded(env, i, n))
			return n;
	return -ENOENT;
}

int hook_attach(struct probe_env *env, const struct probe *probe, const char *target)
{
	size_t i = probe_number(probe);
	int n = find(env, i, target);

	return n < 0 ? n : attach_one(env, i, n);
}

void hook_detach(struct probe_env *env, const struct probe *probe, const char *target)
{
	size_t i = probe_number(probe);
	int n = find(env, i, target);

	if (n < 0 || !env->hooks[i][n].link)
		return;
	links__drop(&env->links, env->hooks[i][n].link);
	env->hooks[i][n].link = NULL;
}

bool hook_is_attached(const struct probe_env *env, const struct probe *probe, const char *target)
{
	size_t i = probe_number(probe);
	int n = find(env, i, target);

	return n >= 0 && env->hooks[i][n].link;
}

int hook_run(struct bpf_program *prog, void **out, size_t *sz)
{
	struct bpf_link *link = bpf_program__attach_iter(prog, NULL);
	size_t len = 0, cap = 0;
	char *buf = NULL;
	ssize_t n = 0;
	int fd, err;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	err = fd < 0 ? -errno : 0;
	while (!err) {
		if (cap - len < 65536) {
			char *p = realloc(buf, cap + 262144);

			if (!p) {
				err = -ENOMEM;
				break;
			}
			buf = p;
			cap += 262144;
		}
		n = read(fd, buf + len, cap - len);
		if (n == 0)
			break;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			err = -errno;
		if (n > 0)
			len += n;
	}
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	if (err || !out) {
		free(buf);
		return err;
	}
	*out = buf;
	*sz = len;
	return 0;
}

void hooks_free(struct probe_env *env)
{
	for (size_t i = 0; probes[i]; i++) {
		free(env->state[i]);
		free(env->hooks[i]);
	}
}
