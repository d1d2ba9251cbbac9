/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers kept between runs, a file for each image: DIR/ab/cdef...sym for the build-id abcdef...,
 * "sha1-" before the hex where there is none, if its files are this machine's. What an archive says
 * of a build-id is the archive's own affair: its answers are in DIR/ab/cdef...-CONTENT.sym, CONTENT
 * being a hash of the debug member they come from, and count as long as the dwz file that was read
 * with it is the same one, too. Only answers from DWARF are kept, as whatever else an
 * image may offer later is not better.
 *
 *   header | answers, ascending | frames | strings, each NUL-terminated, the first empty
 *
 * in the byte order of the machine. A file that is damaged, foreign or of another version is
 * ignored and replaced.
 */
#ifndef ANALYZE_SYMBOL_CACHE_H
#define ANALYZE_SYMBOL_CACHE_H

#include "analyze/symbol/answers.h"

#define CACHE_MAGIC "OBSYM\r\n\032"

enum {
	CACHE_VERSION = 4,
	CACHE_CONTENT_LEN = 32,	   /* hex digits */
	CACHE_FILE_MAX = 64 << 20, /* larger ones are begun anew */
	CACHE_DIR_MAX = 1 << 30,   /* then the longest unused files go */
};

struct cache_header {
	char magic[8];
	uint32_t version;
	uint32_t crc; /* CRC-32 from alt_id on */
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

/* content "" for an image whose files are this machine's. */
struct cache_name {
	const char *id, *content;
};

/* dwz's common file: its build-id, and its content in the archive, "" where that has none. */
struct cache_alt {
	const char *id, *content;
};

/* NULL: nothing usable there. */
struct cache *cache_open(const char *dir, const struct cache_name *name);
void cache_close(struct cache *c);

/* Lent; both "" where there was none. */
struct cache_alt cache_alt(const struct cache *c);

/* Appends to `out` the answers for those of addrs (ascending, without repeats) that it has. */
int cache_find(const struct cache *c, struct name_pool *pool, const uint64_t *addrs, size_t cnt,
	       struct answers *out);
/* All that it has. */
int cache_read(const struct cache *c, struct name_pool *pool, struct answers *out);

/* Adds `known` to what the file holds by now, and replaces it at once. Failing is no harm, so
 * nothing is returned. */
void cache_store(const char *dir, const struct cache_name *name, const struct cache_alt *alt,
		 struct name_pool *pool, const struct answers *known);

/* The file's path, malloc'ed; NULL for an id or a content that is none. */
char *cache_path(const char *dir, const struct cache_name *name);

/* Checks an image of a cache file; *c lends from it. Exposed for the fuzz target. */
struct cache *cache_parse(void *data, size_t sz);

#endif
