/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One recording: loads and attaches the probes, moves what they emit into the archive, stops in
 * order. main.c makes the options and the archive writer, both borrowed for the session's life.
 */
#ifndef RECORD_SESSION_H
#define RECORD_SESSION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/archive.h"
#include "record/symbols/debuginfo.h"
#include "record/process/process.h"

enum { RECORD_MAX_PROBES = 64 };
struct attach_plan;
struct nursery;

/* What obrec was asked for; filled by options.c, constant afterwards. */
struct record_opts {
	struct target_spec target;
	uint64_t probes;	   /* bit i: probe i of probes.def */
	uint64_t required;	   /* of these: named by the user, so not to be left out */
	uint64_t duration_ns;	   /* 0: no bound */
	unsigned freq;		   /* samples per second and CPU */
	uint64_t interval_ns;	   /* fold equal samples over this long; 0: keep each one's time */
	uint64_t offcpu_period_ns; /* a thread is recorded each time its waits add up to this; 0:
				      every wait */
	uint64_t offcpu_min_ns, offcpu_max_ns; /* only waits within; max 0: no bound */
	uint32_t payload_max;  /* bytes of a call's payload that are kept; 0: none */
	uint32_t payload_many; /* of calls that carry several messages; 0: as of any call */
	uint64_t l7; /* protocols whose payload is kept: bits by enum net_protocol; 0: all */
	uint32_t sample_per_64k; /* connections of 65536 whose payload is kept */
	uint32_t direction;	 /* of payload: bit 0 as client, bit 1 as server */
	bool redact, redact_sql, keep_unnamed;
	bool bound_mem; /* max_mem was asked for: stop rather than take more */
	uint64_t max_mem; /* bytes of unwind rows, rings and tables; 0: default */
	struct debuginfo_opts debuginfo;
	/* --attach: 1 + number of the variant that a probe shall take; 0: the best */
	unsigned char attach[RECORD_MAX_PROBES];
	const struct attach_plan *plan; /* made beforehand; NULL: session__new() makes it */
	const char *btf;		/* --btf; NULL: the kernel's, then the search path */
	pid_t command_pid;		/* -- COMMAND, stopped before exec; 0: none */
	uint64_t budget_per_64k;	/* of one CPU; 0: no bound */
	bool stats;			/* count what each BPF program costs */
	uint32_t ring_sz; /* bytes of each ring, a power of two; 0: chosen from max_mem */
};

enum stop_reason {
	STOP_NONE,
	STOP_DURATION,
	STOP_INTERRUPT,
	STOP_TARGET_EXIT,
	STOP_COMMAND_EXIT,
	STOP_MAX_SIZE,
	STOP_DISK_FULL,
	STOP_FILE_LIMIT,
	STOP_MAX_MEM,
	STOP_ERROR,
};
/* "duration", "interrupt", "target-exit", "command-exit", "max-size", "disk-full",
 * "file-size-limit", "max-mem", "error": what the archive holds. */
const char *stop_reason_name(enum stop_reason r);

/* Why a capture ended whose last rows the writer answered with err, after `reason`. */
enum stop_reason stop_reason_last(enum stop_reason reason, int err);

struct session;

/* Counts for the progress line, the last line and obz.end.json. */
struct session_status {
	uint64_t samples; /* taken, before folding */
	uint64_t stacks, stacks_complete;
	uint64_t events;  /* records read from the rings */
	uint64_t lost;	  /* all causes */
	unsigned thinned; /* steps of --cpu-budget */
	unsigned processes, debuginfo_pending;
	bool stopping; /* the recording is over, symbols are waited for */
};

/* Opens, loads, attaches; scans the targets; nothing is sampled yet. Errors were reported on one
 * line; returns -errno (-EPERM, -EOPNOTSUPP: privilege or kernel support is missing, exit code 4;
 * -ESRCH: no such target). The nursery is borrowed. */
int session__new(struct session **s, const struct record_opts *opts, struct obz_writer *writer,
		 struct nursery *nursery);

/* Enables the probes; called once everything is ready (before --ready-fd is answered and COMMAND
 * starts). */
int session__start(struct session *s);

/* Will probes be attached to files while it runs? */
bool session__attaches_files(const struct session *s);

/* Runs until *stop is set, the duration is over, the targets are gone or the archive is full; calls
 * `tick` about every 200 ms on the same thread. */
enum stop_reason session__run(struct session *s, volatile sig_atomic_t *stop,
			      void (*tick)(void *ctx, const struct session_status *st), void *ctx);

/* Begin to detach, drain the rings, finish debuginfo (bounded; *stop counts requests, the second
 * hurries it), write the last identity records. `tick` as above. */
int session__finish(struct session *s, const volatile sig_atomic_t *stop,
		    void (*tick)(void *ctx, const struct session_status *st), void *ctx);

struct session_status session__status(const struct session *s);

/* The end record: a JSON object text with stop_reason, duration_ns, losses[], stacks{}, programs[];
 * malloc'ed. */
char *session__end_json(const struct session *s, enum stop_reason reason);
/* Waits until everything is detached. */
void session__free(struct session *s);

/* `obrec --list`: each probe, available or why not, and its ways to attach, to stdout. Returns the
 * exit code. */
int session_list_probes(const struct record_opts *opts);

#endif
