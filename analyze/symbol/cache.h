/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Persistent symbol cache, one file per image. For files of this machine it is DIR/ab/cdef...sym
 * for build-id abcdef..., with prefix "sha1-" where there is no build-id. Build-ids in an archive
 * are not trusted: its answers are in DIR/ab/cdef...-CONTENT.sym, where CONTENT is a hash of the
 * debug member they come from. They are valid only with the same dwz file as when they were stored.
 * Only answers from DWARF are stored, since no other source can give better ones.
 *
 *   header | answers, ascending | frames | strings, each NUL-terminated, the first empty
 *
 * Native byte order. A file that is damaged, foreign or of another version is ignored and replaced.
 */
#ifndef ANALYZE_SYMBOL_CACHE_H
#define ANALYZE_SYMBOL_CACHE_H

#include "analyze/symbol/answers.h"

#define CACHE_MAGIC "OBSYM\r\n\032"

enum {
	CACHE_VERSION = 4,
	CACHE_CONTENT_LEN = 32,	   /* hex digits */
	CACHE_FILE_MAX = 64 << 20, /* larger files are replaced by new ones */
	CACHE_DIR_MAX = 1 << 30,   /* beyond this, the least recently used files are deleted */
};

struct cache_header {
	char magic[8];
	uint32_t version;
	uint32_t crc; /* CRC-32 of everything from alt_id on */
	uint32_t answer_cnt, frame_cnt;
	uint64_t string_sz;
	uint32_t alt_id, alt_content; /* struct cache_alt, as offsets in the strings; 0: "" */
};

struct cache_answer {
	uint64_t lo, hi;
	uint32_t first, cnt;
};

struct cache_frame {
	uint32_t name, demangled, file; /* offsets in the strings; 0: none */
	uint32_t line;
};

_Static_assert(sizeof(struct cache_header) == 40, "on disk");
_Static_assert(sizeof(struct cache_answer) == 24, "on disk");
_Static_assert(sizeof(struct cache_frame) == 16, "on disk");

struct cache;

/* content is "" for an image whose files are on this machine. */
struct cache_name {
	const char *id, *content;
};

/* dwz's common file: its build-id, and its content hash in the archive or "". */
struct cache_alt {
	const char *id, *content;
};

/* NULL: no usable cache file. */
struct cache *cache_open(const char *dir, const struct cache_name *name);
void cache_close(struct cache *c);

/* Borrowed from c. Both are "" if there was no dwz file. */
struct cache_alt cache_alt(const struct cache *c);

/* Appends to `out` the cached answers for addrs (ascending, unique). */
int cache_find(const struct cache *c, struct name_pool *pool, const uint64_t *addrs, size_t cnt,
	       struct answers *out);
/* Appends all cached answers. */
int cache_read(const struct cache *c, struct name_pool *pool, struct answers *out);

/* Merges `known` into the current file and replaces it atomically. Errors are ignored. */
void cache_store(const char *dir, const struct cache_name *name, const struct cache_alt *alt,
		 struct name_pool *pool, const struct answers *known);

/* Path of the cache file, malloc'ed. NULL: invalid id or content. */
char *cache_path(const char *dir, const struct cache_name *name);

/* Validates the contents of a cache file. The result borrows `data`. Public for the fuzz target. */
struct cache *cache_parse(void *data, size_t sz);

#endif
