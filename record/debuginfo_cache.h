/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --debuginfo-cache DIR: slim ELFs kept over captures as DIR/ab/cdef.debug.zst, named like the
 * archive's members. A file is the member's zstd frame and a skippable frame that says what it
 * holds, so `zstd -d` reads it. Written under a temporary name and renamed; read only when it is a
 * regular file of our own that nobody else may write.
 */
#ifndef RECORD_DEBUGINFO_CACHE_H
#define RECORD_DEBUGINFO_CACHE_H

#include "debuginfo.h"
#include "slim_elf.h"

#define WHY_SZ 256

/* A compressed slim ELF: bytes 0..sz of fd are one zstd frame of raw_sz bytes. fd -1: there is
 * none. */
struct slim_member {
	int fd;
	uint64_t sz, raw_sz;
	const char *symbols;
	char why[WHY_SZ];
	char alt_id[BUILD_ID_HEX_SZ]; /* the dwz alternate file it needs; empty: none */
};

/* Opens or makes (0700) the directory. Its fd, or negative errno with the reason in *why. */
int debuginfo_cache_open(const char *dir, const char **why);

/* An unnamed (else unlinked) file in dir_fd, -1: in TMPDIR, /var/tmp or /tmp, else in memory. */
int debuginfo_temp(int dir_fd);

/* 0 and the member when the cache has what `mode` asks for. -ENOENT: it has not. */
int debuginfo_cache_get(int dir_fd, const char *id, enum debuginfo_mode mode,
			struct slim_member *m);

/* Keeps m, whose fd came from debuginfo_temp(dir_fd). An error leaves the cache as it was. */
int debuginfo_cache_put(int dir_fd, const char *id, enum debuginfo_mode mode,
			const struct slim_member *m);

/* "ab/cdef.debug.zst", or "sha1/HEX.debug.zst" for sha1:HEX. False: not an id. */
bool debuginfo_member_name(char *name, size_t sz, const char *id);

#endif
