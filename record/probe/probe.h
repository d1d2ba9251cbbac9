/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interface between probes and session. A probe is one const struct, `probe_NAME_entry` in
 * record/probe/probe_NAME.c, listed in format/probes.def. Most of it is data. The session calls the
 * functions in the order listed; any may be NULL. The probe reports its errors on one line.
 */
#ifndef RECORD_PROBE_H
#define RECORD_PROBE_H

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "bpf/metric.h"
#include "record/probe/attach.h"
#include "record/host/features.h"
#include "record/base/links.h"
#include "record/probe/record_opts.h"
#include "record/probe/series_key.h"

struct file_facts;
struct intake;
struct json_object;
struct kallsyms;
struct lever;
struct loss;
struct obrec_bpf;
struct readers;
struct tracker;
struct uprobes;
struct wire_hdr;
struct unwind_store;

/* Owned by the session. Objects not yet created are NULL. */
struct probe_env {
	struct obrec_bpf *skel;
	const struct record_opts *opts;
	const struct attach_plan *plan;
	const struct features *features; /* the plan's */
	struct unwind_store *store;
	struct tracker *tracker;
	struct readers *readers;
	struct intake *intake;
	struct loss *loss;
	struct kallsyms *kallsyms; /* NULL: addresses are hidden */
	struct links links;
	struct uprobes *uprobes; /* NULL: no probe attaches_files */
	struct obz_writer *writer;
	uint64_t start_ns, stop_ns;	/* CLOCK_MONOTONIC: when `enabled` was set and cleared */
	void *state[RECORD_MAX_PROBES]; /* state_sz bytes each, zeroed */
	struct hook_state *hooks[RECORD_MAX_PROBES]; /* one for each hook */
};

/* An option of a probe: -e NAME:option=value. */
struct probe_option {
	const char *name;
	enum { PROBE_FLAG, PROBE_COUNT, PROBE_TIME, PROBE_SHARE, PROBE_WORD } type;
	uint64_t value; /* default; 0 for a flag; times in ns, shares in 1/65536 */
	const char *doc;
	uint64_t min, max;  /* of a count; max 0: unlimited */
	const char *takes;  /* expected value, for errors; NULL: as usual for the type */
	const char *values; /* words that the value may be (struct option_def); NULL: any */
	bool list;	    /* the value is a list of them */
	/* PROBE_WORD: *value is the value set so far. */
	int (*parse)(const char *word, uint64_t *value);
	const char *key; /* key in the options of obz.json; NULL: not written */
	/* Equivalent options of obrec. */
	struct probe_alias {
		const char *name;
		char letter;	     /* 0: none */
		const char *metavar; /* NULL: takes no argument */
		const char *given;   /* value if no argument is given; may be NULL */
		const char *doc;     /* NULL: that of the option */
	} alias[2];
	const char *variant; /* the attach variant that it selects, which is not taken otherwise;
			      * NULL: none */
	const char *heading; /* heading in --help before its aliases; NULL: same section */
};

/* attach() returns -PROBE_NOT_THERE if what an operand names does not exist. */
#define PROBE_NOT_THERE EBADRQC

#define OPTION(name_, type_, value_, doc_, ...)                                                    \
	{                                                                                          \
		.name = name_, .type = type_, .value = value_, .doc = doc_, __VA_ARGS__            \
	}

#define ALIAS(name_, letter_, metavar_, ...)                                                       \
	{                                                                                          \
		.name = name_, .letter = letter_, .metavar = metavar_, __VA_ARGS__                 \
	}

#define TAKES_ONE_OF(words) .takes = "one of " words, .values = words

/* Common to all probes with events. */
#define PROBE_OPTION_RATE(rate)                                                                    \
	OPTION("rate", PROBE_COUNT, rate,                                                          \
	       "events of each process and second that are recorded singly; 0: all")

/* A metric counted in the kernel under SERIES_OWN + its position; bpf/metric.bpf.h. */
struct series {
	const char *name, *unit; /* unit of the values; "": plain count */
	/* SERIES_COARSE: a histogram whose programs use METRIC_COARSE(). */
	enum { SERIES_COUNTER, SERIES_HISTOGRAM, SERIES_COARSE } kind;
	const char *keys; /* names of the key's parts, joined by tabs */
	/* Formats a key as text, its parts joined by tabs. NULL: no key. */
	void (*key_text)(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
			 size_t sz);
};

struct probe {
	const char *name;
	const struct probe *needs;	    /* a required probe earlier in the list */
	unsigned event;			    /* record kind (REC_NAME) of its events; 0: none */
	const struct series *series;	    /* ends with an entry without name */
	const char *own;		    /* map of struct metric_own; NULL: none */
	const struct probe_option *options; /* likewise; at most RECORD_PROBE_OPTIONS */
	/* What it records is given as -e NAME:OPERAND, which contains a colon: a placeholder and
	 * its description; NULL: it has no operands. */
	const char *operand, *operand_doc;
	const char *(*operand_error)(const char *word); /* NULL: the word is one */
	/* Whether the word does not name another one, but is added to the last, behind a comma. May
	 * be NULL. */
	bool (*operand_more)(const char *word, size_t len);
	/* An alias whose operands are of another kind: they are given the prefix ALIAS: */
	const char *operand_alias;
	/* Instead, of a probe that keeps its operands itself, which need no colon: adds one.
	 * Returns why the word is none; NULL: it is one. */
	const char *(*operand_add)(struct record_opts *opts, const char *word);
	/* Returns in one line why the options are inconsistent; NULL: they are consistent. */
	const char *(*conflict)(const struct record_opts *opts);
	/* Adds options without a key to obz.json. */
	void (*describe)(const struct record_opts *opts, struct json_object *options);
	const struct lever *lever; /* what --cpu-budget may throttle; NULL: nothing */
	size_t state_sz;
	bool costly; /* slows targets down, however few records it sends: not in @all */
	bool bulky;  /* sends many records: use larger rings */
	bool urgent; /* process events are urgent: needed for stacks or attaching */
	bool ends;   /* sees processes end, perhaps after obrec: keep their entries a while */
	bool attaches_files;	  /* attaches uprobes (uprobes.h) */
	uint32_t attaches_singly; /* bits of variants that use one link for each place of a file */
	unsigned facts;		  /* facts that `file` needs: FILE_FACT_* */
	/* Attach variants, best first; ends with one without name. NULL: no choice. */
	const struct variant *variants;
	/* Without variants: returns true if supported, else the reason and a remedy in one line. */
	bool (*available)(const struct features *f, char *why, size_t why_sz);
	/* Returns true if the kernel supports what the options ask for, else the reason in one
	 * line. NULL: it does. */
	bool (*possible)(const struct record_opts *opts, const struct features *f, char *why,
			 size_t why_sz);
	/* After open, before load: choose programs (autoload), constants, map sizes. */
	int (*prepare)(struct probe_env *env);
	/* Programs are loaded and targets scanned: attach. Programs do nothing until `enabled`. */
	int (*attach)(struct probe_env *env);
	/*
	 * A target maps a file executable that is new or was dropped. Called from the scan of
	 * targets on, thus also before `attach`. fd is O_PATH; only readers may read a target's
	 * file (readers.h). If it returns true, file_gone is called later.
	 */
	bool (*file)(struct probe_env *env, const struct file_facts *facts, int fd,
		     const struct stat *st, const char *path);
	/* No target has mapped the file for a while, or it was rewritten. */
	void (*file_gone)(struct probe_env *env, const struct stat *st);
	/* `enabled` has just been set. */
	int (*start)(struct probe_env *env);
	/* Handles a ring record of a kind unknown to the session; returns true if it belongs to
	 * this probe. */
	bool (*record)(struct probe_env *env, const struct wire_hdr *hdr);
	/* All rings have been read once more. */
	void (*drained)(struct probe_env *env);
	/* Called about every second; `last`: no more ring records will come. Returns the first
	 * write error. */
	int (*tick)(struct probe_env *env, uint64_t now_ns, bool last);
	/* Writes identities again, so that later chunks can be read alone. */
	void (*reanchor)(struct probe_env *env);
	/* `enabled` has just been cleared and links still exist: report what is still open. */
	void (*finish)(struct probe_env *env);
	/* Adds to the end record. */
	void (*conclude)(const struct probe_env *env, struct json_object *end);
	/* --cpu-budget sets the level of the lever. */
	void (*thin)(struct probe_env *env, unsigned level);
	/* Share recorded at level 0, in 1/65536; 0: nothing to throttle. NULL: everything. */
	uint32_t (*thinnable)(const struct probe_env *env);
	void (*free)(struct probe_env *env);
};

/* By number of format/probes.def, NULL-terminated. An unused number has a probe without a name,
 * which is never available. */
extern const struct probe *const probes[];

/* The other fields of a probe's entry in format/probes.def. */
struct probe_info {
	const char *name, *title, *unit, *aliases;
	bool by_default;
};
extern const struct probe_info probe_infos[];

/* Returns true if the word is the probe's name or one of its aliases. */
bool probe_is_called(size_t number, const char *word, size_t len);

size_t probe_number(const struct probe *probe);
void *probe_env__state(const struct probe_env *env, const struct probe *probe);
/* The option that selects the variant; NULL: it needs none. */
const struct probe_option *probe_variant_option(const struct probe *probe, const char *variant);
/* Get the value of an option, or its default; set it. */
uint64_t probe_option(const struct record_opts *opts, const struct probe *probe, const char *name);
void probe_option_give(struct record_opts *opts, const struct probe *probe, const char *name,
		       uint64_t value);
uint64_t probe_env__option(const struct probe_env *env, const struct probe *probe,
			   const char *name);

/* Returns the number of the chosen variant. */
unsigned probe_env__variant(const struct probe_env *env, const struct probe *probe);

#endif
