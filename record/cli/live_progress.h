/* SPDX-License-Identifier: BSD-2-Clause */
/* Progress: one line that is redrawn on a terminal, and one last line.
 */
#ifndef RECORD_PROGRESS_H
#define RECORD_PROGRESS_H

#include "record/cli/archive_output.h"
#include "record/session/session.h"

struct progress {
	const struct obz_writer *writer;
	uint64_t started_ns, shown_ns;
	uint64_t duration_ns; /* 0: open end */
	bool on;	      /* stderr is a terminal and not -q */
	bool stopping;
};

void progress_init(struct progress *p, const struct obz_writer *writer, uint64_t duration_ns,
		   int verbosity);

/* session__run's tick: ctx is the struct progress. */
void progress_tick(void *ctx, const struct session_status *st);

/* Takes the line away. */
void progress_fini(struct progress *p);

/* The last line: what the closed archive holds, what was lost and why. */
void progress_summary(const struct output *out, const struct obz_written *written,
		      const struct session_status *st);

#endif
