/* SPDX-License-Identifier: BSD-2-Clause */
/* Abbreviation tables (section 7.5.3) with what makes walking over DIEs fast, and each worker's
 * small cache of them. */
#ifndef ANALYZE_SYMBOL_DWARF_ABBREV_H
#define ANALYZE_SYMBOL_DWARF_ABBREV_H

#include "analyze/symbol/dwarf_form.h"

struct attr_spec {
	uint16_t name, form;
	int8_t sz; /* as dwarf_form_size() says */
	int64_t implicit;
};

struct abbrev {
	uint64_t code;
	uint16_t tag;
	bool children : 1;
	bool scope : 1; /* with children, and functions may be among them */
	bool has_pc;	/* DW_AT_low_pc or DW_AT_ranges is among the attributes */
	int fixed_sz;	/* of all attributes together; -1: to be walked */
	uint32_t first_attr, attr_cnt;
};

struct abbrev_table {
	struct abbrev *v;
	struct attr_spec *attrs;
	size_t cnt, cap, attr_cnt, attr_cap;
	bool dense; /* codes are 1, 2, 3, ... */
};

void abbrev_table_fini(struct abbrev_table *t);

/* Loads the unit's table; only_code other than 0 stops after that entry. */
int abbrev_table_load(struct abbrev_table *t, const struct dwarf_unit *u, uint64_t only_code,
		      struct meter *m);

/* NULL: no such code. */
const struct abbrev *abbrev_table_find(const struct abbrev_table *t, uint64_t code);

/* Moves over all attributes of a DIE. */
void abbrev_skip(const struct abbrev_table *t, const struct abbrev *a, const struct dwarf_unit *u,
		 struct cursor *c);

/* Least recently used tables go first. A table returned may be gone after ABBREV_CACHE - 1 further
 * calls. */
enum { ABBREV_CACHE = 16 };
struct abbrev_cache {
	struct abbrev_cached {
		const struct dwarf_file *file;
		uint64_t off, used;
		uint8_t addr_sz, off_sz, version;
		struct abbrev_table table;
	} slots[ABBREV_CACHE];
	uint64_t clock;
};

/* NULL: see meter_error(). */
const struct abbrev_table *abbrev_cache_get(struct abbrev_cache *c, const struct dwarf_unit *u,
					    struct meter *m);
/* Forget the tables of a file that goes away. */
void abbrev_cache_drop(struct abbrev_cache *c, const struct dwarf_file *f);
void abbrev_cache_fini(struct abbrev_cache *c);

#endif
