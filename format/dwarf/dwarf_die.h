/* SPDX-License-Identifier: BSD-2-Clause */
/* One DIE: its name and its references, across units and files. */
#ifndef FORMAT_DWARF_DIE_H
#define FORMAT_DWARF_DIE_H

#include "format/dwarf/dwarf_abbrev.h"

struct die {
	const struct dwarf_unit *u;
	uint64_t off;
};

struct call_site {
	uint64_t file, line;
};

struct die_attrs {
	unsigned tag;
	bool has_signature; /* refers to a type of a type unit */
	struct attr_value linkage, name, origin;
	struct call_site site;
};

/* False: damaged, or over budget. */
bool die_read(struct abbrev_cache *cache, const struct die *d, struct die_attrs *out,
	      struct meter *m);
/* Moves to the DIE that a reference points to. */
bool die_follow(struct die *d, const struct attr_value *v);

/* Follows DW_AT_abstract_origin and DW_AT_specification; finds the first linkage name, or else the
 * first name. Both may be NULL. */
struct die_name {
	const char *linkage, *name;
	struct die last;	/* end of the chain: the declaration, if there is one */
	struct die_attrs attrs; /* of `last` */
};
void die_find_name(struct abbrev_cache *cache, struct die d, struct die_name *out, struct meter *m);

#endif
