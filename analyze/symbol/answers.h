/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbolization results of one image: address ranges and the inline chain of each. Names are
 * borrowed from a name pool. */
#ifndef ANALYZE_SYMBOL_ANSWERS_H
#define ANALYZE_SYMBOL_ANSWERS_H

#include <stdbool.h>

#include "format/dwarf/section_bytes.h"
#include "analyze/symbol/name_pool.h"

enum { CHAIN_MAX = 256 }; /* deeper chains lose their outermost frames */

struct answer_frame {
	const struct pooled *name, *file; /* either may be NULL */
	uint32_t line;
};

struct answer {
	uint64_t lo, hi; /* hi exclusive */
	uint32_t first;	 /* index in frames; innermost first */
	uint32_t cnt;
};

/* Ranges never overlap. Initialize with {0}. */
struct answers {
	struct answer *v;
	struct answer_frame *frames;
	size_t cnt, cap, frame_cnt, frame_cap;
};

void answers_fini(struct answers *a);

/* Appends a range. Ranges must be in ascending order; overlap with the previous one is cut off. 0
 * or -ENOMEM. */
int answers_add(struct answers *a, uint64_t lo, uint64_t hi, const struct answer_frame *frames,
		size_t cnt);

/* Appends an answer of another list, likewise. */
int answers_add_from(struct answers *a, const struct answers *from, const struct answer *x);

/* Merges `more` into `a`. Both must be ascending. Where ranges overlap, those of `a` take
 * precedence. */
int answers_merge(struct answers *a, const struct answers *more);

/* NULL: not known. Ranges must be ascending. */
const struct answer *answers_find(const struct answers *a, uint64_t addr);

#endif
