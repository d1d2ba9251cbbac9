/* SPDX-License-Identifier: BSD-2-Clause */
/* A result file: written under a temporary name and renamed when whole; what was there is kept as
 * NAME.old. */
#ifndef ANALYZE_OUTPUT_H
#define ANALYZE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
	char *path, *temporary; /* NULL: stdout */
	FILE *file;		/* NULL while somebody else writes `temporary` */
};

/* path: NULL for ARCHIVE's name with its .obz replaced by `suffix` (".flamegraph.svg"), "-" for
 * stdout. stream: open output.file. Reported; negative errno. */
int output_open(struct output *o, const char *path, const char *archive, const char *suffix,
		bool stream);
/* Puts the file in place (err 0; says so on stderr) or removes what was begun. Returns err or its
 * own. */
int output_close(struct output *o, int err);

#endif
