/* SPDX-License-Identifier: BSD-2-Clause */
/* One DIE: what names it, and what it refers to, across units and files. */
#ifndef ANALYZE_SYMBOL_DWARF_DIE_H
#define ANALYZE_SYMBOL_DWARF_DIE_H

#include "analyze/symbol/dwarf_abbrev.h"

struct die {
	const struct dwarf_unit *u;
	uint64_t off;
};

struct call_site {
	uint64_t file, line;
};

struct die_attrs {
	unsigned tag;
	bool has_signature; /* stands for a type of a type unit */
	struct attr_value linkage, name, origin;
	struct call_site site;
};

/* False: damaged, or not afforded. */
bool die_read(struct abbrev_cache *cache, const struct die *d, struct die_attrs *out,
	      struct meter *m);
/* Moves to the DIE that a reference leads to. */
bool die_follow(struct die *d, const struct attr_value *v);

/* Along DW_AT_abstract_origin and DW_AT_specification: the linkage name, else the first name, both
 * may be NULL. */
struct die_name {
	const char *linkage, *name;
	struct die last;	/* where the chain ended: the declaration, when there is one */
	struct die_attrs attrs; /* of that */
};
void die_find_name(struct abbrev_cache *cache, struct die d, struct die_name *out, struct meter *m);

#endif
