/* SPDX-License-Identifier: BSD-2-Clause */
/* Encodes and writes queued chunks, in the threads that put rows or in a serving thread. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/writer.h"

/* Beyond these limits put and flush encode themselves and wait for the file. */
enum { QUEUED_MAX = 16 << 20, SEALED_MAX = 4 };
#define NONE UINT64_MAX

int writer_failed(struct obz_writer *w, int err, const char *what)
{
	snprintf(w->error, sizeof(w->error), "%s: %s", what, obz_strerror(err));
	return err;
}

/* Writes the oldest chunk; write_lock is held. False when there is none. */
static bool write_one(struct obz_writer *w, bool despite_error)
{
	struct queue_chunk *c = NULL;
	char name[64];
	int err;

	pthread_mutex_lock(&w->queue_lock);
	if (!w->err || despite_error)
		c = queue_pop(w);
	if (c) {
		const struct queue_stream *s = &w->streams[c->stream];

		chunk_header_renumber(c->payload.p, s->seq, w->lost);
		snprintf(name, sizeof(name), "ev/%s/%06" PRIu64 ".zst", s->name, s->seq);
	}
	pthread_mutex_unlock(&w->queue_lock);
	if (!c)
		return false;
	err = member_out_put(&w->out, name, c->payload.p, c->payload.len);
	pthread_mutex_lock(&w->queue_lock);
	w->queued_sz -= member_out_sz(c->payload.len);
	queue_done(w, c, !err);
	if (err && !w->err)
		w->err = writer_failed(w, err, "writing the archive");
	pthread_mutex_unlock(&w->queue_lock);
	return true;
}

/* Encodes the oldest sealed chunk; encode_lock is held. False when there is none. */
static bool encode_one(struct obz_writer *w, bool despite_error)
{
	struct queue_chunk *c = NULL;
	int err;

	pthread_mutex_lock(&w->queue_lock);
	if (!w->err || despite_error)
		c = queue_sealed(w);
	pthread_mutex_unlock(&w->queue_lock);
	if (!c)
		return false;
	err = queue_encode(w, c);
	pthread_mutex_lock(&w->queue_lock);
	queue_encoded(w, c, err);
	if (err && !w->err)
		w->err = writer_failed(w, err, "encoding records");
	pthread_mutex_unlock(&w->queue_lock);
	return true;
}

/* Whether more sealed chunks, or more bytes of encoded ones, are waiting than given, and there is a
 * file to write to. */
static bool waits(struct obz_writer *w, uint64_t sealed, uint64_t encoded_sz)
{
	bool yes;

	pthread_mutex_lock(&w->queue_lock);
	yes = !w->err && (w->sealed.cnt > sealed || w->queued_sz > encoded_sz);
	pthread_mutex_unlock(&w->queue_lock);
	return yes;
}

/* Whether this thread may block in a write. Files do not block for long; a pipe without a reader
 * may block forever and is left to the serving thread. */
static bool may_write(const struct obz_writer *w, bool serves)
{
	return serves || !w->served || w->out.seekable;
}

static bool take(pthread_mutex_t *lock, bool wait)
{
	return wait ? !pthread_mutex_lock(lock) : !pthread_mutex_trylock(lock);
}

/* The holder of a lock checks again after releasing it, so that no chunk is left behind. */
static int drain(struct obz_writer *w, bool wait)
{
	while (waits(w, 0, NONE) && take(&w->encode_lock, wait || waits(w, SEALED_MAX, NONE))) {
		while (encode_one(w, false))
			;
		pthread_mutex_unlock(&w->encode_lock);
	}
	if (!may_write(w, wait)) {
		pthread_cond_signal(&w->due);
		return w->err;
	}
	while (waits(w, NONE, 0) && take(&w->write_lock, wait || waits(w, NONE, QUEUED_MAX))) {
		while (write_one(w, false))
			;
		pthread_mutex_unlock(&w->write_lock);
	}
	return w->err;
}

int writer_drain(struct obz_writer *w)
{
	return drain(w, false);
}

bool writer_is_due(struct obz_writer *w)
{
	if (!w->sealed.cnt && !w->encoded.cnt)
		return false;
	if (!w->served || w->sealed.cnt > SEALED_MAX || w->queued_sz > QUEUED_MAX)
		return true;
	pthread_cond_signal(&w->due);
	return false;
}

static void encode_all(struct obz_writer *w, bool despite_error)
{
	pthread_mutex_lock(&w->encode_lock);
	pthread_mutex_lock(&w->queue_lock);
	queue_seal_all(w);
	pthread_mutex_unlock(&w->queue_lock);
	while (encode_one(w, despite_error))
		;
	pthread_mutex_unlock(&w->encode_lock);
}

void writer_encode(struct obz_writer *w)
{
	encode_all(w, false);
}

void writer_finish(struct obz_writer *w)
{
	encode_all(w, true);
	pthread_mutex_lock(&w->write_lock);
	while (write_one(w, true))
		;
	pthread_mutex_unlock(&w->write_lock);
}

void obz_writer__serve(struct obz_writer *w)
{
	pthread_mutex_lock(&w->queue_lock);
	w->served = true;
	while (!w->dismissed) {
		if (w->err || (!w->sealed.cnt && !w->encoded.cnt)) {
			pthread_cond_wait(&w->due, &w->queue_lock);
			continue;
		}
		pthread_mutex_unlock(&w->queue_lock);
		drain(w, true);
		pthread_mutex_lock(&w->queue_lock);
	}
	w->served = false;
	pthread_mutex_unlock(&w->queue_lock);
}

bool obz_writer__behind(struct obz_writer *w)
{
	return w->served && !w->out.seekable && !w->out.hurried && waits(w, NONE, QUEUED_MAX);
}

void obz_writer__hurry(struct obz_writer *w)
{
	w->out.hurried = true;
}

void obz_writer__dismiss(struct obz_writer *w)
{
	pthread_mutex_lock(&w->queue_lock);
	w->dismissed = true;
	pthread_cond_signal(&w->due);
	pthread_mutex_unlock(&w->queue_lock);
}
