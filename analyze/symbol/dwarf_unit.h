/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One file's DWARF sections and the list of its compile, partial and skeleton units. Everything
 * here but scopes is read-only once loaded, so that all workers share it. Section numbers in
 * comments are those of the DWARF 5 standard.
 */
#ifndef ANALYZE_SYMBOL_DWARF_UNIT_H
#define ANALYZE_SYMBOL_DWARF_UNIT_H

#include "analyze/symbol/elf_image.h"

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
	/* of the unit DIE */
	bool has_line, has_id;
	uint16_t language; /* DW_LANG_...; 0: not said */
	uint64_t line_off, low_pc, id;
	uint64_t str_offsets_base, addr_base, rnglists_base, ranges_base;
	const char *name, *comp_dir, *dwo_name;
	/* of a split unit: where its address indices and (before DWARF 5) ranges lead */
	const struct dwarf_unit *skeleton;
};

struct unit_scopes;

struct dwarf_file {
	struct elf_image *elf;
	struct dwarf_sections sec;
	struct dwarf_unit *units; /* by offset */
	size_t unit_cnt;
	_Atomic(struct unit_scopes *)
		*scopes;	      /* by unit; dwarf_scope.h fills in what is asked for */
	const struct dwarf_file *alt; /* dwz's common file; NULL: none */
};

/* Takes the sections (".dwo" ones when split) of elf, which must live as long. */
void dwarf_file_init(struct dwarf_file *f, struct elf_image *elf, bool split, struct meter *m);
/* Reads all unit headers and unit DIEs. */
int dwarf_file_load(struct dwarf_file *f, struct meter *m);
void dwarf_file_fini(struct dwarf_file *f);
void dwarf_scopes_free(struct unit_scopes *s); /* NULL: nothing */

/* The unit that holds an offset of .debug_info, or NULL. */
const struct dwarf_unit *dwarf_file_unit(const struct dwarf_file *f, uint64_t off);

#endif
