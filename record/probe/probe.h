/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a probe is to the session: one const struct, `probe_NAME_entry` in record/probe_NAME.c,
 * listed in probes.def. The session calls its functions in the order they stand here; any but
 * `prepare` may be NULL. Errors are reported by the probe, on one line.
 */
#ifndef RECORD_PROBE_H
#define RECORD_PROBE_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>

#include "record/probe/attach.h"
#include "record/host/features.h"
#include "record/base/links.h"
#include "record/session/session.h"

struct file_facts;
struct intake;
struct loss;
struct obrec_bpf;
struct tls_files;
struct tracker;
struct traffic;
struct wire_hdr;
struct unwind_store;

/* Owned by the session; what is not made yet is NULL. */
struct probe_env {
	struct obrec_bpf *skel;
	const struct record_opts *opts;
	const struct attach_plan *plan;
	const struct features *features; /* the plan's */
	struct unwind_store *store;
	struct tracker *tracker;
	struct intake *intake;
	struct loss *loss;
	struct links links;
	struct obz_writer *writer;
	struct traffic *traffic; /* probe l4's */
	struct tls_files *tls;	 /* probe tls's */
	struct bpf_link
		*offcpu_links[2];   /* of `links`: its switch and system call hooks, or NULL */
	uint64_t offcpu_from_ns;    /* waits are known since then; 0: start_ns */
	uint64_t start_ns, stop_ns; /* CLOCK_MONOTONIC: when `enabled` was set and cleared */
};

struct probe {
	const char *name;
	bool bulky;  /* sends records in masses: the rings are larger */
	bool urgent; /* news of processes cannot wait: it places stacks by them, or attaches */
	bool attaches_files; /* uprobes, in `file`: CAP_PERFMON is kept for that */
	unsigned facts;	     /* what `file` wants to know: FILE_FACT_* */
	/* The ways it can attach, best first, ended by one without name; NULL: there is no choice.
	 */
	const struct variant *variants;
	/* Without variants: can it work here? Else one line why not and what would help. */
	bool (*available)(const struct features *f, char *why, size_t why_sz);
	/* Skeleton open, not loaded: choose programs (autoload), constants, map sizes. */
	int (*prepare)(struct probe_env *env);
	/* Programs loaded, targets scanned: attach. Programs stay silent until `enabled`. */
	int (*attach)(struct probe_env *env);
	/* A file that was not seen before, or is not remembered, is mapped to be executed in a
	 * target; from the scan of targets on, so before `attach` as well. fd is O_PATH: to read a
	 * file of a target is for readers (readers.h). True: its end matters. */
	bool (*file)(struct probe_env *env, const struct file_facts *facts, int fd,
		     const struct stat *st, const char *path);
	/* Its end: no target has mapped it for a while, or it was rewritten. */
	void (*file_gone)(struct probe_env *env, const struct stat *st);
	/* `enabled` was set just now. */
	int (*start)(struct probe_env *env);
	/* A ring record of a kind that the session does not know: true when it was this probe's. */
	bool (*record)(struct probe_env *env, const struct wire_hdr *hdr);
	/* All rings were read once more. */
	void (*drained)(struct probe_env *env);
	/* About every second, and `last` when no more ring records will come. The first error of
	 * writing. */
	int (*tick)(struct probe_env *env, uint64_t now_ns, bool last);
	/* Identities are written again, for chunks that shall stand alone. */
	void (*reanchor)(struct probe_env *env);
	/* `enabled` was cleared just now, links still stand: hand in what is open. */
	void (*finish)(struct probe_env *env);
	/* A step of --cpu-budget that concerns it; budget.h says what the level means. */
	void (*thin)(struct probe_env *env, unsigned level);
	void (*free)(struct probe_env *env);
};

extern const struct probe probe_l4_entry; /* l7 stands on it */

/* In the order of probes.def, NULL-terminated. */
extern const struct probe *const probes[];

/* The number of the variant that is taken. */
unsigned probe_env__variant(const struct probe_env *env, const struct probe *probe);

#endif
