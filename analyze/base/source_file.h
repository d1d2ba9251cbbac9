/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of source files of this machine, found by the paths that debug information names. */
#ifndef ANALYZE_SOURCE_FILE_H
#define ANALYZE_SOURCE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "format/text.h"

struct source_file {
	char *text;
	const char **lines; /* line i begins at lines[i - 1], without its end */
	uint32_t *sizes;
	uint32_t cnt;
};

/*
 * Opens the file beneath dir whose path ends as the recorded one does, as much of it as possible:
 * for /build/app/src/a.c these are DIR/build/app/src/a.c, DIR/app/src/a.c, ... Paths come from
 * archives: ".." is taken off, so none leads out of dir, and only regular files are read. False: none, and *s is
 * empty.
 */
bool source_file__open(struct source_file *s, const char *dir, const char *path);
void source_file__close(struct source_file *s);

/* Line numbers start at 1; empty if there is no such line. */
struct span source_file__line(const struct source_file *s, uint64_t line);

#endif
