/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a probe is to the session: one const struct, `probe_NAME_entry` in
 * record/probe/probe_NAME.c, listed in format/probes.def. Most is data; the session calls its
 * functions in the order they stand here, and any may be NULL. Errors are reported by the probe, on
 * one line.
 */
#ifndef RECORD_PROBE_H
#define RECORD_PROBE_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>

#include "bpf/metric.h"
#include "record/probe/attach.h"
#include "record/host/features.h"
#include "record/base/links.h"
#include "record/probe/record_opts.h"

struct file_facts;
struct intake;
struct json_object;
struct lever;
struct loss;
struct obrec_bpf;
struct tracker;
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
	uint64_t start_ns, stop_ns;	/* CLOCK_MONOTONIC: when `enabled` was set and cleared */
	void *state[RECORD_MAX_PROBES]; /* state_sz bytes each, zeroed */
	struct bpf_link **attached[RECORD_MAX_PROBES]; /* of `links`, by hook; NULL: it is not */
};

/* An option of a probe's own: -e NAME:option=value. */
struct probe_option {
	const char *name;
	enum { PROBE_FLAG, PROBE_COUNT, PROBE_TIME, PROBE_SHARE, PROBE_WORD } type;
	uint64_t value; /* unless it is given: a flag's is 0; times are ns, shares of 65536 */
	const char *doc;
	uint64_t min, max; /* of a count; max 0: any */
	const char *takes; /* what its value has to be, for errors; NULL: as all of its type */
	/* PROBE_WORD: *value is what was set so far. */
	int (*parse)(const char *word, uint64_t *value);
	const char *key; /* its name in the options of obz.json; NULL: it is not there */
	/* Options of obrec that stand for it. */
	struct probe_alias {
		const char *name;
		char letter;	     /* 0: none */
		const char *metavar; /* NULL: takes no argument */
		const char *given;   /* instead of the argument, when there is none; may be NULL */
		const char *doc;     /* NULL: the option's */
	} alias[2];
	const char *heading; /* of the help, before its aliases; NULL: goes on */
};

#define OPTION(name_, type_, value_, doc_, ...)                                                    \
	{                                                                                          \
		.name = name_, .type = type_, .value = value_, .doc = doc_, __VA_ARGS__            \
	}

#define ALIAS(name_, letter_, metavar_, ...)                                                       \
	{                                                                                          \
		.name = name_, .letter = letter_, .metavar = metavar_, __VA_ARGS__                 \
	}

/* Every probe with events has it. */
#define PROBE_OPTION_RATE(rate)                                                                    \
	OPTION("rate", PROBE_COUNT, rate,                                                          \
	       "events of each process and second that are recorded singly; 0: all")

/* What is counted in the kernel under SERIES_OWN + its position; bpf/metric.bpf.h. */
struct series {
	const char *name, *unit; /* unit of the values; "" for plain counts */
	enum { SERIES_COUNTER, SERIES_HISTOGRAM } kind;
	const char *keys; /* what the key's parts are, joined by tabs */
	/* A key as text, its parts joined by tabs. NULL: none. */
	void (*key_text)(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
			 size_t sz);
};

/* A key that is a process's name. */
void series_key_comm(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz);

struct probe {
	const char *name;
	const struct probe *needs; /* one before it in the list, without which it is nothing */
	unsigned event; /* the kind of record (REC_NAME) that it sends as events; 0: none */
	const struct series *series;	    /* ended by one without name */
	const struct probe_option *options; /* at most RECORD_PROBE_OPTIONS; likewise */
	/* Why the options given do not agree, one line; NULL: they do. */
	const char *(*conflict)(const struct record_opts *opts);
	/* What obz.json says of the options that have no key. */
	void (*describe)(const struct record_opts *opts, struct json_object *options);
	const struct lever *lever; /* what --cpu-budget may thin; NULL: nothing */
	size_t state_sz;
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
	/* What it adds to the end record. */
	void (*conclude)(const struct probe_env *env, struct json_object *end);
	/* A step of --cpu-budget moves its lever to this level. */
	void (*thin)(struct probe_env *env, unsigned level);
	/* Of 65536, what is kept at level 0; 0: there is nothing to thin. NULL: all. */
	uint32_t (*thinnable)(const struct probe_env *env);
	void (*free)(struct probe_env *env);
};

/* In the order of format/probes.def, NULL-terminated. */
extern const struct probe *const probes[];

/* The rest of a probe's line there. */
struct probe_info {
	const char *name, *title, *unit, *aliases;
	bool by_default;
};
extern const struct probe_info probe_infos[];

/* Is the word the probe's name or one of its aliases? */
bool probe_is_called(size_t number, const char *word, size_t len);

size_t probe_number(const struct probe *probe);
void *probe_env__state(const struct probe_env *env, const struct probe *probe);
/* What was given for an option, or its default; and to give it. */
uint64_t probe_option(const struct record_opts *opts, const struct probe *probe, const char *name);
void probe_option_give(struct record_opts *opts, const struct probe *probe, const char *name,
		       uint64_t value);
uint64_t probe_env__option(const struct probe_env *env, const struct probe *probe,
			   const char *name);

/* The number of the variant that is taken. */
unsigned probe_env__variant(const struct probe_env *env, const struct probe *probe);

#endif
