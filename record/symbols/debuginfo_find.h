/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Separate debug files, where gdb looks for them: by build-id, then by .gnu_debuglink; below the
 * host's root, then the target's. What is found is a regular ELF file that belongs to the binary:
 * same build-id, else the debuglink's CRC.
 */
#ifndef RECORD_DEBUGINFO_FIND_H
#define RECORD_DEBUGINFO_FIND_H

#include <limits.h>

#include "record/symbols/slim_elf.h"

struct debug_file {
	int fd;
	char path[PATH_MAX]; /* below the root it was found in; relative alternate links start there
			      */
	bool of_host;	     /* that was the host's */
	struct slim_elf elf;
};

/*
 * Opens a path below root_fd (symbolic links stay inside) for reading. Never blocks, never opens
 * anything but a regular file. Negative errno.
 */
int open_regular_in_root(int root_fd, const char *path);

/* root_fd may be -1: the host's root alone. path: the binary's. -ENOENT: there is none. */
int debug_file__find(struct debug_file *f, int root_fd, const char *path, const char *build_id,
		     const struct slim_elf *binary);

/* Whether a file of that build-id lies in either root's debug directory; it is not opened for
 * reading. */
bool debug_file_known(int root_fd, const char *build_id);

/* The dwz alternate file that the file at `from` names by link and build_id. Many binaries share
 * one by its id, so only root's files, and those of obrec's user, will do. */
int debug_file__find_alt(struct debug_file *f, int root_fd, const char *from, const char *link,
			 const char *build_id);

void debug_file__close(struct debug_file *f);

#endif
