/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing and reading .obz archives (FORMAT.md). A writer copies its input. A reader returns
 * borrowed spans that are valid until the call named. Errors are negative errno values; *__error()
 * returns a one-line text.
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

/* max_sz is reached; an errno that file operations do not return. */
#define OBZ_MAX_SIZE (-EXFULL)

/* As strerror(-err), with texts for the limits of archives. */
const char *obz_strerror(int err);

struct obz_writer_opts {
	const char *header_json; /* complete obz.json; the writer adds "uuid" and "format" */
	uint64_t max_sz; /* 0: no limit; else put/add return full_err rather than exceed it */
	int full_err;	 /* 0: OBZ_MAX_SIZE */
	int zstd_level;	 /* 0: 1 */
	/*
	 * For copies of members of an archive (recover, merge); NULL: a new uuid, this build's
	 * schema. With a uuid, all members get the start of the capture as their date, so that
	 * copies are reproducible.
	 */
	const char *uuid, *schema_json;
	/* Replaces the sample kind event; NULL: not sampled. Borrowed. */
	const struct rec_sample_kind *event_kind;
};

/*
 * Takes ownership of fd (a file, pipe or socket), which __close closes; not on failure of this
 * call. Writes obz.json and schema.json immediately. All calls may come from any thread; members
 * are complete and never interleaved. Near max_sz a reserve is kept: profile rows and debuginfo
 * reach the limit first; identity and health rows and the end of the archive still fit.
 */
int obz_writer__new(struct obz_writer **w, int fd, const struct obz_writer_opts *opts);

/*
 * Queues one record; `rec` is a struct rec_X. The chunk is written when it has 1 MiB of raw data,
 * or on __flush. Strings longer than 65535 bytes are truncated. -E2BIG: the record does not fit
 * into a chunk. After any other error, no more records are accepted; unwritten rows are counted in
 * the losses of obz.end.json.
 */
int obz_writer__put(struct obz_writer *w, enum rec_kind kind, const void *rec);

/* Writes the queued rows of all streams. Called about once per second, which bounds the loss when
 * the process is killed. */
int obz_writer__flush(struct obz_writer *w);

/* As __flush; also frees the buffers kept for the next chunk, which have the size of the largest
 * chunk so far. To be called rarely, because the next chunk allocates them again. */
int obz_writer__trim(struct obz_writer *w);

/*
 * Adds `sz` bytes from `fd` at offset 0 as one zstd member called `name`
 * (".build-id/ab/cdef.debug.zst"). The calling thread compresses them; put and flush are not
 * blocked meanwhile.
 */
int obz_writer__add(struct obz_writer *w, const char *name, int fd, uint64_t sz);

/* As __add, for `sz` bytes that are a complete zstd frame (with content size and checksum); copied
 * unchanged. */
int obz_writer__add_compressed(struct obz_writer *w, const char *name, int fd, uint64_t sz);

/* Copies a chunk or debug member, unchanged, from an archive with the same uuid and schema. */
struct obz_reader;
struct obz_member;
int obz_writer__copy(struct obz_writer *w, struct obz_reader *r, const struct obz_member *m);

/*
 * Encodes and writes for the other threads until __dismiss. Meanwhile their put and flush only
 * queue, unless four chunks are already waiting. A write error is returned by the next put or
 * flush. After the thread was dismissed and joined, flush and close write the rest.
 */
void obz_writer__serve(struct obz_writer *w);
void obz_writer__dismiss(struct obz_writer *w);

/* For pipes and sockets with __serve, where put and flush do not wait for the reader: whether so
 * much data is queued that nothing should be put until the reader has caught up. */
bool obz_writer__behind(struct obz_writer *w);

/* From now on, waits for the reader of a pipe or socket only while it reads; after 2 s without
 * progress: -ETIMEDOUT. */
void obz_writer__hurry(struct obz_writer *w);

/* Calls fdatasync, which may block. 0 for files that cannot be synced (pipes). */
int obz_writer__sync(struct obz_writer *w);

uint64_t obz_writer__bytes(const struct obz_writer *w); /* written so far */
const char *obz_writer__uuid(const struct obz_writer *w);
const char *obz_writer__error(const struct obz_writer *w); /* reason of last failure */

/* Why rows are refused: OBZ_MAX_SIZE or a write error; 0: they are accepted. */
int obz_writer__refuses(struct obz_writer *w);

/* Writes all queued rows. Afterwards the result of obz_writer__refuses() is final. */
int obz_writer__finish(struct obz_writer *w);

/*
 * Flushes, writes obz.end.json and the end of the tar file, closes fd, frees w. end_json NULL:
 * leaves the archive without its end. Returns 0 when the archive is complete. After an error the
 * end is still tried: a full disk often has room for it. The writer adds "uuid", "records",
 * "chunks", "bytes", "complete" (true unless it is present), and adds to "losses" what it could not
 * write.
 */
int obz_writer__close(struct obz_writer *w, const char *end_json);

/* Content of a closed archive. */
struct obz_written {
	uint64_t bytes;	  /* of all members and the end of the tar file */
	uint64_t samples; /* number of samples its rows represent */
	char *end_json;	  /* obz.end.json, also if not written; the caller's; NULL: none */
	char error[192];  /* "" when it is complete */
};

/* As __close; also returns the result. */
int obz_writer__close_to(struct obz_writer *w, const char *end_json, struct obz_written *written);

/* ---- reading ---- */

enum obz_member_type { OBZ_META, OBZ_CHUNK, OBZ_DEBUG, OBZ_UNKNOWN };

struct obz_member {
	enum obz_member_type type;
	bool headless;	     /* chunks: found by the chunk header, the tar header is damaged */
	uint64_t offset, sz; /* of the payload in the archive file */
	const char *name;    /* chunks: without sequence number, "ev/profile" */
	const char *stream;  /* chunks: stream name; else NULL */
	uint64_t seq;
};

/* Damage of an archive by cause; all zero for an intact one. */
struct obz_damage {
	uint64_t cut;		/* 1: no obz.end.json */
	uint64_t bad_chunks;	/* checksum, frame or column errors; found when decoding */
	uint64_t lost_chunks;	/* gaps in a stream's sequence */
	uint64_t bad_members;	/* bad JSON and debug members; chunks with a bad tar header */
	uint64_t skipped_bytes; /* not part of any member */
	uint64_t refused;	/* members with an invalid name or size, duplicates */
};
bool obz_damage_any(const struct obz_damage *d);

/*
 * Called for each damage: its offset in the file, the member's name ("" for none), a description.
 */
typedef void (*obz_damage_fn)(void *arg, uint64_t offset, const char *member, const char *what);

/*
 * path "-" is stdin (copied to an unlinked temporary file when it is not seekable). -EBADMSG: not
 * an archive; -EPROTONOSUPPORT: a newer major version, or requires an unknown feature. Reads only
 * both ends of the file, so the cost does not depend on its size. On failure, *r is valid for
 * __error and must be closed.
 */
int obz_reader__open(struct obz_reader **r, const char *path);
void obz_reader__close(struct obz_reader *r);

/* Number of archives in a merged archive; 0: not a merged one. The Nth (from 1) of FILE is opened
 * as "FILE#N". */
size_t obz_reader__parts(const struct obz_reader *r);

/* Reads sz raw bytes of the archive at `at`. 0, -EBADMSG past the end, or a read error. */
int obz_reader__raw(const struct obz_reader *r, uint64_t at, void *buf, size_t sz);

const char *obz_reader__header(const struct obz_reader *r); /* obz.json; NULL when it is damaged */
const char *obz_reader__end(const struct obz_reader *r);    /* obz.end.json; NULL when truncated */
const char *obz_reader__error(const struct obz_reader *r);
const char *obz_reader__schema(struct obz_reader *r); /* NULL when it is damaged */
/*
 * Memory layout of the rows of a kind: as in records.def; for events as in the archive's schema,
 * whose additional fields follow those of this build. r NULL: layout of this build. Returns NULL
 * when the kind is not decoded. Valid until the reader is closed.
 */
const struct rec_info *obz_reader__info(const struct obz_reader *r, enum rec_kind kind);
/* Without a header, taken from any chunk; "" when there is none. */
const char *obz_reader__uuid(const struct obz_reader *r);
uint64_t obz_reader__size(const struct obz_reader *r);

/* Damage found so far: truncation after open, gaps and refused members after __members, checksum
 * errors after decoding. */
struct obz_damage obz_reader__damage(const struct obz_reader *r);
void obz_reader__on_damage(struct obz_reader *r, obz_damage_fn fn, void *arg); /* set before use */

/* The member list, created at the first call; reads headers only, decompresses nothing. Owned by
 * the reader. */
const struct obz_member *obz_reader__members(struct obz_reader *r, size_t *cnt);

/* Writes the name as in the archive to buf, of at least 104 bytes; returns buf. */
char *obz_member_name(const struct obz_member *m, char *buf);

/* Size in the archive, including header and padding. */
static inline uint64_t obz_member_size(const struct obz_member *m)
{
	return 512 + (m->sz + 511) / 512 * 512;
}

/* 0 when the payload's checksums and columns are valid; else -EBADMSG, counted as damage. */
int obz_reader__check(struct obz_reader *r, const struct obz_member *m);

/* Reads the chunk header (a skippable frame); decompresses nothing. */
struct obz_chunk_info {
	uint64_t raw_sz, records, first_ns, last_ns, lost_before;
};
int obz_reader__chunk_info(struct obz_reader *r, const struct obz_member *m,
			   struct obz_chunk_info *ci);

/*
 * Decodes one chunk and calls `fn` once for each kind in it, rows in order. `rows` is an array of
 * struct rec_X whose spans are valid until fn returns. A nonzero return of fn stops decoding and is
 * returned. Thread-safe: chunks can be decoded in parallel.
 */
typedef int (*obz_rows_fn)(void *arg, enum rec_kind kind, const void *rows, size_t cnt);
int obz_reader__decode(struct obz_reader *r, const struct obz_member *m, obz_rows_fn fn, void *arg);

/* Reads `sz` stored (compressed) bytes of the payload at offset `at`, which must be in it. Negative
 * errno on failure. */
int obz_reader__read(const struct obz_reader *r, const struct obz_member *m, uint64_t at, void *buf,
		     size_t sz);

/*
 * Decompresses a debug member into an unlinked file; returns its fd (offset 0) or negative errno.
 */
int obz_reader__extract(struct obz_reader *r, const struct obz_member *m, uint64_t max_sz);

#endif
