/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where an output file goes, found without being led astray: in directories that others can write,
 * only links of root and of the caller are followed, whatever sysctl fs.protected_symlinks says.
 */
#ifndef FORMAT_PLACE_H
#define FORMAT_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

enum place_kind {
	PLACE_NEW,     /* nothing is there */
	PLACE_FILE,    /* a regular file */
	PLACE_SPECIAL, /* a device, a FIFO, a socket */
	PLACE_FD, /* one of the caller's own descriptors: /dev/stdout, /dev/fd/N, /proc/self/fd/N */
};

struct place {
	enum place_kind kind;
	int dir;		 /* O_PATH; -1: none */
	int fd;			 /* PLACE_FD: its number, not to be closed */
	char name[NAME_MAX + 1]; /* in dir */
	char path[PATH_MAX];	 /* of both: as given, or where a link leads */
	struct stat st;		 /* of what is there */
};

/* 0 or negative errno; *why is then a text. p is to be closed after success. */
int place_find(struct place *p, const char *path, const char **why);
void place_close(struct place *p);

/* Owned by root or the caller. */
bool place_trusted(const struct stat *st);

/* Opens PLACE_SPECIAL or PLACE_FD (a duplicate) for writing. O_NONBLOCK in flags: a FIFO that
 * nobody reads is an error; else it is waited for. A descriptor or negative errno, with *why. */
int place_open_special(const struct place *p, int flags, const char **why);

/* The regular file that is there becomes NAME.old: 1, 0 when there is none, or negative errno with
 * *why, when what is there, or what stands at NAME.old, is not a plain file of one's own. */
int place_keep_old(const struct place *p, const char **why);

#endif
