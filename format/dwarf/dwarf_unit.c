/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/dwarf/dwarf_unit.h"

#include <dwarf.h>

#include "format/dwarf/dwarf_abbrev.h"

/* Reads the unit header of any version (section 7.5.1); GNU's split DWARF 4 uses the normal one. */
static int read_header(struct dwarf_unit *u)
{
	struct cursor c = cursor_at(u->file->sec.info, u->off);
	uint64_t len = cursor_u32(&c);

	u->end = 0;
	u->off_sz = 4;
	if (len == 0xffffffff) {
		u->off_sz = 8;
		len = cursor_u64(&c);
	} else if (len >= 0xfffffff0) {
		return -EBADMSG;
	}
	if (c.bad || len > cursor_left(&c))
		return -EBADMSG;
	c.end = c.p + len;
	u->end = (uint64_t)(c.end - u->file->sec.info.p);
	u->version = cursor_u16(&c);
	if (u->version < 2 || u->version > 5)
		return -EBADMSG;
	u->unit_type = DW_UT_compile;
	if (u->version >= 5) {
		u->unit_type = cursor_u8(&c);
		u->addr_sz = cursor_u8(&c);
		u->abbrev_off = cursor_uint(&c, u->off_sz);
	} else {
		u->abbrev_off = cursor_uint(&c, u->off_sz);
		u->addr_sz = cursor_u8(&c);
	}
	switch (u->unit_type) {
	case DW_UT_compile:
	case DW_UT_partial:
		break;
	case DW_UT_skeleton:
	case DW_UT_split_compile:
		u->id = cursor_u64(&c);
		u->has_id = true;
		break;
	default: /* type units contain no addresses */
		return -EBADMSG;
	}
	u->die_off = (uint64_t)(c.p - u->file->sec.info.p);
	return c.bad || (u->addr_sz != 4 && u->addr_sz != 8) ? -EBADMSG : 0;
}

struct unit_attrs {
	struct attr_value name, comp_dir, dwo_name, low_pc;
};

static void take_attr(struct dwarf_unit *u, struct unit_attrs *a, unsigned name,
		      const struct attr_value *v)
{
	switch (name) {
	case DW_AT_name:
		a->name = *v;
		break;
	case DW_AT_comp_dir:
		a->comp_dir = *v;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		a->dwo_name = *v;
		break;
	case DW_AT_low_pc:
		a->low_pc = *v;
		break;
	case DW_AT_language:
		u->language = v->u > UINT16_MAX ? 0 : (uint16_t)v->u;
		break;
	case DW_AT_stmt_list:
		u->line_off = v->u;
		u->has_line = true;
		break;
	case DW_AT_str_offsets_base:
		u->str_offsets_base = v->u;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		u->addr_base = v->u;
		break;
	case DW_AT_rnglists_base:
		u->rnglists_base = v->u;
		break;
	case DW_AT_GNU_ranges_base:
		u->ranges_base = v->u;
		break;
	case DW_AT_GNU_dwo_id:
		u->id = v->u;
		u->has_id = true;
		break;
	}
}

/* Sets bases that a split unit does not specify: its tables follow the headers in its file (or
 * package contribution). */
static void set_default_bases(struct dwarf_unit *u)
{
	u->str_offsets_base = u->addr_base = u->rnglists_base = u->ranges_base = 0;
	if (u->version < 5)
		return;
	u->str_offsets_base = u->off_sz == 8 ? 16 : 8;
	u->rnglists_base = u->off_sz == 8 ? 20 : 12;
	u->addr_base = u->off_sz == 8 ? 16 : 8;
}

/* Reads the header at u->off and the unit DIE. -EBADMSG: unit not usable; u->end is the offset of
 * the next one, or 0. */
static int load_unit(struct dwarf_unit *u, struct meter *m)
{
	struct abbrev_table t;
	struct unit_attrs a = {0};
	const struct abbrev *ab;
	struct cursor c;
	uint64_t code;
	int err = read_header(u);

	if (err)
		return err;
	set_default_bases(u);
	c = cursor_at(u->file->sec.info, u->die_off);
	code = cursor_uleb(&c);
	err = abbrev_table_load(&t, u, code, m);
	if (err)
		return err;
	ab = abbrev_table_find(&t, code);
	if (!ab) {
		abbrev_table_fini(&t);
		return -EBADMSG;
	}
	for (uint32_t i = 0; i < ab->attr_cnt && !c.bad; i++) {
		const struct attr_spec *s = &t.attrs[ab->first_attr + i];
		struct attr_value v;

		dwarf_form_read(&c, u, s->form, s->implicit, &v);
		if (!c.bad)
			take_attr(u, &a, s->name, &v);
	}
	if (!meter_work(m, 1 + ab->attr_cnt))
		err = -E2BIG;
	abbrev_table_fini(&t);
	/* The bases that indices need are known only now. */
	u->name = dwarf_attr_string(u, &a.name);
	u->comp_dir = dwarf_attr_string(u, &a.comp_dir);
	u->dwo_name = dwarf_attr_string(u, &a.dwo_name);
	if (!dwarf_attr_addr(u, &a.low_pc, &u->low_pc))
		u->low_pc = 0;
	return err;
}

static struct bytes section(struct elf_image *elf, const char *name, bool split, struct meter *m)
{
	char full[32] = "";

	strncat(full, name, sizeof(full) - 5);
	if (split)
		strcat(full, ".dwo");
	return elf_image__debug(elf, full, m);
}

void dwarf_file_init(struct dwarf_file *f, struct elf_image *elf, bool split, struct meter *m)
{
	*f = (struct dwarf_file){.elf = elf};
	f->sec = (struct dwarf_sections){
		.info = section(elf, "info", split, m),
		.abbrev = section(elf, "abbrev", split, m),
		.str = bytes_strings(section(elf, "str", split, m)),
		.str_offsets = section(elf, "str_offsets", split, m),
		.rnglists = section(elf, "rnglists", split, m),
		.line_str = bytes_strings(section(elf, "line_str", false, m)),
	};
	if (split)
		return;
	f->sec.line = section(elf, "line", false, m);
	f->sec.addr = section(elf, "addr", false, m);
	f->sec.ranges = section(elf, "ranges", false, m);
	f->sec.aranges = section(elf, "aranges", false, m);
}

enum { UNITS_MAX = 1 << 20 }; /* more than any linker creates; limits untrusted files */

int dwarf_file_load(struct dwarf_file *f, struct meter *m)
{
	size_t cap = 0;
	uint64_t off = 0;
	int err = 0;

	while (off < f->sec.info.len && f->unit_cnt < UNITS_MAX) {
		struct dwarf_unit u = {.file = f, .off = off};

		if (!meter_work(m, 1)) {
			err = -E2BIG;
			break;
		}
		err = load_unit(&u, m);
		if (u.end <= off) /* no valid length to continue with */
			break;
		off = u.end;
		if (err == -EBADMSG)
			continue;
		if (!err && meter_grow(m, &f->units, &cap, f->unit_cnt + 1, sizeof(*f->units)))
			err = meter_error(m);
		if (err)
			break;
		f->units[f->unit_cnt++] = u;
	}
	if (f->unit_cnt && !meter_over(m)) {
		f->scopes = meter_calloc(m, f->unit_cnt, sizeof(*f->scopes));
		if (!f->scopes)
			err = meter_error(m);
	}
	if (!meter_over(m) && err != -ENOMEM)
		return 0;
	dwarf_file_fini(f);
	return meter_error(m);
}

void dwarf_file_fini(struct dwarf_file *f)
{
	for (size_t i = 0; f->scopes && i < f->unit_cnt; i++)
		dwarf_scopes_free(f->scopes[i]);
	free((void *)f->scopes);
	free(f->units);
	f->scopes = NULL;
	f->units = NULL;
	f->unit_cnt = 0;
}

const struct dwarf_unit *dwarf_file_unit(const struct dwarf_file *f, uint64_t off)
{
	size_t lo = 0, hi = f->unit_cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->units[mid].end <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->unit_cnt && f->units[lo].die_off <= off ? &f->units[lo] : NULL;
}
