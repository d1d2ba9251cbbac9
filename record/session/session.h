/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One capture: loads and attaches the probes, moves their records into the archive, stops
 * cleanly. obrec_main.c makes the options and the archive writer, both borrowed for the session's
 * life.
 */
#ifndef RECORD_SESSION_H
#define RECORD_SESSION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/archive.h"

struct nursery;
struct record_opts;

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
