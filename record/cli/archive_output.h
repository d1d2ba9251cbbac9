/* SPDX-License-Identifier: BSD-2-Clause */
/* The archive's file: its name, mode 0600, the old one renamed, removed when nothing was recorded.
 */
#ifndef RECORD_OUTPUT_H
#define RECORD_OUTPUT_H

#include "format/place.h"

struct output {
	int fd;		     /* given away with the writer */
	char path[PATH_MAX]; /* as it was asked for; "-" for stdout */
	struct place place;
	bool made, kept; /* the file is new; an earlier one is at its name with .old */
	struct stat st;	 /* of the new file */
};

/*
 * path NULL: obrec-HOST-YYYYMMDD-HHMMSS.obz here. What another user laid there is neither followed,
 * opened nor replaced. 0, or -errno after one line on stderr.
 */
int output_open(struct output *out, const char *path);

/* Nothing was recorded: remove the file, put the old one back. May be called by a signal handler.
 */
void output_discard(const struct output *out);

#endif
