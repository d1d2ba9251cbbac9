/* SPDX-License-Identifier: BSD-2-Clause */
/* Progress display, "loading 43 %", on stderr if that is a terminal and the work takes long. Not
 * thread-safe. */
#ifndef ANALYZE_PROGRESS_H
#define ANALYZE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what;
	uint64_t total, done;
	uint64_t next_ns; /* time of the next update */
	bool terminal, shown;
};

void progress_init(struct progress *p, const char *what);
void progress_step(struct progress *p, uint64_t more);
void progress_done(struct progress *p); /* clears the line */

#endif
