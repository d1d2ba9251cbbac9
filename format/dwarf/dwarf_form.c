/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/dwarf/dwarf_form.h"

#include <dwarf.h>

int dwarf_form_size(const struct dwarf_unit *u, unsigned form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sup8:
	case DW_FORM_ref_sig8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return u->addr_sz;
	case DW_FORM_ref_addr: /* an address in DWARF 2 */
		return u->version <= 2 ? u->addr_sz : u->off_sz;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return u->off_sz;
	default:
		return -1;
	}
}

static void skip_block(struct cursor *c, uint64_t sz, struct attr_value *v)
{
	v->cls = ATTR_OTHER;
	cursor_skip(c, sz);
}

/* Reads forms without a fixed size. */
static void read_variable(struct cursor *c, const struct dwarf_unit *u, unsigned form,
			  struct attr_value *v)
{
	switch (form) {
	case DW_FORM_string:
		v->cls = ATTR_STRING;
		v->str = cursor_str(c);
		return;
	case DW_FORM_udata:
		v->cls = ATTR_CONST;
		v->u = cursor_uleb(c);
		return;
	case DW_FORM_sdata:
		v->cls = ATTR_CONST;
		v->u = (uint64_t)cursor_sleb(c);
		return;
	case DW_FORM_ref_udata:
		v->cls = ATTR_REF;
		v->u = u->off + cursor_uleb(c);
		return;
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:
		v->cls = ATTR_STR_INDEX;
		v->u = cursor_uleb(c);
		return;
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index:
		v->cls = ATTR_ADDR_INDEX;
		v->u = cursor_uleb(c);
		return;
	case DW_FORM_rnglistx:
	case DW_FORM_loclistx:
		v->cls = ATTR_LIST_INDEX;
		v->u = cursor_uleb(c);
		return;
	case DW_FORM_exprloc:
	case DW_FORM_block:
		skip_block(c, cursor_uleb(c), v);
		return;
	case DW_FORM_block1:
		skip_block(c, cursor_u8(c), v);
		return;
	case DW_FORM_block2:
		skip_block(c, cursor_u16(c), v);
		return;
	case DW_FORM_block4:
		skip_block(c, cursor_u32(c), v);
		return;
	default:
		cursor_fail(c);
	}
}

static enum attr_class fixed_class(unsigned form)
{
	switch (form) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_flag:
		return ATTR_CONST;
	case DW_FORM_addr:
		return ATTR_ADDR;
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
		return ATTR_ADDR_INDEX;
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
		return ATTR_STR_INDEX;
	case DW_FORM_strp:
		return ATTR_STR_OFFSET;
	case DW_FORM_line_strp:
		return ATTR_LINE_STR_OFFSET;
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return ATTR_STR_ALT;
	case DW_FORM_sec_offset:
		return ATTR_OFFSET;
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_addr:
		return ATTR_REF;
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case DW_FORM_GNU_ref_alt:
		return ATTR_REF_ALT;
	default:
		return ATTR_OTHER;
	}
}

static bool is_unit_relative(unsigned form)
{
	return form == DW_FORM_ref1 || form == DW_FORM_ref2 || form == DW_FORM_ref4 ||
	       form == DW_FORM_ref8;
}

void dwarf_form_read(struct cursor *c, const struct dwarf_unit *u, unsigned form, int64_t implicit,
		     struct attr_value *v)
{
	int sz;

	*v = (struct attr_value){0};
	if (form == DW_FORM_indirect)
		form = (unsigned)cursor_uleb(c);
	sz = dwarf_form_size(u, form);
	if (sz < 0) {
		read_variable(c, u, form, v);
	} else if (sz == 0) { /* implicit_const or flag_present */
		v->cls = ATTR_CONST;
		v->u = form == DW_FORM_implicit_const ? (uint64_t)implicit : 1;
	} else if (sz == 16) {
		skip_block(c, 16, v);
	} else {
		v->cls = fixed_class(form);
		v->u = cursor_uint(c, (unsigned)sz);
		if (is_unit_relative(form))
			v->u += u->off;
	}
}

static const char *string_by_index(const struct dwarf_unit *u, uint64_t index)
{
	const struct dwarf_sections *sec = &u->file->sec;
	struct cursor c;
	uint64_t off;

	if (index > sec->str_offsets.len)
		return NULL;
	c = cursor_at(sec->str_offsets, u->str_offsets_base + index * u->off_sz);
	off = cursor_uint(&c, u->off_sz);
	return c.bad ? NULL : bytes_str(sec->str, off);
}

const char *dwarf_attr_string(const struct dwarf_unit *u, const struct attr_value *v)
{
	switch (v->cls) {
	case ATTR_STRING:
		return v->str;
	case ATTR_STR_OFFSET:
		return bytes_str(u->file->sec.str, v->u);
	case ATTR_LINE_STR_OFFSET:
		return bytes_str(u->file->sec.line_str, v->u);
	case ATTR_STR_INDEX:
		return string_by_index(u, v->u);
	case ATTR_STR_ALT:
		return u->file->alt ? bytes_str(u->file->alt->sec.str, v->u) : NULL;
	default:
		return NULL;
	}
}

bool dwarf_addr_index(const struct dwarf_unit *u, uint64_t index, uint64_t *addr)
{
	const struct dwarf_unit *holder = u->skeleton ? u->skeleton : u;
	struct cursor c;

	if (index > holder->file->sec.addr.len)
		return false;
	c = cursor_at(holder->file->sec.addr, holder->addr_base + index * holder->addr_sz);
	*addr = cursor_uint(&c, holder->addr_sz);
	return !c.bad;
}

bool dwarf_attr_addr(const struct dwarf_unit *u, const struct attr_value *v, uint64_t *addr)
{
	*addr = v->u;
	if (v->cls == ATTR_ADDR_INDEX)
		return dwarf_addr_index(u, v->u, addr);
	return v->cls == ATTR_ADDR;
}
