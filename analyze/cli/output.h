/* SPDX-License-Identifier: BSD-2-Clause */
/* A result file: written under a temporary name and renamed when whole, to where a link leads; a
 * previous file is renamed to NAME.old. Devices, FIFOs and descriptors are written to as they are.
 */
#ifndef ANALYZE_OUTPUT_H
#define ANALYZE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "format/place.h"

struct output {
	char *path, *temporary; /* NULL: stdout; no temporary: a special file */
	struct place place;
	FILE *file; /* OUTPUT_STREAM */
	int fd;	    /* OUTPUT_ARCHIVE: for somebody who closes it; -1 */
};

enum output_as {
	OUTPUT_STREAM,	 /* output.file */
	OUTPUT_DATABASE, /* somebody else writes output.temporary; a special file is an error */
	OUTPUT_ARCHIVE,	 /* output.fd; a terminal is an error */
};

/* path: NULL for ARCHIVE's name with its .obz replaced by `suffix` (".flamegraph.svg"), "-" for
 * stdout. Reported; negative errno. */
int output_open(struct output *o, const char *path, const char *archive, const char *suffix,
		enum output_as as);
/* Puts the file in place (err 0; says so on stderr) or removes what was begun. Returns err or its
 * own. */
int output_close(struct output *o, int err);

#endif
