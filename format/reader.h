/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of the reader: reader_file.c reads bytes, reader_walk.c lists members, reader_data.c
 * reads payloads, reader.c opens and closes. */
#ifndef FORMAT_READER_H
#define FORMAT_READER_H

#include <pthread.h>

#include "format/chunk.h"
#include "format/ustar.h"

enum {
	READER_META_MAX = 4 << 20,   /* bytes of a JSON member */
	READER_MEMBERS_MAX = 1 << 24 /* a year of chunks; bounds memory */
};

struct decoder_slot; /* a chunk decoder with its input buffer, for one thread at a time */

/* Last sequence number of each stream, and the stream's names, to which members point. */
struct reader_stream {
	char *name, *path; /* "profile", "ev/profile" */
	uint64_t next;	   /* sequence expected */
	bool met;
};

struct obz_reader {
	int fd;
	uint64_t base,
		sz; /* position of the archive in the file; not 0 for parts of a merged one */
	struct reader_part {
		uint64_t at, sz;
	} * parts; /* parts of a merged archive */
	size_t part_cnt;
	char *header, *schema_text, *end;
	struct schema schema;
	bool has_uuid, recovered;
	uint8_t uuid[16];
	char uuid_text[40];
	uint64_t end_offset; /* offset of the end member's header; sz when there is none */

	bool walked;
	struct obz_member *members;
	size_t member_cnt, member_cap;
	void *names; /* tsearch(3) tree of the strings of member names; no duplicates */
	struct reader_stream streams[64];
	unsigned stream_cnt;

	pthread_mutex_t lock; /* protects the fields below */
	struct decoder_slot *idle;
	struct obz_damage damage;
	uint8_t *bad; /* one flag per member: already counted */
	obz_damage_fn on_damage;
	void *on_damage_arg;

	uint8_t *window; /* part of the file read by the walk */
	uint64_t window_off;
	size_t window_len;
	char error[256];
};

/* Opens path (- for stdin) and sets fd and sz; copies input that is not a file to a spool file. On
 * failure returns reader_fail()'s value. */
int reader_open_file(struct obz_reader *r, const char *path);
int reader_fd(const struct obz_reader *r);

/* Reads exactly len bytes at off. -EBADMSG past the end, or -EIO and similar. */
int reader_get(const struct obz_reader *r, void *to, uint64_t off, size_t len);

/* Returns len bytes at off in the window; fewer at the end of the file. NULL: cannot be read. */
const uint8_t *reader_peek(struct obz_reader *r, uint64_t off, size_t len);

/* A JSON member's text, NUL-terminated; only its seal is verified. NULL when it is damaged. */
char *reader_json(const struct obz_reader *r, uint64_t off, uint64_t sz);

/* Calls on_damage and adds `by` to a counter of `damage`. */
void reader_damaged(struct obz_reader *r, uint64_t *counter, uint64_t by, uint64_t off,
		    const char *member, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* Stores why the archive cannot be opened, for obz_reader__error(); returns err. */
int reader_fail(struct obz_reader *r, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Creates the member list and counts damage; also called by open when the header is damaged. */
void reader_walk(struct obz_reader *r);
void reader_unwalk(struct obz_reader *r);

void reader_decoders_free(struct obz_reader *r);

#endif
