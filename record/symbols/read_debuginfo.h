/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs debuginfo_extract() in a reader process: it parses a target's file and searches for files
 * that the target names. */
#ifndef RECORD_READ_DEBUGINFO_H
#define RECORD_READ_DEBUGINFO_H

#include "record/symbols/debuginfo_extract.h"
#include "record/reader/reader_process.h"

int read_debuginfo_serve(int proc, struct parcel *request, struct parcel *answer);

/* The reader process of one thread; started at its first job. */
struct extractor {
	struct nursery *nursery;
	struct reader reader;
	_Atomic pid_t pid;  /* 0: none */
	bool idle;	    /* runs at lowest priority */
	unsigned timed_out; /* number of readers abandoned as blocked */
};

/* As debuginfo_extract(); job->fd, root_fd and alt->fd may be O_PATH. If the reader blocks it is
 * abandoned and m->why says so. */
int extractor__run(struct extractor *x, const struct extract_job *job, struct slim_member *m,
		   struct extract_alt *alt);
void extractor__end(struct extractor *x);
/* Returns false if its process could not be given that priority. */
bool extractor__set_idle(struct extractor *x, bool idle);

#endif
