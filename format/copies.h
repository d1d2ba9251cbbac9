/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies of strings and lists, freed all at once. Blocks go round: those of one set become
 * the spare ones, of which the next is made. */
#ifndef FORMAT_COPIES_H
#define FORMAT_COPIES_H

#include <stddef.h>
#include <stdint.h>

struct copies_block;

/* Zeroed: empty. */
struct copies {
	struct copies_block *blocks;
};

/* Strings that a set of copies holds, found again by what they are: of each set those met last;
 * none any more when hardly any was. Zeroed: none yet. */
enum { COPIES_SETS = 256, COPIES_WAYS = 4 };
struct copies_known {
	uint64_t sought_sz, found_sz;
	struct copies_string {
		const char *p;
		uint32_t len, tag;
	} sets[COPIES_SETS][COPIES_WAYS];
};

/* NULL: out of memory. */
void *copies_add(struct copies *a, struct copies *spare, const void *p, size_t len);
/* The same, of a string as it is already held where that is known. */
const char *copies_string(struct copies *a, struct copies *spare, struct copies_known *known,
			  const char *p, uint32_t len);

/* The blocks go to `spare`; NULL, and those of unusual size: they are freed. */
void copies_free(struct copies *a, struct copies *spare);

#endif
