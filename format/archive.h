/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing and reading .obz archives (FORMAT.md). A writer copies what it is given; a reader lends spans
 * that live until the call named. Errors are negative errno; the one-line text is in *__error().
 */
#ifndef FORMAT_ARCHIVE_H
#define FORMAT_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "records.h"

/* ---- writing ---- */

struct obz_writer;

struct obz_writer_opts {
	const char *header_json;  /* obz.json, whole; the writer adds "uuid" and "format" itself */
	uint64_t max_sz;	  /* 0: no bound; put/add return -EFBIG once it would be passed */
	int zstd_level;		  /* 0: 1 */
};

/*
 * Takes fd (a file, pipe or socket; closed by __close). Writes obz.json and schema.json at once.
 * All calls may come from any thread; members are whole and never interleave.
 */
int obz_writer__new(struct obz_writer **w, int fd, const struct obz_writer_opts *opts);

/* Queue one record, `rec` is a struct rec_X. The chunk is written when 1 MiB raw is full or on __flush. */
int obz_writer__put(struct obz_writer *w, enum rec_kind kind, const void *rec);

/* Write what is queued, of all streams. Called about once a second: what a kill may lose. */
int obz_writer__flush(struct obz_writer *w);

/* Add `sz` bytes from `fd` at offset 0 as one zstd member called `name` (".build-id/ab/cdef.debug.zst").
 * The compression runs in the calling thread without holding up put/flush. */
int obz_writer__add(struct obz_writer *w, const char *name, int fd, uint64_t sz);

/* The same for `sz` bytes that are one whole zstd frame already (with content size and checksum): copied as they are. */
int obz_writer__add_compressed(struct obz_writer *w, const char *name, int fd, uint64_t sz);

/* fdatasync; from a thread that may wait. 0 for what cannot be synced (pipes). */
int obz_writer__sync(struct obz_writer *w);

uint64_t obz_writer__bytes(const struct obz_writer *w);	 /* written so far */
const char *obz_writer__uuid(const struct obz_writer *w);
const char *obz_writer__error(const struct obz_writer *w); /* why the last call failed, one line */

/* After a failed write (disk full) nothing more is accepted but what was written stays valid. */
/* Flush, write obz.end.json (`end_json` whole) and tar's end, close fd, free. NULL end_json: leave it cut. */
int obz_writer__close(struct obz_writer *w, const char *end_json);

/* ---- reading ---- */

struct obz_reader;

enum obz_member_type { OBZ_META, OBZ_CHUNK, OBZ_DEBUG, OBZ_UNKNOWN };

struct obz_member {
	enum obz_member_type type;
	char name[104];
	uint64_t offset, sz; /* of the payload in the archive file */
	char stream[32];     /* chunks: stream and sequence, from the name */
	uint64_t seq;
};

/* What was wrong with an archive, by cause; all zero for a whole one. */
struct obz_damage {
	uint64_t cut;		/* 1: no obz.end.json */
	uint64_t bad_chunks;	/* checksum, frame or column errors */
	uint64_t lost_chunks;	/* gaps in a stream's sequence */
	uint64_t skipped_bytes; /* not part of any member */
	uint64_t refused;	/* members outside the grammar or bounds */
};

/* path "-" is stdin (spooled to an unlinked temporary file when not seekable). -EBADMSG: not an archive. */
int obz_reader__open(struct obz_reader **r, const char *path);
void obz_reader__close(struct obz_reader *r);

const char *obz_reader__header(const struct obz_reader *r); /* obz.json; NULL when it is lost */
const char *obz_reader__end(const struct obz_reader *r);    /* obz.end.json; NULL when cut */
const char *obz_reader__error(const struct obz_reader *r);
struct obz_damage obz_reader__damage(const struct obz_reader *r);

/* The member list: headers only, nothing decompressed. Owned by the reader. */
const struct obz_member *obz_reader__members(const struct obz_reader *r, size_t *cnt);

/* Chunk header fields (skippable frame) without decompressing. */
struct obz_chunk_info {
	uint64_t raw_sz, records, first_ns, last_ns, lost_before;
};
int obz_reader__chunk_info(struct obz_reader *r, const struct obz_member *m, struct obz_chunk_info *ci);

/*
 * Decode one chunk and call `fn` once for each kind present in it, rows in order; `rows` is an array of
 * struct rec_X whose spans live until fn returns. fn's non-zero return stops and is returned.
 * Thread-safe for distinct calls: chunks can be decoded in parallel.
 */
typedef int (*obz_rows_fn)(void *arg, enum rec_kind kind, const void *rows, size_t cnt);
int obz_reader__decode(struct obz_reader *r, const struct obz_member *m, obz_rows_fn fn, void *arg);

/* Decompress a member into an anonymous unlinked file; returns its fd (seek 0) or negative errno. */
int obz_reader__extract(struct obz_reader *r, const struct obz_member *m, uint64_t max_sz);

#endif
