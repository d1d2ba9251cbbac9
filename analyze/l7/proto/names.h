/* SPDX-License-Identifier: BSD-2-Clause */
/* Named objects of a connection: prepared statements by id or name, portals. Bounded: a full table
 * drops its oldest entry. */
#ifndef ANALYZE_L7_NAMES_H
#define ANALYZE_L7_NAMES_H

#include "analyze/l7/engine/l7.h"

enum { NAMES_MAX = 4096 };
/* Behind the id of a statement in place of its text: it was prepared before the capture. */
#define NAMES_UNSEEN " (PREPARE not seen)"

struct name {
	struct name *next;
	struct span key, method, target;
	uint64_t number; /* sequence number of the entry */
};

struct names {
	struct name **buckets; /* NAMES_MAX entries, allocated with the first name */
	size_t cnt;
	uint64_t last_number;
};

/* Copies the strings; replaces an equal key. Without memory the name is not stored. */
void names_put(struct names *n, struct span key, struct span method, struct span target);
/* NULL: unknown. */
const struct name *names_get(const struct names *n, struct span key);
void names_remove(struct names *n, struct span key);
void names_fini(struct names *n);

#endif
