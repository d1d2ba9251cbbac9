/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internals of the writer: queue.c stores rows until a chunk is due, writer_drain.c encodes and
 * writes chunks, writer.c opens and closes the archive, writer_add.c adds other members.
 */
#ifndef FORMAT_WRITER_H
#define FORMAT_WRITER_H

#include <pthread.h>

#include "format/copies.h"
#include "format/chunk.h"
#include "format/member_out.h"

enum { QUEUE_SPANS_MAX = 16 }; /* more than any kind has; verified by a test */

/* Queued rows of one kind. */
struct queue_kind {
	const struct rec_info *info;
	unsigned stream;
	size_t fixed_bound; /* chunk_row_bound without strings and lists */
	const struct rec_field *spans[QUEUE_SPANS_MAX]; /* fields that are strings or lists */
	unsigned span_cnt;
	uint8_t *rows;
	size_t cnt, cap;
	uint8_t *spare; /* row buffer of an encoded chunk, for reuse */
	size_t spare_cap;
	uint64_t written, dropped;
};

struct queue_stream {
	const char *name;
	bool reserved;	    /* may use the reserve near max_sz */
	bool full;	    /* max_sz was reached */
	size_t bound;	    /* upper bound of the raw size of queued rows */
	size_t empty_bound; /* bound of its tables without rows */
	uint64_t samples;   /* number of samples its queued rows represent */
	uint64_t seq;	    /* sequence number of the next chunk */
	uint64_t sz;	    /* size of its members */
	struct copies copies;
	struct copies_known known; /* cached strings of dictionary columns */
};

/* A chunk to be written. When sealed, it owns its rows and the data they point to; when encoded, it
 * owns its payload. */
struct queue_chunk {
	struct queue_chunk *next;
	unsigned stream;
	size_t bound; /* upper bound of the raw size */
	struct chunk_table tables[REC_KIND_MAX];
	size_t table_cnt;
	uint64_t samples;
	struct copies copies;
	struct bytes payload;
	uint32_t rows[REC_KIND_MAX];
	size_t caps[REC_KIND_MAX]; /* row capacity of each table */
};

/* A FIFO of chunks. */
struct queue_list {
	struct queue_chunk *first, **last;
	unsigned cnt;
};

/* Lock order: encode_lock, write_lock, queue_lock. */
struct obz_writer {
	pthread_mutex_t encode_lock;
	struct chunk_encoder *encoder;

	/* the file */
	pthread_mutex_t write_lock;
	struct member_out out;

	/* protects all fields below; held only for operations in memory, so that put never waits
	 * for a disk */
	pthread_mutex_t queue_lock;
	struct queue_kind kinds[REC_KIND_MAX];
	struct queue_stream streams[REC_STREAM_MAX];
	unsigned stream_cnt;
	struct copies spare; /* blocks for reuse */
	struct queue_list sealed, encoded;
	uint64_t queued_sz;		   /* member size of encoded chunks */
	uint64_t sealed_sz;		   /* upper bound of the member size of sealed chunks */
	_Atomic bool served;		   /* a thread is in obz_writer__serve() */
	bool dismissed;			   /* that thread must return */
	pthread_cond_t due;		   /* that thread has work */
	uint64_t lost;			   /* sum of loss rows and dropped rows */
	uint64_t samples, samples_dropped; /* samples represented by written and dropped rows */
	char **names;			   /* names of debug members */
	size_t name_cnt, name_cap;
	uint64_t debug_sz;

	uint64_t max_sz;
	int full_err; /* at max_sz */
	int zstd_level;
	uint8_t uuid[16];
	char uuid_text[37];
	_Atomic int err; /* sticky: write error */
	char error[192];
};

/* ---- queue.c; queue_lock is held, except in queue_encode() ---- */

void queue_init(struct obz_writer *w);
void queue_fini(struct obz_writer *w);

/* -E2BIG, w->full_err, -ENOMEM, -EINVAL; -EAGAIN: retry after all chunks are encoded. `last`: all
 * are encoded. */
int queue_put(struct obz_writer *w, enum rec_kind kind, const void *rec, bool last);

/* Counts a refused row. */
void queue_dropped(struct obz_writer *w, enum rec_kind kind, const void *rec);

/* Frees the buffers kept for the next chunks. */
void queue_trim(struct obz_writer *w);

/* Makes chunks of all queued rows; returns the first error. */
int queue_seal_all(struct obz_writer *w);
/* The oldest sealed chunk; NULL: none. It counts as sealed until queue_encoded(). */
struct queue_chunk *queue_sealed(struct obz_writer *w);
/* Encodes the chunk; only encode_lock is held. */
int queue_encode(struct obz_writer *w, struct queue_chunk *c);
/* Called after queue_encode(); with an `err`, the chunk is dropped. */
void queue_encoded(struct obz_writer *w, struct queue_chunk *c, int err);
/* Removes the oldest encoded chunk; NULL: none. */
struct queue_chunk *queue_pop(struct obz_writer *w);

/* Counts a chunk's rows as written or dropped, and frees the chunk. */
void queue_done(struct obz_writer *w, struct queue_chunk *c, bool written);

/* Whether a member of that size fits in addition to the queued data. `reserved`: it may use the
 * reserve. */
bool queue_has_room(const struct obz_writer *w, uint64_t sz, bool reserved);

/* ---- writer_drain.c ---- */

/* Encodes and writes the sealed chunks. When another thread is already doing so, that thread
 * handles these chunks, too. */
int writer_drain(struct obz_writer *w);
/* Whether the caller must call writer_drain(). A serving thread gets the work instead, unless too
 * many chunks wait. queue_lock is held. */
bool writer_is_due(struct obz_writer *w);
/* Encodes all sealed chunks, including those of other threads. */
void writer_encode(struct obz_writer *w);
/* As writer_encode(), and writes all chunks. After a failed write, small members may still fit:
 * identity, health, the end. */
void writer_finish(struct obz_writer *w);

/* ---- writer.c ---- */

/* Stores the reason; keeps the first write error. Returns err. */
int writer_failed(struct obz_writer *w, int err, const char *what);

#endif
