/* SPDX-License-Identifier: BSD-2-Clause */
/* Hooks as data: the programs that a variant of a probe needs, and where they are attached. For a
 * variant with `hooks` these functions do the work of prepare() and attach(). */
#ifndef RECORD_HOOKS_H
#define RECORD_HOOKS_H

#include "record/probe/attach.h"

struct bpf_program;
struct probe;
struct probe_env;

enum hook_how {
	HOOK_TRACEPOINT,
	HOOK_RAW_TP,
	HOOK_TP_BTF,
	HOOK_FENTRY,
	HOOK_KPROBE,
	HOOK_PERF, /* perf_events.h, on each CPU */
	HOOK_RUN,  /* not attached: an iterator etc. that the probe runs */
};

enum hook_need {
	HOOK_REQUIRED,
	HOOK_OPTIONAL, /* skipped on kernels or processors without the target */
	HOOK_INSTEAD,  /* required where the preceding optional hook is skipped */
};

/* Except for functions and tracepoints, the program's SEC() also names the target; libbpf attaches
 * by it. One program may be at several tracepoints: it is verified once. */
struct hook {
	const char *prog; /* NULL ends the list */
	/* Tracepoint GROUP:NAME, or NAME if it has no group; a function, or several separated by
	 * '|', of which the first that exists is used; or a perf event. */
	const char *target;
	enum hook_how how;
	enum hook_need need;
	bool always;	  /* target exists on all kernels since 5.10: not checked */
	bool later;	  /* attached on demand with hook_attach() */
	const char *rate; /* HOOK_PERF: option of the probe with the rate; NULL: "freq" */
	/* Condition for using this hook, to choose between programs for different kernels. NULL:
	 * always. */
	bool (*when)(const struct features *f);
	const char *since; /* kernel version that added the target; may be NULL */
};

struct hook_state {
	bool used;	       /* the kernel has what it is for */
	struct bpf_link *link; /* owned by probe_env.links; NULL: not attached */
};

/* A list element; further fields by name. {0} ends the list. */
#define HOOK(program, at, how_, ...)                                                               \
	{                                                                                          \
		.prog = program, .target = at, .how = how_, __VA_ARGS__                            \
	}

/* Returns true if the kernel supports the variant, else the reason in one line. */
bool variant_possible(const struct variant *v, const struct features *f, char *why, size_t why_sz);

/* Selects the programs of the chosen variant of probe i, if it has hooks. */
int hooks_prepare(struct probe_env *env, size_t i);
/* Attaches them. Reports its errors. */
int hooks_attach(struct probe_env *env, size_t i);

/* Attaches one hook by its target, for probes that attach on demand. Reports its errors; -ENOENT:
 * the hook was skipped. */
int hook_attach(struct probe_env *env, const struct probe *probe, const char *target);
void hook_detach(struct probe_env *env, const struct probe *probe, const char *target);
bool hook_is_attached(const struct probe_env *env, const struct probe *probe, const char *target);

/* Runs an iterator. `out`: its output, malloc'ed, of *sz bytes; NULL: not wanted. 0 or a negative
 * errno. */
int hook_run(struct bpf_program *prog, void **out, size_t *sz);

/* Frees the states and links of probes, which hooks_prepare() allocated. */
void hooks_free(struct probe_env *env);

#endif
