/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the archive's bytes and counts damage. The file is read with pread, not mapped: when it
 * shrinks meanwhile, this is an error, not a SIGBUS. Streams are first copied to a spool file.
 */
#include "format/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/json.h"
#include "format/spool.h"

static int spool_stream(struct obz_reader *r, int from)
{
	enum { PIECE = 1 << 18 };
	struct spool s;
	uint8_t *piece = malloc(PIECE);
	int err = piece ? 0 : -ENOMEM;
	ssize_t n = 1;

	spool_init(&s);
	while (!err && n) {
		n = read(from, piece, PIECE);
		if (n < 0 && errno == EINTR)
			continue;
		err = n < 0 ? -errno : spool_add(&s, piece, n);
	}
	free(piece);
	if (err) {
		spool_fini(&s);
		return err;
	}
	r->fd = s.fd;
	r->sz = s.sz;
	return 0;
}

int reader_open_file(struct obz_reader *r, const char *path)
{
	bool in = !strcmp(path, "-");
	struct stat st;

	/* do not block when opening a FIFO; reading it then blocks as usual */
	r->fd = in ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (r->fd < 0 || fstat(r->fd, &st))
		return reader_fail(r, -errno, "%s", strerror(errno));
	if (S_ISREG(st.st_mode)) {
		r->sz = st.st_size;
		return 0;
	}
	if (in || S_ISFIFO(st.st_mode)) {
		int from = r->fd, err;

		fcntl(from, F_SETFL, fcntl(from, F_GETFL) & ~O_NONBLOCK);
		r->fd = -1;
		err = spool_stream(r, from);
		close(from);
		return err ? reader_fail(r, err, "%s", strerror(-err)) : 0;
	}
	return reader_fail(r, -EBADMSG,
			   S_ISDIR(st.st_mode) ? "is a directory" : "not a regular file");
}

int reader_fd(const struct obz_reader *r)
{
	return r->fd;
}

int reader_get(const struct obz_reader *r, void *to, uint64_t off, size_t len)
{
	uint8_t *p = to;

	if (off > r->sz || len > r->sz - off)
		return -EBADMSG;
	while (len) {
		ssize_t n = pread(r->fd, p, len, r->base + off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EBADMSG;
		p += n;
		off += n;
		len -= n;
	}
	return 0;
}

char *reader_json(const struct obz_reader *r, uint64_t off, uint64_t sz)
{
	char *text;

	if (!sz || sz > READER_META_MAX || off > r->sz || sz > r->sz - off)
		return NULL;
	text = malloc(sz + 1);
	if (!text)
		return NULL;
	text[sz] = 0;
	if (!reader_get(r, text, off, sz) && json_sealed(text, sz))
		return text;
	free(text);
	return NULL;
}

void reader_damaged(struct obz_reader *r, uint64_t *counter, uint64_t by, uint64_t off,
		    const char *member, const char *fmt, ...)
{
	char what[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&r->lock);
	*counter += by;
	if (r->on_damage)
		r->on_damage(r->on_damage_arg, off, member, what);
	pthread_mutex_unlock(&r->lock);
}

int reader_fail(struct obz_reader *r, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->error, sizeof(r->error), fmt, ap);
	va_end(ap);
	return err;
}
