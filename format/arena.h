/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies of strings and lists, freed all at once. Blocks go round: those of one arena become the
 * spare ones, of which the next is made. */
#ifndef FORMAT_ARENA_H
#define FORMAT_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct arena_block;

/* Zeroed: empty. */
struct arena {
	struct arena_block *blocks;
};

/* Strings that an arena holds, found again by what they are: of each set those met last; none any
 * more when hardly any was. Zeroed: none yet. */
enum { ARENA_SETS = 256, ARENA_WAYS = 4 };
struct arena_known {
	uint64_t sought_sz, found_sz;
	struct arena_string {
		const char *p;
		uint32_t len, tag;
	} sets[ARENA_SETS][ARENA_WAYS];
};

/* NULL: out of memory. */
void *arena_copy(struct arena *a, struct arena *spare, const void *p, size_t len);
/* The same, of a string as it is already held where that is known. */
const char *arena_string(struct arena *a, struct arena *spare, struct arena_known *known,
			 const char *p, uint32_t len);

/* The blocks go to `spare`; NULL, and those of unusual size: they are freed. */
void arena_free(struct arena *a, struct arena *spare);

#endif
