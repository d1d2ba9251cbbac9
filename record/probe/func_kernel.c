/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf/probe/func.h"
#include "format/text.h"
#include "obrec.skel.h"
#include "record/probe/func_kernel.h"

void func_kernel_prepare(struct probe_env *env)
{
	bpf_program__set_autoload(env->skel->progs.func_kernel_entry, true);
	bpf_program__set_autoload(env->skel->progs.func_kernel_return, true);
}

static int attach_one(struct probe_env *env, const char *function, uint64_t address,
		      uint32_t cookie)
{
	struct obrec_bpf *skel = env->skel;
	struct func_place place = {.position = address};
	struct bpf_link *link;
	int err;

	err = bpf_map_update_elem(bpf_map__fd(skel->maps.func_places), &place, &cookie,
				  BPF_NOEXIST);
	if (err)
		return err;
	/* Returns first: a call whose return is missed would never end. */
	link = bpf_program__attach_kprobe(skel->progs.func_kernel_return, true, function);
	err = links__keep(&env->links, link);
	if (err)
		return err;
	err = links__keep(&env->links, bpf_program__attach_kprobe(skel->progs.func_kernel_entry,
								  false, function));
	if (err)
		links__drop(&env->links, link);
	return err;
}

/* Reads the next function from /proc/kallsyms. */
static bool next_function(FILE *symbols, char name[256], uint64_t *address)
{
	char line[512], type;

	while (fgets(line, sizeof(line), symbols))
		if (sscanf(line, "%" SCNx64 " %c %255s", address, &type, name) == 3 &&
		    (type == 't' || type == 'T') && !strchr(name, '.') &&
		    strncmp(name, "__pfx_", 6))
			return true;
	return false;
}

struct attached {
	size_t found, cnt, left_out;
	int err; /* of the last that failed */
};

/* Returns false if no function can be attached. */
static bool attach_next(struct probe_env *env, const char *function, uint64_t address,
			uint64_t wants,
			bool (*name)(struct probe_env *env, const char *function, uint64_t wants,
				     uint32_t *cookie),
			struct attached *a)
{
	uint32_t cookie;
	int err;

	if (!a->found++ && access("/sys/bus/event_source/devices/kprobe", F_OK)) {
		a->err = -EOPNOTSUPP;
		return false;
	}
	if (!address) { /* hidden */
		a->err = -EACCES;
		return false;
	}
	if (a->cnt == FUNC_KERNEL_MAX || !name(env, function, wants, &cookie)) {
		a->left_out++;
		return true;
	}
	err = attach_one(env, function, address, cookie);
	message_verbose("kernel: %s: %s", function, err ? strerror(-err) : "kprobe");
	if (err == -EEXIST) /* by another name */
		return true;
	a->left_out += !!err;
	a->cnt += !err;
	a->err = err ?: a->err;
	return true;
}

int func_kernel_attach(struct probe_env *env, const struct func_operand *o,
		       bool (*name)(struct probe_env *env, const char *function, uint64_t wants,
				    uint32_t *cookie),
		       size_t *left_out, char *why, size_t why_sz)
{
	FILE *symbols = fopen("/proc/kallsyms", "re");
	libbpf_print_fn_t print = libbpf_set_print(NULL); /* some functions cannot be probed */
	struct attached a = {0};
	char function[256];
	uint64_t address;

	while (symbols && next_function(symbols, function, &address))
		if (!fnmatch(o->symbol, function, 0) &&
		    !attach_next(env, function, address, o->wants, name, &a))
			break;
	libbpf_set_print(print);
	if (symbols)
		fclose(symbols);
	*left_out = a.left_out;
	if (a.cnt)
		return 0;
	if (!a.found)
		return -ENOENT;
	if (a.err == -EOPNOTSUPP)
		snprintf(why, why_sz, "the kernel has no kprobes (CONFIG_KPROBE_EVENTS)");
	else
		snprintf(why, why_sz, "cannot attach a kprobe: %s", strerror(-a.err));
	return -EOPNOTSUPP;
}
