/* SPDX-License-Identifier: BSD-2-Clause */
/* Attribute values (section 7.5): reading any form, and what indices and offsets stand for. */
#ifndef ANALYZE_SYMBOL_DWARF_FORM_H
#define ANALYZE_SYMBOL_DWARF_FORM_H

#include "analyze/symbol/dwarf_unit.h"

enum attr_class {
	ATTR_NONE,
	ATTR_CONST,
	ATTR_ADDR,
	ATTR_ADDR_INDEX,
	ATTR_OFFSET, /* into a section the attribute implies */
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

/* Bytes a form takes in this unit, or -1 when that depends on the value. */
int dwarf_form_size(const struct dwarf_unit *u, unsigned form);

/* Reads one value, `implicit` being DW_FORM_implicit_const's. An unknown form makes the cursor bad.
 */
void dwarf_form_read(struct cursor *c, const struct dwarf_unit *u, unsigned form, int64_t implicit,
		     struct attr_value *v);

/* NULL when the value is no string or cannot be had. */
const char *dwarf_attr_string(const struct dwarf_unit *u, const struct attr_value *v);

/* False when the value is no address or cannot be had. */
bool dwarf_attr_addr(const struct dwarf_unit *u, const struct attr_value *v, uint64_t *addr);

/* Entry `index` of the unit's part of .debug_addr. */
bool dwarf_addr_index(const struct dwarf_unit *u, uint64_t index, uint64_t *addr);

#endif
