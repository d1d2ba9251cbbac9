/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing and reading .obz archives (FORMAT.md). A writer copies what it is given; a reader lends
 * spans that live until the call named. Errors are negative errno; the one-line text is in
 * *__error().
 */
#ifndef FORMAT_ARCHIVE_H
#define FORMAT_ARCHIVE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "format/records.h"

struct rec_info;

/* ---- writing ---- */

struct obz_writer;

/* max_sz is met: an error that no file has. */
#define OBZ_MAX_SIZE (-EXFULL)

/* As strerror(-err), with the words for an archive's bounds. */
const char *obz_strerror(int err);

struct obz_writer_opts {
	const char *header_json; /* obz.json, whole; the writer adds "uuid" and "format" itself */
	uint64_t max_sz; /* 0: no bound; put/add return OBZ_MAX_SIZE once it would be passed */
	int zstd_level;	 /* 0: 1 */
	/* For copies of an archive's own members (recover, merge); NULL: a new uuid, our schema.
	 * With a uuid all members are dated when the capture began: copies of the same are the
	 * same. */
	const char *uuid, *schema_json;
};

/*
 * Takes fd (a file, pipe or socket; closed by __close, but not when this fails). Writes obz.json
 * and schema.json at once. All calls may come from any thread; members are whole and never
 * interleave. Near max_sz a reserve is kept: profile rows and debuginfo meet it first, identity
 * and health rows still fit, and so does the end.
 */
int obz_writer__new(struct obz_writer **w, int fd, const struct obz_writer_opts *opts);

/*
 * Queue one record, `rec` is a struct rec_X. The chunk is written when 1 MiB raw is full or on
 * __flush. Strings longer than 65535 bytes are cut; -E2BIG for a record that no chunk can hold.
 * After any other error nothing more is accepted; what was not written is counted in obz.end.json's
 * losses.
 */
int obz_writer__put(struct obz_writer *w, enum rec_kind kind, const void *rec);

/* Write what is queued, of all streams. Called about once a second: what a kill may lose. */
int obz_writer__flush(struct obz_writer *w);

/* The same, and frees what encoding and writing keep from one chunk to the next: the size of the
 * largest so far. Now and then, for the next chunk allocates its own again. */
int obz_writer__trim(struct obz_writer *w);

/* Add `sz` bytes from `fd` at offset 0 as one zstd member called `name`
 * (".build-id/ab/cdef.debug.zst"). The compression runs in the calling thread without holding up
 * put/flush. */
int obz_writer__add(struct obz_writer *w, const char *name, int fd, uint64_t sz);

/* The same for `sz` bytes that are one whole zstd frame already (with content size and checksum):
 * copied as they are. */
int obz_writer__add_compressed(struct obz_writer *w, const char *name, int fd, uint64_t sz);

/* Copy a chunk or debug member of an archive with the same uuid and schema, bytes and name as they
 * are. */
struct obz_reader;
struct obz_member;
int obz_writer__copy(struct obz_writer *w, struct obz_reader *r, const struct obz_member *m);

/*
 * Encodes and writes for the other threads until it is dismissed: what they put and flush they only
 * queue then, unless four chunks wait already. An error of the file is told at the next put or
 * flush. What is left after the thread was dismissed and joined is for flush and close.
 */
void obz_writer__serve(struct obz_writer *w);
void obz_writer__dismiss(struct obz_writer *w);

/* Into a pipe or socket, served: put and flush do not wait for its reader. More waits for it than
 * is good, nothing should be put until it has read. */
bool obz_writer__behind(struct obz_writer *w);

/* From now on the reader of a pipe or socket is waited for while it reads, but not longer than 2 s
 * without that: -ETIMEDOUT. */
void obz_writer__hurry(struct obz_writer *w);

/* fdatasync; from a thread that may wait. 0 for what cannot be synced (pipes). */
int obz_writer__sync(struct obz_writer *w);

uint64_t obz_writer__bytes(const struct obz_writer *w); /* written so far */
const char *obz_writer__uuid(const struct obz_writer *w);
const char *obz_writer__error(const struct obz_writer *w); /* why the last call failed, one line */

/* Why rows are refused since then: OBZ_MAX_SIZE, an error of the file; 0: they are not. */
int obz_writer__refuses(struct obz_writer *w);

/* Writes all that is queued: what obz_writer__refuses() says from then on is the last word on rows.
 */
int obz_writer__finish(struct obz_writer *w);

/*
 * Flush, write obz.end.json and tar's end, close fd, free. NULL end_json: leave it cut. 0 when the
 * archive is whole: a full disk often still has room for the end. The writer adds "uuid",
 * "records", "chunks", "bytes", "complete" (true unless it is there already), and to "losses" what
 * it could not write.
 */
int obz_writer__close(struct obz_writer *w, const char *end_json);

/* What a closed archive holds. */
struct obz_written {
	uint64_t bytes;	  /* of all members, and tar's end */
	uint64_t samples; /* that its rows stand for */
	char *end_json;	  /* the end as the archive has it, or should have; the caller's; NULL: none
			   */
	char error[192];  /* "" when it is whole */
};

/* The same, and tells what became of it. */
int obz_writer__close_to(struct obz_writer *w, const char *end_json, struct obz_written *written);

/* ---- reading ---- */

enum obz_member_type { OBZ_META, OBZ_CHUNK, OBZ_DEBUG, OBZ_UNKNOWN };

struct obz_member {
	enum obz_member_type type;
	bool headless;	     /* chunks: found by their own header, tar's is damaged */
	uint64_t offset, sz; /* of the payload in the archive file */
	const char *name;    /* chunks: without the sequence, "ev/profile" */
	const char *stream;  /* chunks: stream and sequence; else NULL */
	uint64_t seq;
};

/* What was wrong with an archive, by cause; all zero for a whole one. */
struct obz_damage {
	uint64_t cut;		/* 1: no obz.end.json */
	uint64_t bad_chunks;	/* checksum, frame or column errors; found by decoding */
	uint64_t lost_chunks;	/* gaps in a stream's sequence */
	uint64_t bad_members;	/* the same for JSON and debug members; chunks whose tar header is
				   lost */
	uint64_t skipped_bytes; /* not part of any member */
	uint64_t refused;	/* members outside the grammar or bounds, duplicates */
};
bool obz_damage_any(const struct obz_damage *d);

/* Called at each damage as it is met: the member's name ("" for none), where in the file, what. */
typedef void (*obz_damage_fn)(void *arg, uint64_t offset, const char *member, const char *what);

/*
 * path "-" is stdin (spooled to an unlinked temporary file when not seekable). -EBADMSG: not an
 * archive; -EPROTONOSUPPORT: of a newer major version or with a required feature unknown here.
 * Costs the same for any size: only both ends are read. On failure *r still answers __error and is
 * to be closed.
 */
int obz_reader__open(struct obz_reader **r, const char *path);
void obz_reader__close(struct obz_reader *r);

const char *obz_reader__header(const struct obz_reader *r); /* obz.json; NULL when it is lost */
const char *obz_reader__end(const struct obz_reader *r);    /* obz.end.json; NULL when cut */
const char *obz_reader__error(const struct obz_reader *r);
const char *obz_reader__schema(struct obz_reader *r); /* schema.json; NULL when it is lost */
/* NULL reader: of this build. How rows of a kind lie in memory: as records.def says, but of events
 * as the archive's schema says, whose fields come after ours. NULL: the kind is not decoded. Lives
 * as long as the reader. */
const struct rec_info *obz_reader__info(const struct obz_reader *r, enum rec_kind kind);
/* Also known without the header, from any chunk; "" when there is none. */
const char *obz_reader__uuid(const struct obz_reader *r);
uint64_t obz_reader__size(const struct obz_reader *r);

/* What is known so far: the ends after open, gaps and refusals after members, checksums after
 * decode. */
struct obz_damage obz_reader__damage(const struct obz_reader *r);
void obz_reader__on_damage(struct obz_reader *r, obz_damage_fn fn, void *arg); /* before members */

/* The member list, made at the first call: headers only, nothing decompressed. Owned by the reader.
 */
const struct obz_member *obz_reader__members(struct obz_reader *r, size_t *cnt);

/* The name as in the archive, into buf of at least 104 bytes, which is returned. */
char *obz_member_name(const struct obz_member *m, char *buf);

/* What it takes of the archive: its header and padding included. */
static inline uint64_t obz_member_size(const struct obz_member *m)
{
	return 512 + (m->sz + 511) / 512 * 512;
}

/* 0 when the payload's checksums and columns are right; else -EBADMSG, counted as damage. */
int obz_reader__check(struct obz_reader *r, const struct obz_member *m);

/* Chunk header fields (skippable frame) without decompressing. */
struct obz_chunk_info {
	uint64_t raw_sz, records, first_ns, last_ns, lost_before;
};
int obz_reader__chunk_info(struct obz_reader *r, const struct obz_member *m,
			   struct obz_chunk_info *ci);

/*
 * Decode one chunk and call `fn` once for each kind present in it, rows in order; `rows` is an
 * array of struct rec_X whose spans live until fn returns. fn's non-zero return stops and is
 * returned. Thread-safe for distinct calls: chunks can be decoded in parallel.
 */
typedef int (*obz_rows_fn)(void *arg, enum rec_kind kind, const void *rows, size_t cnt);
int obz_reader__decode(struct obz_reader *r, const struct obz_member *m, obz_rows_fn fn, void *arg);

/* `sz` bytes of the payload as they are stored, from `at`, which must lie in it. Negative errno. */
int obz_reader__read(const struct obz_reader *r, const struct obz_member *m, uint64_t at, void *buf,
		     size_t sz);

/* Decompress a debug member into an anonymous unlinked file; returns its fd (seek 0) or negative
 * errno. */
int obz_reader__extract(struct obz_reader *r, const struct obz_member *m, uint64_t max_sz);

#endif
