/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader's insides, shared by its files: reader_file.c has the bytes, reader_walk.c lists,
 * reader_data.c reads payloads, reader.c opens and closes. */
#ifndef FORMAT_READER_H
#define FORMAT_READER_H

#include <pthread.h>

#include "format/chunk.h"
#include "format/ustar.h"

enum {
	READER_META_MAX = 4 << 20,   /* bytes of a JSON member */
	READER_MEMBERS_MAX = 1 << 24 /* a year of chunks; a bound on memory, not a promise */
};

struct decoder_slot; /* a chunk decoder with its input buffer, for one thread at a time */

/* Last sequence met of each stream, and the stream's names, which members point to. */
struct reader_stream {
	char *name, *path; /* "profile", "ev/profile" */
	uint64_t next;	   /* sequence expected */
	bool met;
};

struct obz_reader {
	int fd;
	uint64_t sz;
	char *header, *schema_text, *end;
	struct schema schema;
	bool has_uuid, recovered;
	uint8_t uuid[16];
	char uuid_text[40];
	uint64_t end_offset; /* of the end member's header; sz when there is none */

	bool walked;
	struct obz_member *members;
	size_t member_cnt, member_cap;
	void *names; /* tsearch(3) tree of what members' names point to; no two alike */
	struct reader_stream streams[64];
	unsigned stream_cnt;

	pthread_mutex_t lock; /* of what follows */
	struct decoder_slot *idle;
	struct obz_damage damage;
	uint8_t *bad; /* a flag a member: counted already */
	obz_damage_fn on_damage;
	void *on_damage_arg;

	uint8_t *window; /* the walk's view of the file */
	uint64_t window_off;
	size_t window_len;
	char error[256];
};

/* path, or - for stdin, into fd and sz; what is no file is spooled. Else reader_fail()'s value. */
int reader_open_file(struct obz_reader *r, const char *path);
int reader_fd(const struct obz_reader *r);

/* Exactly len bytes at off, or -EBADMSG past the end, or -EIO and the like. */
int reader_get(const struct obz_reader *r, void *to, uint64_t off, size_t len);

/* len bytes at off in the walk's window, fewer at the file's end. NULL: cannot be read. */
const uint8_t *reader_peek(struct obz_reader *r, uint64_t off, size_t len);

/* A JSON member's text with a NUL, its seal checked but nothing else; NULL when it is not good. */
char *reader_json(const struct obz_reader *r, uint64_t off, uint64_t sz);

/* Tells the listener and counts: into one of damage's fields. */
void reader_damaged(struct obz_reader *r, uint64_t *counter, uint64_t by, uint64_t off,
		    const char *member, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* Why the archive cannot be opened, for obz_reader__error(); err itself. */
int reader_fail(struct obz_reader *r, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Makes the member list, counting damage; also run by open when the header is lost. */
void reader_walk(struct obz_reader *r);
void reader_unwalk(struct obz_reader *r);

void reader_decoders_free(struct obz_reader *r);

#endif
