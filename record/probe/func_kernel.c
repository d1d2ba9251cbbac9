/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/probe/func.h"
#include "format/text.h"
#include "obrec.skel.h"
#include "record/probe/func_slots.h"
#include "record/probe/func_kernel.h"

/* A function that an operand names. */
struct found {
	char name[FUNC_SYMBOL_MAX];
	unsigned long address;
	uint64_t cookie;
	bool attached;
};

struct attaching {
	struct probe_env *env;
	bool untimed;
	struct found *found; /* FUNC_MAX */
	size_t cnt, attached, left_out;
	bool any; /* one was found, be it left out */
	int err;  /* of the last that failed */
};

/* ---- what the kernel has */

/*
 * Linux 6.14 takes returns from the function graph (4346ba160409, "fprobe: Rewrite fprobe on
 * function-graph tracer"), with a stack of return addresses for each thread.
 */
static bool returns_have_stack(const struct features *f)
{
	return features_btf_id(f, "fprobe_hlist", BTF_KIND_STRUCT);
}

bool func_kernel_multi_sees_all(const struct features *f)
{
	char why[160];

	return func_kernel_multi_possible(f, why, sizeof(why)) && returns_have_stack(f);
}

bool func_kernel_multi_possible(const struct features *f, char *why, size_t why_sz)
{
#if defined(__x86_64__)
	if (features_btf_id(f, "bpf_kprobe_multi_link", BTF_KIND_STRUCT))
		return true;
	snprintf(why, why_sz,
		 "one link cannot attach many kprobes (added in Linux 5.18, "
		 "CONFIG_FPROBE)");
#else
	/* The registers at a return lack the stack pointer, by which calls are found again. */
	snprintf(why, why_sz, "one link for many kprobes is used on x86-64 only");
#endif
	return false;
}

/*
 * Where returns need instances from a pool in either way, many functions are attached sooner by one
 * link; for few, that takes longer.
 */
static bool multi_is_better(const struct probe_env *env, size_t cnt)
{
	enum { FEW = 16 };

	return cnt > FEW || returns_have_stack(env->features);
}

/* What the kernel replaces return addresses by. The first two are names of the same. */
static void find_trampolines(struct obrec_bpf *skel)
{
	uint64_t own = features_symbol("__kretprobe_trampoline");

	skel->rodata->func_trampolines[0] = own ?: features_symbol("kretprobe_trampoline");
	skel->rodata->func_trampolines[1] = features_symbol("arch_rethook_trampoline");
}

void func_kernel_prepare(struct probe_env *env, enum func_way way)
{
	struct obrec_bpf *skel = env->skel;
	bool stack = returns_have_stack(env->features);

	find_trampolines(skel);
	bpf_program__set_autoload(skel->progs.func_kernel_entry, true);
	bpf_program__set_autoload(skel->progs.func_kernel_return, true);
	if (way == FUNC_FENTRY || (way == FUNC_KPROBE_MULTI && !stack))
		func_slots_prepare(env);
	if (way != FUNC_KPROBE_MULTI)
		return;
	if (stack)
		skel->rodata->func_return_below = FUNC_RETURN_BELOW;
	bpf_program__set_autoload(skel->progs.func_kernel_entries, true);
	bpf_program__set_autoload(skel->progs.func_kernel_returns, true);
}

/* ---- attaching. Entries before returns: see bpf/probe/func_in_kernel.bpf.c */

static int attach_one(struct probe_env *env, const struct found *f)
{
	struct obrec_bpf *skel = env->skel;
	struct bpf_link *entry =
		bpf_program__attach_kprobe(skel->progs.func_kernel_entry, false, f->name);
	int err = links__keep(&env->links, entry);

	if (err)
		return err;
	err = links__keep(&env->links, bpf_program__attach_kprobe(skel->progs.func_kernel_return,
								  true, f->name));
	if (err)
		links__drop(&env->links, entry);
	return err;
}

/* What came of attaching a function. */
static void note(struct attaching *a, struct found *f, const char *way, int err)
{
	message_verbose("kernel: %s: %s%s%s", f->name, way, err ? ": " : "",
			err ? strerror(-err) : "");
	f->attached = !err;
	a->attached += !err;
	a->err = err ?: a->err;
}

static void attach_each(struct attaching *a)
{
	size_t cnt = 0;

	for (size_t i = 0; i < a->cnt; i++) {
		struct found *f = &a->found[i];
		int err = cnt < FUNC_KERNEL_MAX ? 0 : -E2BIG;

		if (f->attached)
			continue;
		note(a, f, "kprobe", err ?: attach_one(a->env, f));
		cnt += f->attached;
		a->left_out += !f->attached;
	}
}

static void attach_slots(struct attaching *a)
{
	for (size_t i = 0; i < a->cnt; i++) {
		struct found *f = &a->found[i];
		int slot = func_slots_find(a->env, f->name);

		if (slot >= 0)
			note(a, f, "fentry",
			     func_slots_attach(a->env, slot, f->cookie, a->untimed));
	}
}

/* Attaches one program to functions from..to-1. */
static int attach_link(const struct attaching *a, const struct bpf_program *prog, bool at_return,
		       size_t from, size_t to, struct bpf_link **link)
{
	unsigned long addresses[FUNC_MAX];
	__u64 cookies[FUNC_MAX];
	LIBBPF_OPTS(bpf_kprobe_multi_opts, opts, .addrs = addresses, .cookies = cookies,
		    .cnt = to - from, .retprobe = at_return);

	for (size_t i = from; i < to; i++) {
		addresses[i - from] = a->found[i].address;
		cookies[i - from] = a->found[i].cookie;
	}
	*link = bpf_program__attach_kprobe_multi_opts(prog, NULL, &opts);
	return links__keep(&a->env->links, *link);
}

static int attach_range(struct attaching *a, size_t from, size_t to)
{
	const struct obrec_bpf *skel = a->env->skel;
	struct bpf_link *entry = NULL, *at_return;
	int err = 0;

	if (!a->untimed || !returns_have_stack(a->env->features)) /* else missed ones are counted */
		err = attach_link(a, skel->progs.func_kernel_entries, false, from, to, &entry);
	if (err)
		return err;
	err = attach_link(a, skel->progs.func_kernel_returns, true, from, to, &at_return);
	if (err && entry)
		links__drop(&a->env->links, entry);
	return err;
}

/* One function that cannot be attached makes the kernel refuse all: the others are found by halves.
 */
static void attach_halves(struct attaching *a, size_t from, size_t to)
{
	int err = attach_range(a, from, to);

	if (!err) {
		for (size_t i = from; i < to; i++)
			note(a, &a->found[i], "kprobe.multi", 0);
	} else if (to - from > 1 && err != -EPERM && err != -EOPNOTSUPP) {
		attach_halves(a, from, from + (to - from) / 2);
		attach_halves(a, from + (to - from) / 2, to);
	}
}

/* ---- the functions of an operand */

bool func_kernel_next(FILE *symbols, char name[FUNC_SYMBOL_MAX], unsigned long *address)
{
	char line[512], type;

	while (fgets(line, sizeof(line), symbols))
		if (sscanf(line, "%lx %c %127s", address, &type, name) == 3 &&
		    (type == 't' || type == 'T') && !strchr(name, '.') &&
		    strncmp(name, "__pfx_", 6))
			return true;
	return false;
}

bool func_kernel_never_returns(const char *name)
{
	static const char *const names[] = {
		"do_exit",	  "do_group_exit",  "__*_sys_exit", "__*_sys_exit_group",
		"make_task_dead", "rewind_stack_*", "kthread_exit", "kthread_complete_and_exit"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!fnmatch(names[i], name, 0))
			return true;
	return false;
}

/* Returns false if no function can be attached. */
static bool add_function(struct attaching *a, const struct func_operand *o, struct found f,
			 bool (*name)(struct probe_env *env, const char *function, uint64_t wants,
				      uint32_t *cookie))
{
	const struct func_place place = {.position = f.address};
	int places = bpf_map__fd(a->env->skel->maps.func_places), err;
	uint64_t wants = o->wants | (func_kernel_never_returns(f.name) ? FUNC_NO_RETURN : 0);
	uint32_t cookie;

	if (!a->any && access("/sys/bus/event_source/devices/kprobe", F_OK))
		a->err = -EOPNOTSUPP;
	else if (!f.address) /* hidden */
		a->err = -EACCES;
	a->any = true;
	if (a->err)
		return false;
	if (!bpf_map_lookup_elem(places, &place, &cookie)) /* by another name */
		return true;
	err = a->cnt < FUNC_MAX && name(a->env, f.name, wants, &cookie)
		      ? bpf_map_update_elem(places, &place, &cookie, BPF_NOEXIST)
		      : -E2BIG;
	f.cookie = cookie;
	if (err)
		a->left_out++;
	else
		a->found[a->cnt++] = f;
	return true;
}

static int find_all(struct attaching *a, const struct func_operand *o,
		    bool (*name)(struct probe_env *env, const char *function, uint64_t wants,
				 uint32_t *cookie))
{
	FILE *symbols = fopen("/proc/kallsyms", "re");
	struct found f = {0};

	a->found = calloc(FUNC_MAX, sizeof(*a->found));
	if (!a->found || !symbols) {
		a->err = !a->found ? -ENOMEM : -errno;
		a->any = true;
	}
	while (!a->err && func_kernel_next(symbols, f.name, &f.address))
		if (!fnmatch(o->symbol, f.name, 0) && !add_function(a, o, f, name))
			break;
	if (symbols)
		fclose(symbols);
	return a->err;
}

static void explain(const struct func_operand *o, int err, char *why, size_t why_sz)
{
	char what[FUNC_SYMBOL_MAX + 32];

	snprintf(what, sizeof(what), "a kprobe to '%s'", o->symbol);
	features_explain_attach(err, what, "it may not be probed", why, why_sz);
}

int func_kernel_attach(struct probe_env *env, const struct func_operand *o,
		       bool (*name)(struct probe_env *env, const char *function, uint64_t wants,
				    uint32_t *cookie),
		       size_t *left_out, char *why, size_t why_sz)
{
	enum func_way way = probe_env__variant(env, &probe_func_entry);
	struct attaching a = {.env = env, .untimed = o->wants & FUNC_UNTIMED};
	libbpf_print_fn_t print = libbpf_set_print(NULL); /* some functions cannot be probed */

	if (!find_all(&a, o, name) && a.cnt) {
		attach_slots(&a);
		if (way == FUNC_KPROBE_MULTI && multi_is_better(env, a.cnt))
			attach_halves(&a, 0, a.cnt);
		attach_each(&a);
	}
	libbpf_set_print(print);
	free(a.found);
	*left_out = a.left_out;
	if (a.attached)
		return 0;
	if (!a.any)
		return -ENOENT;
	if (a.err == -EOPNOTSUPP)
		snprintf(why, why_sz, "the kernel has no kprobes (CONFIG_KPROBE_EVENTS)");
	else
		explain(o, -a.err, why, why_sz);
	return -EOPNOTSUPP;
}
