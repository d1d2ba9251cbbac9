/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DIR_CNT = 3 };

static const char *directory(int i)
{
	const char *const dirs[DIR_CNT] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};

	return dirs[i] && *dirs[i] ? dirs[i] : NULL;
}

int temp_file_named(char **path)
{
	int fd = -1;

	*path = NULL;
	for (int i = 0; i < DIR_CNT && fd < 0; i++) {
		free(*path);
		if (!directory(i) || asprintf(path, "%s/obz.XXXXXX", directory(i)) < 0)
			*path = NULL;
		else
			fd = mkostemp(*path, O_CLOEXEC);
	}
	if (fd < 0) {
		free(*path);
		*path = NULL;
	}
	return fd < 0 ? -errno : fd;
}

int temp_file_in(int dir_fd)
{
	int flags = O_TMPFILE | O_RDWR | O_CLOEXEC, fd = -1;
	char *path;

	if (dir_fd >= 0)
		fd = openat(dir_fd, ".", flags, 0600);
	for (int i = 0; i < DIR_CNT && fd < 0; i++)
		if (directory(i))
			fd = open(directory(i), flags, 0600);
	if (fd >= 0)
		return fd;
	fd = temp_file_named(&path); /* of a file system without O_TMPFILE */
	if (fd >= 0)
		unlink(path);
	else
		fd = memfd_create("obz", MFD_CLOEXEC);
	free(path);
	return fd < 0 ? -errno : fd;
}

int temp_file(void)
{
	return temp_file_in(-1);
}
