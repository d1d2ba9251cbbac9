/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory for strings of the message being parsed. It is reset once the message is delivered. */
#ifndef ANALYZE_L7_ARENA_H
#define ANALYZE_L7_ARENA_H

#include "analyze/l7/engine/l7.h"

struct arena_chunk;

/* A zeroed arena is empty. */
struct arena {
	struct arena_chunk *chunks; /* the first chunk is the one being filled */
};

/* Allocates sz bytes. NULL: out of memory. */
char *arena_add(struct arena *a, size_t sz);
/* Invalidates all allocations. Keeps memory for the next message. */
void arena_reset(struct arena *a);
void arena_fini(struct arena *a);

#endif
