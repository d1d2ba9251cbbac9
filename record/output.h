/* SPDX-License-Identifier: BSD-2-Clause */
/* The archive's file: its name, mode 0600, the old one kept, taken back when nothing was recorded.
 */
#ifndef RECORD_OUTPUT_H
#define RECORD_OUTPUT_H

#include <limits.h>

struct output {
	int fd;		     /* given away with the writer */
	char path[PATH_MAX]; /* "-" for stdout */
	char old[PATH_MAX];  /* where an earlier file went; "" when there was none */
};

/* path NULL: obrec-HOST-YYYYMMDD-HHMMSS.obz here. 0, or -errno after one line on stderr. */
int output_open(struct output *out, const char *path);

/* Nothing was recorded: remove the file, put the old one back. */
void output_discard(const struct output *out);

#endif
