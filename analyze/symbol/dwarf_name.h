/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of functions: the linkage name where DWARF has one, else the name with the scopes around
 * it, as a demangler would print them:
 *
 *   feed::Feed::~Feed    (anonymous namespace)::tally    main::{lambda}::operator()
 */
#ifndef ANALYZE_SYMBOL_DWARF_NAME_H
#define ANALYZE_SYMBOL_DWARF_NAME_H

#include "analyze/symbol/dwarf_scope.h"
#include "analyze/symbol/name_pool.h"

/* Names by DIE: inlined functions, and what many of them stand in, are met many times. */
struct name_table {
	struct name_slot {
		uint64_t key;
		const struct pooled *name;
	} * slots;
	size_t cnt, cap;
};

/* A worker's own. Init with {0}. */
struct name_memo {
	const struct dwarf_file *file; /* that the keys are offsets in */
	struct name_table functions, scopes;
};

/* What all steps need. */
struct name_search {
	struct name_memo *memo;
	struct abbrev_cache *abbrevs;
	struct name_pool *pool;
	struct meter *meter;
};

/* The name of the function at die_off, or NULL; and where it was called if it is an inlined call.
 */
const struct pooled *dwarf_func_name(const struct name_search *s, const struct dwarf_unit *u,
				     uint64_t die_off, struct call_site *site);
void name_memo_fini(struct name_memo *m);

/* The slot of a key, which is not 0; its own is 0 when it is new: fill it in and count it. NULL: no
 * room. */
struct name_slot *name_table_slot(struct name_table *t, uint64_t key, struct meter *meter);

/* The name with its scopes, where the unit's language has them, else the name alone. `asking`: the
 * unit that the function's code is in. */
const struct pooled *dwarf_scoped_name(const struct name_search *s, const struct die_name *n,
				       const struct dwarf_unit *asking);

#endif
