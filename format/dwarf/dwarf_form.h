/* SPDX-License-Identifier: BSD-2-Clause */
/* Attribute values (section 7.5): reads all forms and resolves indices and offsets. */
#ifndef FORMAT_DWARF_FORM_H
#define FORMAT_DWARF_FORM_H

#include "format/dwarf/dwarf_unit.h"

enum attr_class {
	ATTR_NONE,
	ATTR_CONST,
	ATTR_ADDR,
	ATTR_ADDR_INDEX,
	ATTR_OFFSET, /* into a section implied by the attribute */
	ATTR_LIST_INDEX,
	ATTR_STRING,	 /* in place */
	ATTR_STR_OFFSET, /* .debug_str */
	ATTR_LINE_STR_OFFSET,
	ATTR_STR_INDEX,
	ATTR_STR_ALT,
	ATTR_REF, /* offset in .debug_info */
	ATTR_REF_ALT,
	ATTR_OTHER,
};

struct attr_value {
	enum attr_class cls;
	uint64_t u;
	const char *str;
};

/* Size of a form in this unit, or -1 when it depends on the value. */
int dwarf_form_size(const struct dwarf_unit *u, unsigned form);

/* Reads one value. `implicit`: value of DW_FORM_implicit_const. An unknown form makes the cursor
 * bad. */
void dwarf_form_read(struct cursor *c, const struct dwarf_unit *u, unsigned form, int64_t implicit,
		     struct attr_value *v);

/* NULL when the value is not a string or cannot be read. */
const char *dwarf_attr_string(const struct dwarf_unit *u, const struct attr_value *v);

/* False when the value is not an address or cannot be read. */
bool dwarf_attr_addr(const struct dwarf_unit *u, const struct attr_value *v, uint64_t *addr);

/* Entry `index` of the unit's part of .debug_addr. */
bool dwarf_addr_index(const struct dwarf_unit *u, uint64_t index, uint64_t *addr);

#endif
