/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One capture: loads and attaches the probes, moves their records into the archive, and stops
 * cleanly. obrec_main.c creates the options and the archive writer; both are borrowed for the
 * session's lifetime.
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
/* Returns the name written to the archive: "duration", "interrupt", "target-exit", "command-exit",
 * "max-size", "disk-full", "file-size-limit", "max-mem", "error". */
const char *stop_reason_name(enum stop_reason r);

/* Returns the final stop reason if the writer answered the last rows with err, after `reason`. */
enum stop_reason stop_reason_last(enum stop_reason reason, int err);

struct session;

/* Statistics for the progress line, the summary line and obz.end.json. */
struct session_status {
	uint64_t samples; /* taken, before aggregation */
	uint64_t stacks, stacks_complete;
	uint64_t events;  /* records read from the rings */
	uint64_t lost;	  /* for all causes */
	unsigned thinned; /* number of --cpu-budget steps */
	unsigned processes, debuginfo_pending;
	bool stopping; /* capture is over, waiting for symbols */
};

/*
 * Opens, loads and attaches the programs and scans the targets; nothing is sampled yet. Reports
 * errors on one line. Returns -errno (-EPERM, -EOPNOTSUPP: privilege or kernel support is missing,
 * exit code 4; -ESRCH: no such target). The nursery is borrowed.
 */
int session__new(struct session **s, const struct record_opts *opts, struct obz_writer *writer,
		 struct nursery *nursery);

/* Enables the probes. Called when all is ready, before --ready-fd is answered and COMMAND
 * starts. */
int session__start(struct session *s);

/* Runs until *stop is set, the duration is over, the targets have exited or the archive is full.
 * Calls `tick` about every 200 ms on the same thread. */
enum stop_reason session__run(struct session *s, volatile sig_atomic_t *stop,
			      void (*tick)(void *ctx, const struct session_status *st), void *ctx);

/*
 * Starts detaching, drains the rings, finishes debuginfo (with a time limit; *stop counts
 * interrupts, the second one shortens it), and writes the last identity records. `tick` as above.
 */
int session__finish(struct session *s, const volatile sig_atomic_t *stop,
		    void (*tick)(void *ctx, const struct session_status *st), void *ctx);

struct session_status session__status(const struct session *s);

/* Returns the end record, a malloc'ed JSON object text with stop_reason, duration_ns, losses[],
 * stacks{}, programs[]. */
char *session__end_json(const struct session *s, enum stop_reason reason);
/* Waits until all links are detached. */
void session__free(struct session *s);

/* `obrec --list`: prints each probe, whether it is available or why not, and its attach variants.
 * Returns the exit code. */
int session_list_probes(const struct record_opts *opts);

#endif
