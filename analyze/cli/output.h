/* SPDX-License-Identifier: BSD-2-Clause */
/* Output files. A file is written under a temporary name and renamed when it is complete, at the
 * target of a symbolic link; a previous file is renamed to NAME.old. Devices, FIFOs and descriptors
 * are written directly. */
#ifndef ANALYZE_OUTPUT_H
#define ANALYZE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "format/place.h"

struct output {
	char *path, *temporary; /* NULL: stdout; no temporary: special file */
	struct place place;
	FILE *file; /* OUTPUT_STREAM */
	int fd;	    /* OUTPUT_ARCHIVE: closed by the caller; or -1 */
};

enum output_as {
	OUTPUT_STREAM,	 /* output.file */
	OUTPUT_DATABASE, /* the caller writes output.temporary; a special file is an error */
	OUTPUT_ARCHIVE,	 /* output.fd; a terminal is an error */
};

/* path: NULL for ARCHIVE's name with .obz replaced by `suffix` (".flamegraph.svg"), "-" for stdout.
 * Errors are reported; negative errno. */
int output_open(struct output *o, const char *path, const char *archive, const char *suffix,
		enum output_as as);
/* If err is 0, renames the file to its final name and prints that on stderr. Otherwise removes it.
 * Returns err or its own error. */
int output_close(struct output *o, int err);

#endif
