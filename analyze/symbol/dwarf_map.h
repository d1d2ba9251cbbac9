/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which unit an address belongs to, as llvm decides it (DWARFDebugAranges.cpp): .debug_aranges
 * where it speaks of a unit, else the unit DIE's own ranges; where units overlap, the one that goes
 * on, else the first in the file.
 */
#ifndef ANALYZE_SYMBOL_DWARF_MAP_H
#define ANALYZE_SYMBOL_DWARF_MAP_H

#include "analyze/symbol/dwarf_unit.h"

struct unit_range {
	uint64_t lo, hi;
	uint32_t unit; /* index in the file's units */
};

struct unit_map {
	struct unit_range *v; /* ascending, no overlaps */
	size_t cnt, cap;
};

int unit_map_build(struct unit_map *m, const struct dwarf_file *f, struct meter *meter);
void unit_map_fini(struct unit_map *m);

/* NULL: no unit covers the address. */
const struct unit_range *unit_map_find(const struct unit_map *m, uint64_t addr);

/* The first range that ends above the address, or NULL. */
const struct unit_range *unit_map_next(const struct unit_map *m, uint64_t addr);

/* Whether a range that starts at `addr` can be code of this image, and not what a linker discarded.
 */
bool elf_image_has_code(const struct elf_image *e, uint64_t addr);

#endif
