/* SPDX-License-Identifier: BSD-2-Clause */
/* Detects what the kernel and the privileges of this process allow, by trying instead of by version
 * number. */
#ifndef RECORD_FEATURES_H
#define RECORD_FEATURES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/wire.h"

struct features {
	char release[65];
	bool kernel_btf;	 /* the kernel has BTF: BTF-typed programs work */
	char btf_file[PATH_MAX]; /* external BTF file otherwise; "": none */
	bool task_pt_regs;	 /* helper bpf_task_pt_regs (5.15) */
	bool atomic_fetch;	 /* atomic operations that return the old value (5.12) */
	bool map_alloc;		 /* hash maps may allocate in tracing programs (6.1) */
	bool uprobe_multi;	 /* one link for many uprobes of a file (6.6) */
	bool uprobe_session;	 /* as above, whose entry decides about its return (6.13) */
	int kfunc[WIRE_KFUNCS];	 /* BTF ids of functions that programs call (wire_kfunc); 0: none */
	bool pmu;		 /* hardware cycle counter */
	unsigned cpus;		 /* possible CPUs, at most WIRE_MAX_CPUS */
};

/* btf: file given by the user, or NULL. Returns 0, or -EPERM or -EOPNOTSUPP with the missing
 * capability, sysctl or kernel option in `why` (one line). */
int features_detect(struct features *f, const char *btf, char *why, size_t why_sz);

static inline bool features_kfunc(const struct features *f, enum wire_kfunc which)
{
	return f->kfunc[which - WIRE_KFUNC_FIRST];
}

/* Returns the id of a type or function (BTF_KIND_...) in the kernel's own BTF; 0: not found. */
int features_btf_id(const struct features *f, const char *name, unsigned kind);
/* Number of arguments of a tracepoint's programs, by BTF; 0: not known. */
unsigned features_tracepoint_args(const struct features *f, const char *name);
/* Number of arguments of a function of the kernel, by its own BTF; -ENOENT. */
int features_function_args(const struct features *f, const char *name);
/* Calls fn for each name of an enum of the kernel, by BTF. */
void features_enum_names(const struct features *f, const char *name, void *ctx,
			 void (*fn)(void *ctx, const char *name, uint32_t value));
/* Frees the parsed BTF. The next look-up parses it again. */
void features_forget_btf(void);

/*
 * Returns true if the tracepoint ("sched", "sched_switch") exists, by kernel BTF or else tracefs.
 */
bool features_has_tracepoint(const struct features *f, const char *group, const char *name);

/* Returns true if the kernel has a function of exactly this name. */
bool features_has_function(const struct features *f, const char *name);
/* Address of a symbol of the kernel's code; 0: there is none, or addresses are hidden. */
uint64_t features_symbol(const char *name);
/* Tries to attach to `func`. On failure the reason is in `why` (one line). */
bool features_try_fentry(const struct features *f, const char *func, char *why, size_t why_sz);
bool features_try_kprobe(const char *func, char *why, size_t why_sz);
/* Why an attempt failed with errno `err`, in one line. what: "a kprobe"; option: what it needs. */
void features_explain_attach(int err, const char *what, const char *option, char *why,
			     size_t why_sz);

/*
 * Fills `cpus` with up to `max` numbers of online CPUs. Returns their number or a negative errno.
 */
int features_online_cpus(unsigned *cpus, size_t max);

/* Explains a failed perf_event_open(2) in one line. */
void features_explain_perf(int err, char *why, size_t why_sz);

#endif
