/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes members to a descriptor, each completely or not at all. Not thread-safe: the writer holds
 * the lock. */
#ifndef FORMAT_MEMBER_OUT_H
#define FORMAT_MEMBER_OUT_H

#include "format/bytes.h"

struct member_out {
	int fd;
	bool seekable;
	bool socket, blocks;  /* blocks: a write waits when there is no room */
	_Atomic bool hurried; /* do not wait for a reader without progress for 2 s */
	bool ending;	      /* the reserve for the end may be used */
	bool no_claim;	      /* the file system cannot preallocate */
	bool torn;     /* part of a member is written and cannot be undone: nothing may follow */
	int err;       /* error of the current member */
	int64_t mtime; /* of all members, in seconds; negative: time of writing */
	uint64_t base; /* start of the archive in a seekable file */
	_Atomic uint64_t bytes; /* complete members */
	uint64_t pending;	/* bytes already written of the current member */
	struct archive *tar;
	struct bytes buf;
};

int member_out_init(struct member_out *o, int fd);
void member_out_fini(struct member_out *o);

/* Frees the buffers kept for the next member; to be called between two members. */
void member_out_trim(struct member_out *o);

/* Size with tar header and padding. */
uint64_t member_out_sz(uint64_t payload);

/* Returns 0 or negative errno. On failure the file is unchanged unless `torn` is set. */
int member_out_put(struct member_out *o, const char *name, const void *p, size_t sz);

/* Copies sz bytes of `from` at `off`, in pieces. */
int member_out_copy(struct member_out *o, const char *name, int from, uint64_t off, uint64_t sz);

/* Writes the end of the tar file: two zero blocks. */
int member_out_end(struct member_out *o);

#endif
