/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Function names: the linkage name if DWARF has one, otherwise the name qualified by its enclosing
 * scopes, as a demangler would print it:
 *
 *   feed::Feed::~Feed    (anonymous namespace)::tally    main::{lambda}::operator()
 */
#ifndef ANALYZE_SYMBOL_DWARF_NAME_H
#define ANALYZE_SYMBOL_DWARF_NAME_H

#include "format/dwarf/dwarf_scope.h"
#include "analyze/symbol/name_pool.h"

/* Names by DIE. Inlined functions and common scopes are looked up many times. */
struct name_table {
	struct name_slot {
		uint64_t key;
		const struct pooled *name;
	} * slots;
	size_t cnt, cap;
};

/* One per worker. Initialize with {0}. */
struct name_memo {
	const struct dwarf_file *file; /* file in which the keys are offsets */
	struct name_table functions, scopes;
};

/* Common parameters of the look-up functions. */
struct name_search {
	struct name_memo *memo;
	struct abbrev_cache *abbrevs;
	struct name_pool *pool;
	struct meter *meter;
};

/* Name of the function at die_off, or NULL. site: set to the call site of an inlined call. */
const struct pooled *dwarf_func_name(const struct name_search *s, const struct dwarf_unit *u,
				     uint64_t die_off, struct call_site *site);
void name_memo_fini(struct name_memo *m);

/* Slot of a nonzero key. If the slot's own key is 0, the slot is new: the caller fills it in and
 * increments cnt. NULL: out of memory or budget. */
struct name_slot *name_table_slot(struct name_table *t, uint64_t key, struct meter *meter);

/* Qualified name if the unit's language has scopes, otherwise the plain name. `asking`: the unit
 * that contains the function's code. */
const struct pooled *dwarf_scoped_name(const struct name_search *s, const struct die_name *n,
				       const struct dwarf_unit *asking);

#endif
