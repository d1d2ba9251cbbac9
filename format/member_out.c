/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes members. libarchive creates header and padding; the output of its write callback is
 * collected, so that a member is one write(2), or several for members larger than PIECE. After a
 * short write, a regular file is truncated to the end of the last complete member. The file on disk
 * is therefore always a valid archive, except for the member being written.
 */
#include "format/member_out.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 20, BLOCK = 512, END_ROOM = 16 << 10 };
enum { WAIT_MS = 100, WAITS_MAX = 20 };

static la_ssize_t gather(struct archive *a, void *arg, const void *p, size_t len)
{
	struct member_out *o = arg;

	bytes_add(&o->buf, p, len);
	return len; /* errors are stored in buf: libarchive would refuse all later members */
}

uint64_t member_out_sz(uint64_t payload)
{
	return BLOCK + (payload + BLOCK - 1) / BLOCK * BLOCK;
}

/* Makes a closed pipe or the file size limit an error instead of a fatal signal. */
struct quiet {
	sigset_t before, pending;
};

static void quiet_begin(struct quiet *q)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &set, &q->before);
	sigpending(&q->pending);
}

/* Removes a signal that became pending: together with EPIPE or EFBIG, or with a short write caused
 * by them. */
static void quiet_end(const struct quiet *q)
{
	int err = errno;
	sigset_t set;

	sigemptyset(&set);
	if (!sigismember(&q->pending, SIGPIPE))
		sigaddset(&set, SIGPIPE);
	if (!sigismember(&q->pending, SIGXFSZ))
		sigaddset(&set, SIGXFSZ);
	while (sigtimedwait(&set, NULL, &(struct timespec){0}) < 0 && errno == EINTR)
		;
	pthread_sigmask(SIG_SETMASK, &q->before, NULL);
	errno = err;
}

static ssize_t write_quietly(int fd, const void *p, size_t len)
{
	struct quiet q;
	ssize_t n;

	quiet_begin(&q);
	n = write(fd, p, len);
	quiet_end(&q);
	return n;
}

/*
 * Ensures that a full disk does not prevent the end of the archive: no member is started unless the
 * disk has room for it and for the end after it. The room is preallocated beyond the end of the
 * file; closing releases the rest. RLIMIT_FSIZE does not apply, because the file size does not
 * change.
 */
static int claim(struct member_out *o, uint64_t sz)
{
	uint64_t from = o->base + o->bytes, room = member_out_sz(sz) + END_ROOM;
	struct rlimit limit;
	struct quiet q;
	int err;

	if (!o->seekable || o->ending)
		return 0;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	    from + room > limit.rlim_cur)
		return -EFBIG;
	if (o->no_claim)
		return 0;
	quiet_begin(&q);
	err = fallocate(o->fd, FALLOC_FL_KEEP_SIZE, from, room) ? errno : 0;
	quiet_end(&q);
	if (err == ENOSPC || err == EDQUOT || err == EFBIG)
		return -err;
	o->no_claim = err && err != EINTR; /* other errors appear when it is written */
	return 0;
}

static void unclaim(const struct member_out *o)
{
	if (o->seekable && !o->no_claim && !o->torn && ftruncate(o->fd, o->base + o->bytes))
		return; /* saves 16 KiB */
}

void member_out_fini(struct member_out *o)
{
	if (o->tar) {
		unclaim(o);
		archive_write_free(o->tar); /* may put the tar end into buf; not written */
	}
	o->tar = NULL;
	bytes_fini(&o->buf);
}

void member_out_trim(struct member_out *o)
{
	bytes_fini(&o->buf);
}

int member_out_init(struct member_out *o, int fd)
{
	struct stat st;
	int flags;

	*o = (struct member_out){.fd = fd, .mtime = -1};
	if (fstat(fd, &st))
		return -errno;
	flags = fcntl(fd, F_GETFL);
	o->socket = S_ISSOCK(st.st_mode);
	o->blocks = flags >= 0 && !(flags & O_NONBLOCK);
	if (S_ISREG(st.st_mode)) {
		off_t at = flags >= 0 && flags & O_APPEND ? st.st_size : lseek(fd, 0, SEEK_CUR);

		if (at < 0)
			return -errno;
		o->seekable = true;
		o->base = at;
	}
	o->tar = archive_write_new();
	if (!o->tar || archive_write_set_format_ustar(o->tar) ||
	    archive_write_add_filter_none(o->tar) || archive_write_set_bytes_per_block(o->tar, 0) ||
	    archive_write_set_bytes_in_last_block(o->tar, 1) ||
	    archive_write_open2(o->tar, o, NULL, gather, NULL, NULL)) {
		member_out_fini(o);
		return -ENOMEM;
	}
	return 0;
}

/* Waits until a pipe or socket is writable; other files always are. */
static int await_room(struct member_out *o)
{
	struct pollfd p = {.fd = o->fd, .events = POLLOUT};

	for (unsigned waits = 0; waits < WAITS_MAX; waits += o->hurried) {
		int n = poll(&p, 1, WAIT_MS);

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
	o->torn = true; /* prevents waiting for it again */
	return -ETIMEDOUT;
}

/* Writes only as much as a writable pipe surely accepts: its descriptor is shared with others and
 * must not be made non-blocking. */
static ssize_t write_some(struct member_out *o, const void *p, size_t len)
{
	int err;

	if (o->seekable)
		return write_quietly(o->fd, p, len);
	err = await_room(o);
	if (err) {
		errno = -err;
		return -1;
	}
	if (o->socket)
		return send(o->fd, p, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	return write_quietly(o->fd, p, o->blocks && len > PIPE_BUF ? PIPE_BUF : len);
}

/* Writes the collected bytes. The first error is stored until the end of the member. */
static void put_out(struct member_out *o)
{
	size_t done = 0;

	if (o->buf.failed && !o->err)
		o->err = -ENOMEM;
	while (!o->err && done < o->buf.len) {
		ssize_t n = write_some(o, o->buf.p + done, o->buf.len - done);

		if (n > 0) {
			done += n;
			o->pending += n;
		} else if (n == 0 || (errno != EINTR && errno != EAGAIN))
			o->err = n ? -errno : -EIO;
	}
	o->buf.len = 0;
	o->buf.failed = false;
}

/* Counts a complete member, or removes the written part of a failed one. */
static int settle(struct member_out *o)
{
	int err = o->err;

	if (!err)
		o->bytes += o->pending;
	else if (o->pending && (!o->seekable || ftruncate(o->fd, o->base + o->bytes) ||
				lseek(o->fd, o->base + o->bytes, SEEK_SET) < 0))
		o->torn = true;
	o->pending = 0;
	o->err = 0;
	return err;
}

static int begin(struct member_out *o, const char *name, uint64_t sz)
{
	struct archive_entry *e = archive_entry_new();
	int rc;

	if (!e)
		return -ENOMEM;
	archive_entry_set_pathname(e, name);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, 0644);
	archive_entry_set_size(e, sz);
	archive_entry_set_mtime(e, o->mtime < 0 ? time(NULL) : o->mtime, 0);
	rc = archive_write_header(o->tar, e);
	archive_entry_free(e);
	return rc == ARCHIVE_OK ? 0 : -EINVAL;
}

/* ustar's size field has eleven octal digits. */
static int refused(struct member_out *o, uint64_t sz)
{
	return o->torn ? -EPIPE : sz >= 1ULL << 33 ? -E2BIG : claim(o, sz);
}

int member_out_put(struct member_out *o, const char *name, const void *p, size_t sz)
{
	int err = refused(o, sz);

	if (err)
		return err;
	if (!bytes_room(&o->buf, member_out_sz(sz))) {
		o->buf.failed = false;
		return -ENOMEM;
	}
	err = begin(o, name, sz);
	if (err) {
		o->buf.len = 0;
		return err;
	}
	if (sz)
		archive_write_data(o->tar, p, sz);
	archive_write_finish_entry(o->tar);
	put_out(o);
	return settle(o);
}

int member_out_copy(struct member_out *o, const char *name, int from, uint64_t off, uint64_t sz)
{
	int err = refused(o, sz);
	uint8_t *piece;

	if (err)
		return err;
	piece = malloc(sz < PIECE ? sz + 1 : PIECE);
	if (!piece)
		return -ENOMEM;
	err = begin(o, name, sz);
	if (err) {
		o->buf.len = 0;
		free(piece);
		return err;
	}
	while (sz) {
		size_t want = sz < PIECE ? sz : PIECE;
		ssize_t n = o->err ? (ssize_t)want : pread(from, piece, want, off);

		if (n <= 0 && !(n < 0 && errno == EINTR)) {
			o->err = n ? -errno : -EIO; /* the file became shorter */
			n = want;
		}
		if (n < 0)
			continue;
		/* after an error libarchive still gets the data, which is discarded */
		archive_write_data(o->tar, piece, n);
		off += n;
		sz -= n;
		if (o->buf.len >= PIECE || o->err)
			put_out(o);
	}
	archive_write_finish_entry(o->tar);
	put_out(o);
	free(piece);
	return settle(o);
}

int member_out_end(struct member_out *o)
{
	if (o->torn)
		return -EPIPE;
	archive_write_close(o->tar);
	put_out(o);
	return settle(o);
}
