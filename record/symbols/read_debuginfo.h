/* SPDX-License-Identifier: BSD-2-Clause */
/* debuginfo_extract() by a reader process: it parses a target's file, and looks for others where
 * that names them. */
#ifndef RECORD_READ_DEBUGINFO_H
#define RECORD_READ_DEBUGINFO_H

#include "record/symbols/debuginfo_extract.h"
#include "record/reader/reader_process.h"

int read_debuginfo_serve(int proc, struct parcel *request, struct parcel *answer);

/* The one of a thread; started at its first job. */
struct extractor {
	struct nursery *nursery;
	struct reader reader;
	_Atomic pid_t pid;  /* 0: none */
	bool idle;	    /* of the lowest priority */
	unsigned timed_out; /* readers that were given up as blocked */
};

/*
 * As debuginfo_extract(); job->fd and root_fd may be O_PATH, and so is alt->fd. A reader that is
 * blocked is given up: then m->why says so.
 */
int extractor__run(struct extractor *x, const struct extract_job *job, struct slim_member *m,
		   struct extract_alt *alt);
void extractor__end(struct extractor *x);
/* Whether its process could be given that priority. */
bool extractor__set_idle(struct extractor *x, bool idle);

#endif
