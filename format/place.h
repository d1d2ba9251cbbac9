/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Resolves the path of an output file safely: in directories writable by others, follows only
 * symbolic links of root and of the caller, independent of sysctl fs.protected_symlinks.
 */
#ifndef FORMAT_PLACE_H
#define FORMAT_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

enum place_kind {
	PLACE_NEW,     /* does not exist */
	PLACE_FILE,    /* a regular file */
	PLACE_SPECIAL, /* a device, a FIFO, a socket */
	PLACE_FD, /* one of the caller's own descriptors: /dev/stdout, /dev/fd/N, /proc/self/fd/N */
};

struct place {
	enum place_kind kind;
	int dir;		 /* O_PATH; -1: none */
	int fd;			 /* PLACE_FD: its number, not to be closed */
	char name[NAME_MAX + 1]; /* in dir */
	char path[PATH_MAX];	 /* full path: as given, or the target of a link */
	struct stat st;		 /* of the existing file */
};

/* 0, or negative errno and a text in *why. After success p must be closed. */
int place_find(struct place *p, const char *path, const char **why);
void place_close(struct place *p);

/* Whether the owner is root or the caller. */
bool place_trusted(const struct stat *st);

/*
 * Opens PLACE_SPECIAL, unless it belongs to another user, or PLACE_FD (a duplicate) for writing.
 * With O_NONBLOCK in flags, a FIFO without reader is an error; otherwise waits for a reader.
 * Returns a descriptor, or negative errno and *why.
 */
int place_open_special(const struct place *p, int flags, const char **why);

/* Renames an existing regular file to NAME.old. Returns 1; 0: no such file; negative errno with
 * *why, for example when the file or NAME.old is not a regular file owned by the caller. */
int place_keep_old(const struct place *p, const char **why);

#endif
