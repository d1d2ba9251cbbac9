/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/spool.h"

#include <errno.h>
#include <unistd.h>

#include "format/temp_file.h"

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
		s->fd = temp_file();
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
