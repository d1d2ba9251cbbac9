/* SPDX-License-Identifier: BSD-2-Clause */
/* What a function's DIE says of it, and its name along DW_AT_abstract_origin and
 * DW_AT_specification, across units and files. */
#ifndef ANALYZE_SYMBOL_DWARF_NAME_H
#define ANALYZE_SYMBOL_DWARF_NAME_H

#include "analyze/symbol/dwarf_abbrev.h"
#include "analyze/symbol/name_pool.h"

/* A worker's memory of names by DIE: inlined functions are met many times. */
struct name_memo {
	const struct dwarf_file *file; /* that the keys are offsets in */
	struct name_memo_slot {
		uint64_t key;
		const struct pooled *name;
	} * slots;
	size_t cnt, cap;
};

struct call_site {
	uint64_t file, line;
};

/* The linkage name, else the name, of the function at die_off, or NULL; and where it was called if
 * it is an inlined call. */
const struct pooled *dwarf_func_name(struct name_memo *m, struct abbrev_cache *abbrevs,
				     const struct dwarf_unit *u, uint64_t die_off,
				     struct name_pool *pool, struct call_site *site,
				     struct meter *meter);
void name_memo_fini(struct name_memo *m);

#endif
