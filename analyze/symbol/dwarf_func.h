/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions and inlined calls of one unit as address segments. One pass over the unit's DIEs
 * collects them. Names and call sites are read later, only for the chains needed.
 */
#ifndef ANALYZE_SYMBOL_DWARF_FUNC_H
#define ANALYZE_SYMBOL_DWARF_FUNC_H

#include "format/dwarf/dwarf_abbrev.h"

struct func {
	uint64_t die_off;
	uint32_t parent; /* 1 + index of the enclosing function or inlined call; 0: none */
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

/* One per worker, reloaded for each unit so that the arrays are reused. */
struct func_table {
	struct func *funcs;
	struct func_range *ranges;
	struct func_segment *segments; /* ascending, disjoint; of nested functions the innermost */
	uint32_t *nest; /* indexed by DIE depth: 1 + index of the enclosing function */
	size_t func_cnt, func_cap, range_cnt, range_cap, segment_cnt, segment_cap, nest_cap;
	const uint64_t *wanted; /* ascending */
	size_t wanted_cnt;
	const struct elf_image *code; /* ranges outside its code are ignored as discarded */
};

/* Inlined calls are collected only in functions that contain a wanted address. */
int func_table_load(struct func_table *t, const struct dwarf_unit *u, const struct abbrev_table *ab,
		    const struct elf_image *code, const uint64_t *wanted, size_t cnt,
		    struct meter *m);
/* *lo, *hi: range in which the result is the same. NULL: not in a function. */
const struct func *func_table_find(const struct func_table *t, uint64_t addr, uint64_t *lo,
				   uint64_t *hi);
void func_table_fini(struct func_table *t);

#endif
