/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DWARF sections of one file, and its compile, partial and skeleton units. All data except scopes
 * is read-only after loading, so that workers can share it. Section numbers in comments refer to
 * the DWARF 5 standard.
 */
#ifndef FORMAT_DWARF_UNIT_H
#define FORMAT_DWARF_UNIT_H

#include "format/dwarf/elf_image.h"

struct dwarf_sections {
	struct bytes info, abbrev, line, str, line_str, str_offsets, addr, ranges, rnglists,
		aranges;
};

struct dwarf_unit {
	const struct dwarf_file *file;
	uint64_t off, die_off, end; /* in .debug_info: header, first DIE, next unit */
	uint64_t abbrev_off;
	uint16_t version;
	uint8_t addr_sz, off_sz; /* off_sz: 4 in 32-bit DWARF, 8 in 64-bit */
	uint8_t unit_type;
	/* attributes of the unit DIE */
	bool has_line, has_id;
	uint16_t language; /* DW_LANG_...; 0: not specified */
	uint64_t line_off, low_pc, id;
	uint64_t str_offsets_base, addr_base, rnglists_base, ranges_base;
	const char *name, *comp_dir, *dwo_name;
	/* of a split unit: resolves its address indices and (before DWARF 5) ranges */
	const struct dwarf_unit *skeleton;
};

struct unit_scopes;

struct dwarf_file {
	struct elf_image *elf;
	struct dwarf_sections sec;
	struct dwarf_unit *units; /* by offset */
	size_t unit_cnt;
	_Atomic(struct unit_scopes *)
		*scopes;	      /* by unit; filled on demand by dwarf_scope.h */
	const struct dwarf_file *alt; /* dwz's common file; NULL: none */
};

/* Finds the sections (".dwo" ones when split) of elf, which must outlive f. */
void dwarf_file_init(struct dwarf_file *f, struct elf_image *elf, bool split, struct meter *m);
/* Reads all unit headers and unit DIEs. */
int dwarf_file_load(struct dwarf_file *f, struct meter *m);
void dwarf_file_fini(struct dwarf_file *f);
void dwarf_scopes_free(struct unit_scopes *s); /* NULL is allowed */

/* The unit that contains an offset of .debug_info, or NULL. */
const struct dwarf_unit *dwarf_file_unit(const struct dwarf_file *f, uint64_t off);

#endif
