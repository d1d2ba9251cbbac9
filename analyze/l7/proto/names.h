/* SPDX-License-Identifier: BSD-2-Clause */
/* What a connection gave a name to: prepared statements by id or name, portals. Bounded: a full
 * table forgets its oldest. */
#ifndef ANALYZE_L7_NAMES_H
#define ANALYZE_L7_NAMES_H

#include "analyze/l7/engine/l7.h"

enum { NAMES_MAX = 4096 };

struct name {
	struct name *next;
	struct span key, method, target;
	uint64_t number; /* in the order of naming */
};

struct names {
	struct name **buckets; /* NAMES_MAX of them, from the first put on */
	size_t cnt;
	uint64_t last_number;
};

/* Copies; an equal key is replaced. Without memory the name stays unknown. */
void names_put(struct names *n, struct span key, struct span method, struct span target);
/* NULL: unknown. */
const struct name *names_get(const struct names *n, struct span key);
void names_remove(struct names *n, struct span key);
void names_fini(struct names *n);

#endif
