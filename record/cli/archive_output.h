/* SPDX-License-Identifier: BSD-2-Clause */
/* The archive file: chooses its name, creates it with mode 0600, renames an existing file, and
 * removes the new one if nothing was recorded. */
#ifndef RECORD_OUTPUT_H
#define RECORD_OUTPUT_H

#include "format/place.h"

struct output {
	int fd;		     /* owned by the writer */
	char path[PATH_MAX]; /* as given; "-": stdout */
	struct place place;
	bool made, kept; /* a new file was created; the previous one was renamed to .old */
	struct stat st;	 /* of the new file */
};

/* path NULL: obrec-HOST-YYYYMMDD-HHMMSS.obz in the current directory. Files of other users are not
 * followed, opened or replaced. Returns 0, or -errno after one line on stderr. */
int output_open(struct output *out, const char *path);

/* Nothing was recorded: removes the file and restores the previous one. Async-signal-safe. */
void output_discard(const struct output *out);

#endif
