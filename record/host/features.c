/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bpf/wire.h"
#include "record/host/features.h"
#include "record/host/privilege.h"
#include "record/host/procfs.h"
#include "record/host/uprobe_multi.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

/* Reads the first line of a /proc or /sys file; "" if there is none. */
static void first_line(const char *path, char *line, size_t sz)
{
	FILE *f = fopen(path, "re");

	line[0] = 0;
	if (!f)
		return;
	if (!fgets(line, sz, f))
		line[0] = 0;
	fclose(f);
}

/* BPF programs see pids of the initial namespace, side-band records those of obrec's namespace, and
 * users those of /proc. If these differ, the wrong processes would be recorded, or none. */
static int check_namespaces(char *why, size_t sz)
{
	char self[16];
	ssize_t len = readlink("/proc/self", self, sizeof(self) - 1);

	self[len > 0 ? len : 0] = 0;
	if (!procfs_in_initial_ns("user")) {
		snprintf(why, sz,
			 "in a user namespace (a rootless container?), whose capabilities do not "
			 "count for BPF: run obrec outside of it");
		return -EPERM;
	}
	if (atoi(self) != getpid() || !procfs_in_initial_ns("pid")) {
		snprintf(why, sz,
			 "in a PID namespace (a container?), or with the /proc of one, where "
			 "process ids differ from those of BPF: run obrec in the host's (docker "
			 "run --pid=host, Kubernetes hostPID: true)");
		return -EOPNOTSUPP;
	}
	return 0;
}

/* Checks for offsets of a time namespace (time_namespaces(7)); older kernels have none. */
static bool clocks_are_moved(void)
{
	FILE *f = fopen("/proc/self/timens_offsets", "re");
	long long sec, nsec;
	bool moved = false;

	while (f && fscanf(f, "%*s %lld %lld", &sec, &nsec) == 2)
		moved |= sec || nsec;
	if (f)
		fclose(f);
	return moved;
}

/* Tries the time namespaces of obrec's ancestors up to init. Those of its parent may be accessible
 * when that of init is not. */
static void enter_initial_time_ns(void)
{
	int proc = procfs_open(NULL);
	struct procfs_stat st;
	char path[32];

	for (uint32_t pid = getppid(), last = 0; last != 1; last = pid, pid = st.ppid) {
		int fd;

		snprintf(path, sizeof(path), "%u/ns/time", pid);
		fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0) {
			setns(fd, CLONE_NEWTIME);
			close(fd);
		}
		if (procfs_in_initial_ns("time") || procfs_stat(proc, pid, &st) || !st.ppid)
			break;
	}
	close(proc);
}

/*
 * In a time namespace obrec's clocks and the times in /proc differ from those of BPF programs and
 * perf events. Targets may be in any namespace, so obrec enters the initial one. It has a single
 * thread at this point. COMMAND, which was forked before, stays in its namespace.
 */
static int use_host_clocks(char *why, size_t sz)
{
	if (procfs_in_initial_ns("time") || !clocks_are_moved())
		return 0;
	enter_initial_time_ns();
	if (procfs_in_initial_ns("time"))
		return 0;
	snprintf(why, sz,
		 "in a time namespace, whose clocks differ from those of kernel events: run "
		 "obrec outside of it (nsenter --time=/proc/1/ns/time), or with CAP_SYS_ADMIN");
	return -EOPNOTSUPP;
}

static int check_privilege(char *why, size_t sz)
{
	char lockdown[128];
	int err = privilege_check(why, sz);

	if (err)
		return err;
	first_line("/sys/kernel/security/lockdown", lockdown, sizeof(lockdown));
	if (strstr(lockdown, "[confidentiality]")) {
		snprintf(why, sz,
			 "kernel lockdown mode 'confidentiality' prevents BPF from reading "
			 "memory (boot with lockdown=integrity or less)");
		return -EPERM;
	}
	return 0;
}

/* libbpf could block forever on a FIFO, and its error messages are vague. */
static int check_btf_file(const char *path, char *why, size_t sz)
{
	struct stat st;
	struct btf *btf;
	int err;

	if (stat(path, &st) || faccessat(AT_FDCWD, path, R_OK, AT_EACCESS)) {
		snprintf(why, sz, "cannot read BTF file '%s': %s", path, strerror(errno));
		return -ENOENT;
	}
	btf = S_ISREG(st.st_mode) ? btf__parse(path, NULL) : NULL;
	err = S_ISREG(st.st_mode) ? libbpf_get_error(btf) : -EINVAL;
	if (err) {
		snprintf(why, sz, "'%s' is not a file with BTF", path);
		return -EINVAL;
	}
	btf__free(btf);
	return 0;
}

/* Sets f->btf_file to the BTF of this kernel: next to obrec (unpacked release archive), else in its
 * package's directory. */
static bool find_shipped_btf(struct features *f)
{
	char exe[sizeof(f->btf_file) / 2];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	exe[n > 0 ? n : 0] = 0;
	slash = strrchr(exe, '/');
	if (slash) {
		snprintf(f->btf_file, sizeof(f->btf_file), "%.*s/../lib/obrec/btf/%s.btf",
			 (int)(slash - exe), exe, f->release);
		if (!faccessat(AT_FDCWD, f->btf_file, R_OK, AT_EACCESS))
			return true;
	}
	snprintf(f->btf_file, sizeof(f->btf_file), "/usr/lib/obrec/btf/%s.btf", f->release);
	return !faccessat(AT_FDCWD, f->btf_file, R_OK, AT_EACCESS);
}

static int find_btf(struct features *f, const char *btf, char *why, size_t sz)
{
	f->kernel_btf = !faccessat(AT_FDCWD, KERNEL_BTF, R_OK, AT_EACCESS);
	if (btf) {
		int err = check_btf_file(btf, why, sz);

		if (err)
			return err;
		snprintf(f->btf_file, sizeof(f->btf_file), "%s", btf);
		return 0;
	}
	if (f->kernel_btf)
		return 0;
	if (find_shipped_btf(f))
		return 0;
	snprintf(why, sz,
		 "kernel %s has no BTF (CONFIG_DEBUG_INFO_BTF): provide it with --btf FILE or as "
		 "%s; 'pahole --btf_encode_detached FILE vmlinux' generates it from the kernel's "
		 "debug package",
		 f->release, f->btf_file);
	f->btf_file[0] = 0;
	return -EOPNOTSUPP;
}

static bool has_pmu(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.freq = 1,
		.sample_freq = 99,
		.disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool has_atomic_fetch(void)
{
	/* *(u64 *)(r10 - 8) = 0; r0 = atomic_fetch_add(*(u64 *)(r10 - 8), r0); exit */
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .off = -8},
		{.code = BPF_STX | BPF_ATOMIC | BPF_DW,
		 .dst_reg = BPF_REG_10,
		 .off = -8,
		 .imm = BPF_ADD | BPF_FETCH},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, NULL, "GPL", insns,
			       sizeof(insns) / sizeof(insns[0]), NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Parsed at first use, as it takes 6 ms and 6 MB; NULL: not parsed. */
static struct btf *kernel_btf;

int features_btf_id(const struct features *f, const char *name, unsigned kind)
{
	int id;

	if (f->kernel_btf && !kernel_btf)
		kernel_btf = btf__load_vmlinux_btf();
	id = f->kernel_btf && kernel_btf ? btf__find_by_name_kind(kernel_btf, name, kind) : 0;
	return id > 0 ? id : 0;
}

/* Of the kernel, or the file that stands for it. */
static const struct btf *any_btf(const struct features *f)
{
	if (!kernel_btf)
		kernel_btf =
			f->kernel_btf ? btf__load_vmlinux_btf() : btf__parse(f->btf_file, NULL);
	return kernel_btf;
}

unsigned features_tracepoint_args(const struct features *f, const char *name)
{
	const struct btf *btf = any_btf(f);
	const struct btf_type *t;
	char type[64];
	int id;

	/* typedef void (*btf_trace_NAME)(void *, ARG...) */
	snprintf(type, sizeof(type), "btf_trace_%s", name);
	id = btf ? btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) : 0;
	t = id > 0 ? btf__type_by_id(btf, btf__type_by_id(btf, id)->type) : NULL;
	t = t && btf_is_ptr(t) ? btf__type_by_id(btf, t->type) : NULL;
	return t && btf_is_func_proto(t) && btf_vlen(t) ? btf_vlen(t) - 1 : 0;
}

int features_function_args(const struct features *f, const char *name)
{
	int id = features_btf_id(f, name, BTF_KIND_FUNC);
	const struct btf_type *t = id ? btf__type_by_id(kernel_btf, id) : NULL;

	t = t ? btf__type_by_id(kernel_btf, t->type) : NULL;
	return t && btf_is_func_proto(t) ? btf_vlen(t) : -ENOENT;
}

void features_enum_names(const struct features *f, const char *name, void *ctx,
			 void (*fn)(void *ctx, const char *name, uint32_t value))
{
	const struct btf *btf = any_btf(f);
	int id = btf ? btf__find_by_name_kind(btf, name, BTF_KIND_ENUM) : 0;
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;

	for (unsigned i = 0; t && i < btf_vlen(t); i++)
		fn(ctx, btf__name_by_offset(btf, btf_enum(t)[i].name_off), btf_enum(t)[i].val);
}

void features_forget_btf(void)
{
	btf__free(kernel_btf);
	kernel_btf = NULL;
}

/* Whether a global function may be called without preemption: the verifier notes of each whether it
 * might sleep (6.15, e2d8f560d176). */
static bool notes_sleep(const struct features *f)
{
	int id = features_btf_id(f, "bpf_subprog_info", BTF_KIND_STRUCT);
	const struct btf_type *t = id ? btf__type_by_id(kernel_btf, id) : NULL;

	for (unsigned i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(kernel_btf, btf_members(t)[i].name_off),
			    "might_sleep"))
			return true;
	return false;
}

static void find_kfunc(struct features *f, enum wire_kfunc which, const char *name)
{
	f->kfunc[which - WIRE_KFUNC_FIRST] = features_btf_id(f, name, BTF_KIND_FUNC);
}

static void find_kfuncs(struct features *f)
{
	char jit[16];

	/* Without the compiler the kernel takes no program that calls one. */
	first_line("/proc/sys/net/core/bpf_jit_enable", jit, sizeof(jit));
	if (*jit == '0')
		return;
	find_kfunc(f, WIRE_RDONLY_CAST, "bpf_rdonly_cast");
	if (!notes_sleep(f))
		return;
	find_kfunc(f, WIRE_PREEMPT_DISABLE, "bpf_preempt_disable");
	find_kfunc(f, WIRE_PREEMPT_ENABLE, "bpf_preempt_enable");
}

int features_detect(struct features *f, const char *btf, char *why, size_t why_sz)
{
	struct utsname u;
	int err, cpus;

	memset(f, 0, sizeof(*f));
	uname(&u);
	snprintf(f->release, sizeof(f->release), "%s", u.release);
	cpus = libbpf_num_possible_cpus();
	f->cpus = cpus < 1 ? 1 : cpus > WIRE_MAX_CPUS ? WIRE_MAX_CPUS : cpus;
	err = check_namespaces(why, why_sz);
	if (!err)
		err = check_privilege(why, why_sz);
	if (!err)
		err = use_host_clocks(why, why_sz);
	if (!err)
		err = find_btf(f, btf, why, why_sz);
	if (err)
		return err;
	if (libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL) != 1) {
		snprintf(why, why_sz, "kernel %s has no BPF ring buffer (5.8 or newer is needed)",
			 f->release);
		return -EOPNOTSUPP;
	}
	f->task_pt_regs =
		libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_task_pt_regs, NULL) == 1;
	f->atomic_fetch = has_atomic_fetch();
	/*
	 * Hash maps without preallocation: before fba1a1c6c912 ("bpf: Convert hash map to
	 * bpf_mem_alloc.", 6.1) an update in a tracing program could deadlock in the allocator.
	 * This cannot be tried safely, so the allocator's type is looked up in BTF.
	 */
	f->map_alloc = features_btf_id(f, "bpf_mem_alloc", BTF_KIND_STRUCT);
	find_kfuncs(f);
	f->uprobe_multi = uprobe_multi__possible(UPROBE_MULTI_ENTRY);
	f->uprobe_session = f->uprobe_multi && uprobe_multi__possible(UPROBE_MULTI_SESSION);
	f->pmu = has_pmu();
	return 0;
}

bool features_has_tracepoint(const struct features *f, const char *group, const char *name)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	char path[PATH_MAX];
	bool found;

	snprintf(path, sizeof(path), "btf_trace_%s", name);
	found = features_btf_id(f, path, BTF_KIND_TYPEDEF);
	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots) && !found; i++) {
		snprintf(path, sizeof(path), "%s/events/%s/%s", roots[i], group, name);
		found = !faccessat(AT_FDCWD, path, F_OK, AT_EACCESS);
	}
	return found;
}

int features_online_cpus(unsigned *cpus, size_t max)
{
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	unsigned first, last;
	size_t cnt = 0;
	int c;

	if (!f)
		return -errno;
	while (fscanf(f, "%u", &first) == 1) {
		last = first;
		c = fgetc(f);
		if (c == '-') {
			if (fscanf(f, "%u", &last) != 1)
				break;
			c = fgetc(f);
		}
		for (; first <= last && cnt < max; first++)
			cpus[cnt++] = first;
		if (c != ',')
			break;
	}
	fclose(f);
	return cnt ? (int)cnt : -EINVAL;
}

void features_explain_perf(int err, char *why, size_t why_sz)
{
	char value[16];

	if (err == -EACCES || err == -EPERM) {
		first_line("/proc/sys/kernel/perf_event_paranoid", value, sizeof(value));
		/* Levels specific to Debian and Ubuntu: above 2, CAP_PERFMON has no effect. */
		snprintf(why, why_sz,
			 privilege_has(CAP_PERFMON)
				 ? "sysctl kernel.perf_event_paranoid is %d: this kernel "
				   "requires CAP_SYS_ADMIN (up to 2, CAP_PERFMON suffices)"
				 : "needs CAP_PERFMON or CAP_SYS_ADMIN (or sysctl "
				   "kernel.perf_event_paranoid below 1, it is %d)",
			 atoi(value));
	} else if (err == -EINVAL) {
		first_line("/proc/sys/kernel/perf_event_max_sample_rate", value, sizeof(value));
		snprintf(why, why_sz,
			 "the frequency may exceed sysctl kernel.perf_event_max_sample_rate (%d)",
			 atoi(value));
	} else {
		snprintf(why, why_sz, "%s", strerror(-err));
	}
}
