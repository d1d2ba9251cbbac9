/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions and inlined calls of one unit as address segments. One walk over the unit's DIEs
 * collects them; names and call sites are read later, and only for the chains asked for.
 */
#ifndef ANALYZE_SYMBOL_DWARF_FUNC_H
#define ANALYZE_SYMBOL_DWARF_FUNC_H

#include "analyze/symbol/dwarf_abbrev.h"

struct func {
	uint64_t die_off;
	uint32_t parent; /* 1 + index of the function or inlined call around it; 0: none */
	bool inlined;	 /* DW_TAG_inlined_subroutine */
};

struct func_range {
	uint64_t lo, hi;
	uint32_t func, order;
};

struct func_segment {
	uint64_t lo, hi;
	uint32_t func;
};

/* Kept by a worker and reloaded for each unit: the arrays are reused. */
struct func_table {
	struct func *funcs;
	struct func_range *ranges;
	struct func_segment *segments; /* ascending, no overlaps; the innermost function holds */
	uint32_t *nest;		       /* by depth of DIE: 1 + the function it is in */
	size_t func_cnt, func_cap, range_cnt, range_cap, segment_cnt, segment_cap, nest_cap;
	const uint64_t *wanted; /* ascending */
	size_t wanted_cnt;
	const struct elf_image *code; /* ranges outside its code are discarded ones */
};

/* Inlined calls are only kept in functions that hold a wanted address. */
int func_table_load(struct func_table *t, const struct dwarf_unit *u, const struct abbrev_table *ab,
		    const struct elf_image *code, const uint64_t *wanted, size_t cnt,
		    struct meter *m);
/* Sets [*lo, *hi) to where the answer holds; NULL: in no function. */
const struct func *func_table_find(const struct func_table *t, uint64_t addr, uint64_t *lo,
				   uint64_t *hi);
void func_table_fini(struct func_table *t);

#endif
