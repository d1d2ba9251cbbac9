/* SPDX-License-Identifier: BSD-2-Clause */
/* Abbreviation tables (section 7.5.3), with precomputed data that makes walking DIEs fast, and a
 * small cache of tables per worker. */
#ifndef FORMAT_DWARF_ABBREV_H
#define FORMAT_DWARF_ABBREV_H

#include "format/dwarf/dwarf_form.h"

struct attr_spec {
	uint16_t name, form;
	int8_t sz; /* result of dwarf_form_size() */
	int64_t implicit;
};

struct abbrev {
	uint64_t code;
	uint16_t tag;
	bool children : 1;
	bool scope : 1; /* has children, which may include functions */
	bool has_pc;	/* has DW_AT_low_pc or DW_AT_ranges */
	int fixed_sz;	/* size of all attributes; -1: depends on their values */
	uint32_t first_attr, attr_cnt;
};

struct abbrev_table {
	struct abbrev *v;
	struct attr_spec *attrs;
	size_t cnt, cap, attr_cnt, attr_cap;
	bool dense; /* codes are 1, 2, 3, ... */
};

void abbrev_table_fini(struct abbrev_table *t);

/* Loads the unit's table. only_code not 0: stops after that entry. */
int abbrev_table_load(struct abbrev_table *t, const struct dwarf_unit *u, uint64_t only_code,
		      struct meter *m);

/* NULL: no such code. */
const struct abbrev *abbrev_table_find(const struct abbrev_table *t, uint64_t code);

/* Skips all attributes of a DIE. */
void abbrev_skip(const struct abbrev_table *t, const struct abbrev *a, const struct dwarf_unit *u,
		 struct cursor *c);

/* LRU cache. A returned table may be freed after ABBREV_CACHE - 1 further calls. */
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

/* NULL on failure: see meter_error(). */
const struct abbrev_table *abbrev_cache_get(struct abbrev_cache *c, const struct dwarf_unit *u,
					    struct meter *m);
/* Removes the tables of a file that will be closed. */
void abbrev_cache_drop(struct abbrev_cache *c, const struct dwarf_file *f);
void abbrev_cache_fini(struct abbrev_cache *c);

#endif
