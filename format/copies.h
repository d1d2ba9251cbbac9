/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies of strings and lists, freed all at once. Blocks are recycled: those of a freed set become
 * spare blocks for the next one. */
#ifndef FORMAT_COPIES_H
#define FORMAT_COPIES_H

#include <stddef.h>
#include <stdint.h>

struct copies_block;

/* Empty when zeroed. */
struct copies {
	struct copies_block *blocks;
};

/* Cache of strings in a set of copies, by content; each cache set holds the most recent ones. The
 * cache is disabled when lookups hardly ever hit. Empty when zeroed. */
enum { COPIES_SETS = 256, COPIES_WAYS = 4 };
struct copies_known {
	uint64_t sought_sz, found_sz;
	struct copies_string {
		const char *p;
		uint32_t len, tag;
	} sets[COPIES_SETS][COPIES_WAYS];
};

/* Copies len bytes; NULL: out of memory. */
void *copies_add(struct copies *a, struct copies *spare, const void *p, size_t len);
/* As copies_add(), for a string; returns the existing copy when the cache has it. */
const char *copies_string(struct copies *a, struct copies *spare, struct copies_known *known,
			  const char *p, uint32_t len);

/* Moves the blocks to `spare`. Frees blocks of unusual size, and all when `spare` is NULL. */
void copies_free(struct copies *a, struct copies *spare);

#endif
