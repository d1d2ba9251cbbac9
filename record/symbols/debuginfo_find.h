/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds separate debug files in the same places as gdb: by build-id, then by .gnu_debuglink; below
 * the host's root, then below the target's. A result is a regular ELF file that matches the binary
 * by build-id, or else by the debuglink's CRC.
 */
#ifndef RECORD_DEBUGINFO_FIND_H
#define RECORD_DEBUGINFO_FIND_H

#include <limits.h>

#include "record/symbols/slim_elf.h"

struct debug_file {
	int fd;
	char path[PATH_MAX]; /* below its root; relative alternate links start there */
	bool of_host;	     /* found below the host's root */
	struct slim_elf elf;
};

/* Opens a path below root_fd for reading; symbolic links cannot leave it. Never blocks, opens only
 * regular files. Returns a descriptor or a negative errno. */
int open_regular_in_root(int root_fd, const char *path);

/* root_fd -1: search only the host's root. path: of the binary. -ENOENT: not found. */
int debug_file__find(struct debug_file *f, int root_fd, const char *path, const char *build_id,
		     const struct slim_elf *binary);

/* Returns true if either root's debug directory has a file with that build-id. It is not opened for
 * reading. */
bool debug_file_known(int root_fd, const char *build_id);

/* Finds the dwz alternate file that the file at `from` refers to by link and build_id. Many
 * binaries share it by id, so only files owned by root or obrec's user are accepted. */
int debug_file__find_alt(struct debug_file *f, int root_fd, const char *from, const char *link,
			 const char *build_id);

void debug_file__close(struct debug_file *f);

#endif
