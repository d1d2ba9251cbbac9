/* SPDX-License-Identifier: BSD-2-Clause */
/* Tries to attach to a kernel function: a host may forbid patching of kernel code. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/host/features.h"

enum { KERNEL_ENOTSUPP = 524 }; /* include/linux/errno.h; not part of the user-space headers */

/* Finds a symbol of the kernel's code; its address is 0 where it is hidden. */
static bool find_symbol(const char *name, uint64_t *address)
{
	char line[256], symbol[128], type;
	bool found = false;
	FILE *syms = fopen("/proc/kallsyms", "re");

	while (syms && !found && fgets(line, sizeof(line), syms))
		found = sscanf(line, "%" SCNx64 " %c %127s", address, &type, symbol) == 3 &&
			(type == 't' || type == 'T') && !strcmp(symbol, name);
	if (syms)
		fclose(syms);
	return found;
}

uint64_t features_symbol(const char *name)
{
	uint64_t address;

	return find_symbol(name, &address) ? address : 0;
}

bool features_has_function(const struct features *f, const char *name)
{
	uint64_t address;

	return f->kernel_btf ? features_btf_id(f, name, BTF_KIND_FUNC)
			     : find_symbol(name, &address);
}

void features_explain_attach(int err, const char *what, const char *option, char *why,
			     size_t why_sz)
{
	if (err == EPERM || err == EACCES)
		snprintf(why, why_sz, "attaching %s is not permitted (%s)", what, strerror(err));
	else if (err == KERNEL_ENOTSUPP || err == EOPNOTSUPP || err == ENOENT)
		snprintf(why, why_sz, "the kernel cannot attach %s (%s)", what, option);
	else
		snprintf(why, why_sz, "cannot attach %s: %s", what, strerror(err));
}

bool features_try_fentry(const struct features *f, const char *func, char *why, size_t why_sz)
{
	const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY);
	int prog, link = -1, err, id;

	if (!f->kernel_btf) {
		snprintf(why, why_sz, "needs the kernel's own BTF (CONFIG_DEBUG_INFO_BTF)");
		return false;
	}
	id = features_btf_id(f, func, BTF_KIND_FUNC);
	if (id <= 0) {
		snprintf(why, why_sz, "the kernel has no function %s", func);
		return false;
	}
	opts.attach_btf_id = id;
	prog = bpf_prog_load(BPF_PROG_TYPE_TRACING, NULL, "GPL", nothing, 2, &opts);
	if (prog >= 0)
		link = bpf_raw_tracepoint_open(NULL, prog);
	err = errno;
	if (link >= 0)
		close(link);
	if (prog >= 0)
		close(prog);
	if (link < 0)
		features_explain_attach(err, "fentry", "CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS",
					why, why_sz);
	return link >= 0;
}

bool features_try_kprobe(const char *func, char *why, size_t why_sz)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.kprobe_func = (uint64_t)(uintptr_t)func,
	};
	FILE *type = fopen("/sys/bus/event_source/devices/kprobe/type", "re");
	int fd = -1, err;

	if (!type || fscanf(type, "%u", &attr.type) != 1) {
		if (type)
			fclose(type);
		snprintf(why, why_sz, "the kernel has no kprobes (CONFIG_KPROBE_EVENTS)");
		return false;
	}
	fclose(type);
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	err = errno;
	if (fd >= 0)
		close(fd);
	else
		features_explain_attach(err, "a kprobe", "CONFIG_KPROBE_EVENTS", why, why_sz);
	return fd >= 0;
}
