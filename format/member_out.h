/* SPDX-License-Identifier: BSD-2-Clause */
/* Members onto a descriptor, each whole or not there at all. Not thread-safe: the writer has the
 * lock. */
#ifndef FORMAT_MEMBER_OUT_H
#define FORMAT_MEMBER_OUT_H

#include "format/bytes.h"

struct member_out {
	int fd;
	bool seekable;
	bool socket, blocks;  /* a write that finds no room waits for it */
	_Atomic bool hurried; /* who takes nothing for 2 s is not waited for */
	bool ending;	      /* the room kept for the end may be used */
	bool no_claim;	      /* the file system cannot set room aside */
	bool torn;     /* part of a member is out and cannot be taken back: nothing may follow */
	int err;       /* of the member being written */
	int64_t mtime; /* of all members, seconds; negative: when each is written */
	uint64_t base; /* where the archive begins in a seekable file */
	_Atomic uint64_t bytes; /* whole members */
	uint64_t pending;	/* of the member being written, already out */
	struct archive *tar;
	struct bytes buf;
};

int member_out_init(struct member_out *o, int fd);
void member_out_fini(struct member_out *o);

/* Between two members: frees what is kept for the next. */
void member_out_trim(struct member_out *o);

/* With tar's header and padding. */
uint64_t member_out_sz(uint64_t payload);

/* 0 or negative errno, after which the file is as it was before unless `torn`. */
int member_out_put(struct member_out *o, const char *name, const void *p, size_t sz);

/* sz bytes of `from` at `off`; in pieces. */
int member_out_copy(struct member_out *o, const char *name, int from, uint64_t off, uint64_t sz);

/* tar's end: two zero blocks. */
int member_out_end(struct member_out *o);

#endif
