/* SPDX-License-Identifier: BSD-2-Clause */
/* What a parser prints and keeps until its message was delivered. */
#ifndef ANALYZE_L7_ARENA_H
#define ANALYZE_L7_ARENA_H

#include "analyze/l7/engine/l7.h"

struct arena_chunk;

/* Zeroed it is empty. */
struct arena {
	struct arena_chunk *chunks; /* the one that is being filled comes first */
};

/* sz bytes; NULL: out of memory. */
char *arena_add(struct arena *a, size_t sz);
/* Nothing of it is used any more; memory for the next message stays. */
void arena_reset(struct arena *a);
void arena_fini(struct arena *a);

#endif
