/* SPDX-License-Identifier: BSD-2-Clause */
/* Address ranges of a DIE: low and high PC, .debug_ranges (DWARF 2-4), .debug_rnglists
 * (section 7.25). */
#ifndef FORMAT_DWARF_RANGES_H
#define FORMAT_DWARF_RANGES_H

#include "format/dwarf/dwarf_form.h"

struct range_attrs {
	struct attr_value low_pc, high_pc, ranges;
};

/* Called for each range, except for empty ones and those of discarded code. A nonzero result stops
 * and is returned. */
typedef int (*range_fn)(void *ctx, uint64_t lo, uint64_t hi);
int dwarf_ranges(const struct dwarf_unit *u, const struct range_attrs *a, struct meter *m,
		 range_fn fn, void *ctx);

#endif
