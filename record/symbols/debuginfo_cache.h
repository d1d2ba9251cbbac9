/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --debuginfo-cache DIR: slim ELFs cached for later captures as DIR/ab/cdef-CONTENT.debug.zst:
 * build-id abcdef and the keyed hash of the file (binary_content.h; the key is in DIR/key), as a
 * build-id alone is what any program may say of itself. A file is the member's zstd frame and a
 * skippable frame that says what it holds, so `zstd -d` reads it. Written under a temporary name
 * and renamed; read only when it is a regular file of our own that nobody else may write.
 */
#ifndef RECORD_DEBUGINFO_CACHE_H
#define RECORD_DEBUGINFO_CACHE_H

#include "record/elf/binary_content.h"
#include "record/symbols/debuginfo.h"
#include "record/symbols/slim_elf.h"

#define WHY_SZ 256

/* A compressed slim ELF: bytes 0..sz of fd are one zstd frame of raw_sz bytes. fd -1: there is
 * none. */
struct slim_member {
	int fd;
	uint64_t sz, raw_sz;
	const char *symbols;
	char why[WHY_SZ];
	char alt_id[BUILD_ID_HEX_SZ]; /* the dwz alternate file it needs; empty: none */
	uint64_t alt_tag;	      /* its content in the cache */
};

struct debuginfo_cache {
	int fd; /* the directory; -1: there is none */
	struct content_key key;
};

/* Opens or makes (0700) the directory. 0, or negative errno with the reason in *why. */
int debuginfo_cache_open(struct debuginfo_cache *c, const char *dir, const char **why);
void debuginfo_cache_close(struct debuginfo_cache *c);

/* The content of a file, for the next two; 0: it is not to be kept. -ECANCELED: *cancel was set. */
int debuginfo_cache_tag(const struct debuginfo_cache *c, int fd, const atomic_bool *cancel,
			uint64_t *tag);

/* An unnamed (else unlinked) file in dir_fd, -1: in TMPDIR, /var/tmp or /tmp, else in memory. */
int debuginfo_temp(int dir_fd);

/* 0 and the member when the cache has what `mode` asks for. -ENOENT: it has not. */
int debuginfo_cache_get(const struct debuginfo_cache *c, const char *id, uint64_t tag,
			enum debuginfo_mode mode, struct slim_member *m);

/* Keeps m, whose fd came from debuginfo_temp(c->fd). An error leaves the cache as it was. */
int debuginfo_cache_put(const struct debuginfo_cache *c, const char *id, uint64_t tag,
			enum debuginfo_mode mode, const struct slim_member *m);

/* "ab/cdef.debug.zst", or "sha1/HEX.debug.zst" for sha1:HEX. False: not an id. */
bool debuginfo_member_name(char *name, size_t sz, const char *id);

#endif
