/* SPDX-License-Identifier: BSD-2-Clause */
/* What this kernel and this process's privileges allow, found by trying, not by version numbers. */
#ifndef RECORD_FEATURES_H
#define RECORD_FEATURES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct features {
	char release[65];
	bool kernel_btf;	 /* the kernel carries its own types: BTF-typed programs work */
	char btf_file[PATH_MAX]; /* else the file to take them from; "" for none */
	bool task_pt_regs;	 /* helper bpf_task_pt_regs (5.15) */
	bool atomic_fetch;	 /* atomic additions that give the old value (5.12) */
	bool map_alloc;		 /* hash maps may allocate in tracing programs (6.1) */
	bool uprobe_multi;	 /* one link for many uprobes of a file (6.6) */
	int rdonly_cast;	 /* BTF id of bpf_rdonly_cast (6.2), or 0 */
	bool pmu;		 /* hardware cycle counter */
	unsigned cpus;		 /* possible, at most WIRE_MAX_CPUS */
};

/*
 * btf: the user's choice or NULL. 0; -EPERM or -EOPNOTSUPP with the missing capability, sysctl or
 * kernel option named in `why` (one line).
 */
int features_detect(struct features *f, const char *btf, char *why, size_t why_sz);

/* The id of a type or function (BTF_KIND_...) in the kernel's own BTF; 0: there is none. */
int features_btf_id(const struct features *f, const char *name, unsigned kind);
/* No more such questions for now: gives back what answers them. */
void features_forget_btf(void);

/* Does this attach point exist? ("sched", "sched_switch"); by kernel BTF, else by tracefs. */
bool features_has_tracepoint(const struct features *f, const char *group, const char *name);

/* Does the kernel have this function under its own name? */
bool features_has_function(const struct features *f, const char *name);
/* Hooks on functions, tried on `func`; else one line why not. */
bool features_try_fentry(const struct features *f, const char *func, char *why, size_t why_sz);
bool features_try_kprobe(const char *func, char *why, size_t why_sz);

/* CPUs to open events on: fills `cpus` with at most `max` numbers; returns how many, or negative
 * errno. */
int features_online_cpus(unsigned *cpus, size_t max);

/* One line for a failed perf_event_open(2). */
void features_explain_perf(int err, char *why, size_t why_sz);

#endif
