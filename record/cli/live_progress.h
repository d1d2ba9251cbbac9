/* SPDX-License-Identifier: BSD-2-Clause */
/* Progress display: one line redrawn on a terminal, and a final summary line. */
#ifndef RECORD_PROGRESS_H
#define RECORD_PROGRESS_H

#include "record/cli/archive_output.h"
#include "record/session/session.h"

struct progress {
	const struct obz_writer *writer;
	uint64_t started_ns, shown_ns;
	uint64_t duration_ns; /* 0: unlimited */
	bool on;	      /* stderr is a terminal and not -q */
	bool stopping;
};

void progress_init(struct progress *p, const struct obz_writer *writer, uint64_t duration_ns,
		   int verbosity);

/* Callback of session__run; ctx is the struct progress. */
void progress_tick(void *ctx, const struct session_status *st);

/* Erases the line. */
void progress_fini(struct progress *p);

/* Prints the summary line: contents of the closed archive, and losses by cause. */
void progress_summary(const struct output *out, const struct obz_written *written,
		      const struct session_status *st);

#endif
