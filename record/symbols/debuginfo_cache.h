/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --debuginfo-cache DIR: keeps slim ELFs for later captures as DIR/ab/cdef-CONTENT.debug.zst, from
 * build-id abcdef and the keyed hash of the file (binary_content.h; the key is in DIR/key). The
 * hash is needed because any program can have any build-id. A file consists of the member's zstd
 * frame and a skippable frame with metadata, so `zstd -d` can read it. Files are written under a
 * temporary name and renamed. A file is used only if it is a regular file owned by obrec's user and
 * writable by nobody else.
 */
#ifndef RECORD_DEBUGINFO_CACHE_H
#define RECORD_DEBUGINFO_CACHE_H

#include "record/elf/binary_content.h"
#include "record/symbols/debuginfo.h"
#include "record/symbols/slim_elf.h"

#define WHY_SZ 256

/* A compressed slim ELF: bytes 0..sz of fd are one zstd frame of raw_sz bytes. fd -1: none. */
struct slim_member {
	int fd;
	uint64_t sz, raw_sz;
	const char *symbols;
	char why[WHY_SZ];
	bool failed; /* further attempts for this file are useless */
	char alt_id[BUILD_ID_HEX_SZ]; /* dwz alternate file it needs; empty: none */
	uint64_t alt_tag;	      /* content tag of that file in the cache */
};

struct debuginfo_cache {
	int fd; /* the directory; -1: no cache */
	struct content_key key;
};

/* Opens or creates (0700) the directory. Returns 0, or a negative errno with the reason in *why. */
int debuginfo_cache_open(struct debuginfo_cache *c, const char *dir, const char **why);
void debuginfo_cache_close(struct debuginfo_cache *c);

/* Computes the content tag for the functions below; 0: do not cache. -ECANCELED: *cancel was
 * set. */
int debuginfo_cache_tag(const struct debuginfo_cache *c, int fd, const atomic_bool *cancel,
			uint64_t *tag);

/* Returns 0 and the member if the cache has what `mode` requests. -ENOENT: it does not. */
int debuginfo_cache_get(const struct debuginfo_cache *c, const char *id, uint64_t tag,
			enum debuginfo_mode mode, struct slim_member *m);

/* Stores m, whose fd was made by temp_file_in(c->fd). On error the cache is unchanged. */
int debuginfo_cache_put(const struct debuginfo_cache *c, const char *id, uint64_t tag,
			enum debuginfo_mode mode, const struct slim_member *m);

/* "ab/cdef.debug.zst", or "sha1/HEX.debug.zst" for sha1:HEX. False: not an id. */
bool debuginfo_member_name(char *name, size_t sz, const char *id);

#endif
