/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known about an image: address ranges with the chain that holds in each. Names are
 * borrowed from a pool. */
#ifndef ANALYZE_SYMBOL_ANSWERS_H
#define ANALYZE_SYMBOL_ANSWERS_H

#include <stdbool.h>

#include "analyze/symbol/section_bytes.h"
#include "analyze/symbol/name_pool.h"

enum { CHAIN_MAX = 256 }; /* deeper inlining is cut at its outer end */

struct answer_frame {
	const struct pooled *name, *file; /* either may be NULL */
	uint32_t line;
};

struct answer {
	uint64_t lo, hi; /* hi exclusive */
	uint32_t first;	 /* in frames; innermost first */
	uint32_t cnt;
};

/* Ranges never overlap. Init with {0}. */
struct answers {
	struct answer *v;
	struct answer_frame *frames;
	size_t cnt, cap, frame_cnt, frame_cap;
};

void answers_fini(struct answers *a);

/* Appends; ranges must come in ascending order, an overlap with the last one is cut off. 0 or
 * -ENOMEM. */
int answers_add(struct answers *a, uint64_t lo, uint64_t hi, const struct answer_frame *frames,
		size_t cnt);

/* The same with an answer of another list. */
int answers_add_from(struct answers *a, const struct answers *from, const struct answer *x);

/* Adds all of `more`, each ascending, to `a`; where ranges overlap, those of `a` are kept. */
int answers_merge(struct answers *a, const struct answers *more);

/* NULL: not known. Ranges must be in order. */
const struct answer *answers_find(const struct answers *a, uint64_t addr);

#endif
