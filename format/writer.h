/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The writer's insides, shared by its files: queue.c keeps rows until a chunk is due,
 * writer_drain.c brings chunks to the file, writer.c is the life of an archive, writer_add.c brings
 * other members.
 */
#ifndef FORMAT_WRITER_H
#define FORMAT_WRITER_H

#include <pthread.h>

#include "format/copies.h"
#include "format/chunk.h"
#include "format/member_out.h"

enum { QUEUE_SPANS_MAX = 16 }; /* no kind has as many; a test holds records.def to it */

/* Queued rows of one kind. */
struct queue_kind {
	const struct rec_info *info;
	unsigned stream;
	size_t fixed_bound; /* chunk_row_bound without strings and lists */
	const struct rec_field *spans[QUEUE_SPANS_MAX]; /* which are strings and lists */
	unsigned span_cnt;
	uint8_t *rows;
	size_t cnt, cap;
	uint8_t *spare; /* room for as many: the rows of a chunk that is encoded */
	size_t spare_cap;
	uint64_t written, dropped;
};

struct queue_stream {
	const char *name;
	bool reserved;	    /* may use the room kept for the end */
	bool full;	    /* max_sz was met */
	size_t bound;	    /* at most the raw size of what is queued */
	size_t empty_bound; /* of its tables without rows */
	uint64_t samples;   /* that its queued rows stand for */
	uint64_t seq;	    /* of the next chunk to be written */
	uint64_t sz;	    /* of its members */
	struct copies copies;
	struct copies_known known; /* what it holds of dictionaries */
};

/* A chunk on its way to the file: sealed, its rows and what they point to are its own; encoded,
 * they are payload. */
struct queue_chunk {
	struct queue_chunk *next;
	unsigned stream;
	size_t bound; /* of the raw size */
	struct chunk_table tables[REC_KIND_MAX];
	size_t table_cnt;
	uint64_t samples;
	struct copies copies;
	struct bytes payload;
	uint32_t rows[REC_KIND_MAX];
	size_t caps[REC_KIND_MAX]; /* rows that the tables have room for */
};

/* In order. */
struct queue_list {
	struct queue_chunk *first, **last;
	unsigned cnt;
};

/* Each lock is never taken while one below it is held. */
struct obz_writer {
	pthread_mutex_t encode_lock;
	struct chunk_encoder *encoder;

	/* the file */
	pthread_mutex_t write_lock;
	struct member_out out;

	/* all below; held only for memory's work, so that put never waits for a disk */
	pthread_mutex_t queue_lock;
	struct queue_kind kinds[REC_KIND_MAX];
	struct queue_stream streams[REC_STREAM_MAX];
	unsigned stream_cnt;
	struct copies spare; /* blocks for the next chunks */
	struct queue_list sealed, encoded;
	uint64_t queued_sz;		   /* as members, of those that are encoded, */
	uint64_t sealed_sz;		   /* and at most of those that are not */
	_Atomic bool served;		   /* by a thread in obz_writer__serve(), */
	bool dismissed;			   /* which shall return */
	pthread_cond_t due;		   /* there is something for it */
	uint64_t lost;			   /* counts of loss rows, and rows dropped */
	uint64_t samples, samples_dropped; /* that rows of theirs stand for */
	char **names;			   /* debug members there are */
	size_t name_cnt, name_cap;
	uint64_t debug_sz;

	uint64_t max_sz;
	int zstd_level;
	uint8_t uuid[16];
	char uuid_text[37];
	_Atomic int err; /* sticky: the file cannot be written */
	char error[192];
};

/* ---- queue.c; queue_lock is held, but in queue_encode() ---- */

void queue_init(struct obz_writer *w);
void queue_fini(struct obz_writer *w);

/* -E2BIG, OBZ_MAX_SIZE, -ENOMEM, -EINVAL; -EAGAIN: there may be room once all is encoded. `last`:
 * it is.
 */
int queue_put(struct obz_writer *w, enum rec_kind kind, const void *rec, bool last);

/* Counts a row that was refused. */
void queue_dropped(struct obz_writer *w, enum rec_kind kind, const void *rec);

/* Frees what is kept for the next chunks. */
void queue_trim(struct obz_writer *w);

/* What the streams have are chunks from now on; the first error. */
int queue_seal_all(struct obz_writer *w);
/* The oldest that is sealed, NULL: none. It counts as sealed until queue_encoded(). */
struct queue_chunk *queue_sealed(struct obz_writer *w);
/* The work, under encode_lock alone. */
int queue_encode(struct obz_writer *w, struct queue_chunk *c);
/* `err`: it could not be, and is dropped. */
void queue_encoded(struct obz_writer *w, struct queue_chunk *c, int err);
/* The oldest that is encoded; NULL: none. */
struct queue_chunk *queue_pop(struct obz_writer *w);

/* Counts a chunk's rows as written or dropped, and frees it. */
void queue_done(struct obz_writer *w, struct queue_chunk *c, bool written);

/* Whether a member of that size fits beside what is queued, the reserve left out. */
bool queue_has_room(const struct obz_writer *w, uint64_t sz, bool reserved);

/* ---- writer_drain.c ---- */

/* Encodes and writes what is sealed, unless other threads are at it: they then do this too. */
int writer_drain(struct obz_writer *w);
/* queue_lock is held. Whether the caller has something to drain: a thread that serves gets it,
 * unless too much waits already. */
bool writer_is_due(struct obz_writer *w);
/* All there is, that of other threads too. */
void writer_encode(struct obz_writer *w);
/* The same, and writes it. After a failed write, what is small may still find room: identity,
 * health, the end. */
void writer_finish(struct obz_writer *w);

/* ---- writer.c ---- */

/* Notes why; the first error of the file stays. Returns err. */
int writer_failed(struct obz_writer *w, int err, const char *what);

#endif
