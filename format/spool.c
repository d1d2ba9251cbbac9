/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* On file systems without O_TMPFILE, the file has a name for a moment. */
static int file_in(const char *dir)
{
	char path[4096];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || snprintf(path, sizeof(path), "%s/obz.XXXXXX", dir) >= (int)sizeof(path))
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

int spool_file(void)
{
	const char *dir = getenv("TMPDIR");
	int fd = dir && *dir ? file_in(dir) : -1;

	if (fd < 0)
		fd = file_in("/tmp");
	if (fd < 0)
		fd = memfd_create("obz", MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

void spool_init(struct spool *s)
{
	*s = (struct spool){.fd = -1};
}

void spool_fini(struct spool *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

int spool_flush(struct spool *s)
{
	if (s->fd < 0)
		s->fd = spool_file();
	return s->fd < 0 ? s->fd : 0;
}

int spool_add(struct spool *s, const void *p, size_t len)
{
	int err = spool_flush(s);

	while (!err && len) {
		ssize_t n = write(s->fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p = (const char *)p + n;
		len -= n;
		s->sz += n;
	}
	return err;
}
