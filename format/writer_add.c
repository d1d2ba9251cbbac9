/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes members other than new chunks: debuginfo, and copies from another archive. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <zstd.h>

#include "format/reader.h"
#include "format/spool.h"
#include "format/ustar.h"
#include "format/writer.h"

enum { PIECE = 256 << 10 };

static bool has_name(const struct obz_writer *w, const char *name)
{
	for (size_t i = 0; i < w->name_cnt; i++)
		if (!strcmp(w->names[i], name))
			return true;
	return false;
}

/* Reserves a name, so that two threads do not both write the same binary. */
static int claim_name(struct obz_writer *w, const char *name)
{
	char **names, *copy = NULL;
	int err = w->err;

	pthread_mutex_lock(&w->queue_lock);
	if (!err && has_name(w, name))
		err = -EEXIST;
	if (!err && w->name_cnt == w->name_cap) {
		size_t cap = w->name_cap ? w->name_cap * 2 : 64;

		names = realloc(w->names, cap * sizeof(*names));
		if (names) {
			w->names = names;
			w->name_cap = cap;
		} else
			err = -ENOMEM;
	}
	if (!err && !(copy = strdup(name)))
		err = -ENOMEM;
	if (copy)
		w->names[w->name_cnt++] = copy;
	if (err)
		writer_failed(w, err, name);
	pthread_mutex_unlock(&w->queue_lock);
	return err;
}

static void release_name(struct obz_writer *w, const char *name)
{
	pthread_mutex_lock(&w->queue_lock);
	for (size_t i = 0; i < w->name_cnt; i++)
		if (!strcmp(w->names[i], name)) {
			free(w->names[i]);
			w->names[i] = w->names[--w->name_cnt];
			break;
		}
	pthread_mutex_unlock(&w->queue_lock);
}

/* Compresses exactly sz bytes to one frame with content size and checksum; uses one or two
 * megabytes of memory. */
static int compress(struct obz_writer *w, int fd, uint64_t sz, struct spool *out)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	uint8_t *piece = malloc(2 * PIECE);
	uint64_t at = 0;
	int err = zstd && piece ? 0 : -ENOMEM;
	bool done = false;

	if (!err) {
		ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, w->zstd_level);
		ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
		ZSTD_CCtx_setPledgedSrcSize(zstd, sz);
	}
	while (!err && !done) {
		uint64_t left = sz - at;
		ssize_t n = left ? pread(fd, piece, left < PIECE ? left : PIECE, at) : 0;
		ZSTD_inBuffer in = {piece, n < 0 ? 0 : n, 0};

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || (n == 0 && left)) {
			err = n ? -errno : -EIO; /* the file became shorter while reading */
			break;
		}
		at += n;
		do {
			ZSTD_outBuffer o = {piece + PIECE, PIECE, 0};
			size_t rest = ZSTD_compressStream2(zstd, &o, &in,
							   at == sz ? ZSTD_e_end : ZSTD_e_continue);

			err = ZSTD_isError(rest) ? -EIO : spool_add(out, o.dst, o.pos);
			done = at == sz && rest == 0;
		} while (!err && (in.pos < in.size || (at == sz && !done)));
	}
	ZSTD_freeCCtx(zstd);
	free(piece);
	return err;
}

/* Holds the write lock; chunks queued meanwhile are written afterwards. */
static int write_member(struct obz_writer *w, const char *name, int fd, uint64_t off, uint64_t sz)
{
	bool room;
	int err;

	pthread_mutex_lock(&w->queue_lock);
	room = queue_has_room(w, member_out_sz(sz), false);
	pthread_mutex_unlock(&w->queue_lock);
	pthread_mutex_lock(&w->write_lock);
	err = w->err ? w->err : room ? member_out_copy(&w->out, name, fd, off, sz) : w->full_err;
	pthread_mutex_unlock(&w->write_lock);
	pthread_mutex_lock(&w->queue_lock);
	if (!err && !strncmp(name, ".build-id/", 10))
		w->debug_sz += member_out_sz(sz);
	if (err)
		writer_failed(w, err, name);
	/* a full disk may have room for a chunk later; after a torn member nothing can follow */
	if (w->out.torn && !w->err)
		w->err = err;
	pthread_mutex_unlock(&w->queue_lock);
	writer_drain(w);
	return err;
}

/* Only names of debug members are allowed; the writer creates the others. */
static int check_name(const char *name)
{
	enum obz_member_type type;
	char stream[REC_STREAM_NAME_MAX + 1];
	uint64_t seq;

	return strlen(name) < USTAR_NAME_MAX && member_name_get(name, &type, stream, &seq) &&
			       type == OBZ_DEBUG
		       ? 0
		       : -EINVAL;
}

int obz_writer__add(struct obz_writer *w, const char *name, int fd, uint64_t sz)
{
	struct spool spool;
	int err = check_name(name);

	if (!err)
		err = claim_name(w, name);
	if (err)
		return err;
	spool_init(&spool);
	err = compress(w, fd, sz, &spool);
	if (!err)
		err = spool_flush(&spool);
	if (!err)
		err = write_member(w, name, spool.fd, 0, spool.sz);
	spool_fini(&spool);
	if (err)
		release_name(w, name);
	return err;
}

int obz_writer__add_compressed(struct obz_writer *w, const char *name, int fd, uint64_t sz)
{
	int err = check_name(name);

	if (!err)
		err = claim_name(w, name);
	if (err)
		return err;
	err = write_member(w, name, fd, 0, sz);
	if (err)
		release_name(w, name);
	return err;
}

int obz_writer__copy(struct obz_writer *w, struct obz_reader *r, const struct obz_member *m)
{
	char name[USTAR_NAME_MAX + 4];
	int stream = m->type == OBZ_CHUNK ? rec_stream_index(m->stream) : -1;
	int err;

	if (m->type != OBZ_CHUNK && m->type != OBZ_DEBUG)
		return -EINVAL;
	obz_member_name(m, name);
	err = m->type == OBZ_DEBUG ? claim_name(w, name) : 0;
	if (!err)
		err = write_member(w, name, reader_fd(r), r->base + m->offset, m->sz);
	if (!err && stream >= 0) {
		pthread_mutex_lock(&w->queue_lock);
		if (w->streams[stream].seq <= m->seq)
			w->streams[stream].seq = m->seq + 1;
		pthread_mutex_unlock(&w->queue_lock);
	}
	return err;
}
