/* SPDX-License-Identifier: BSD-2-Clause */
/* Address ranges of a DIE: low and high PC, .debug_ranges (DWARF 2-4), .debug_rnglists
 * (section 7.25). */
#ifndef ANALYZE_SYMBOL_DWARF_RANGES_H
#define ANALYZE_SYMBOL_DWARF_RANGES_H

#include "analyze/symbol/dwarf_form.h"

struct range_attrs {
	struct attr_value low_pc, high_pc, ranges;
};

/* Called once a range, never for empty ones nor those of discarded code. Non-zero stops and is
 * returned. */
typedef int (*range_fn)(void *ctx, uint64_t lo, uint64_t hi);
int dwarf_ranges(const struct dwarf_unit *u, const struct range_attrs *a, struct meter *m,
		 range_fn fn, void *ctx);

#endif
